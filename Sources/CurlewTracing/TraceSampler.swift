// SPDX-License-Identifier: MIT

/// A rule that decides which new traces are recorded.
///
/// A call within a trace follows the decision of its parent. A call without a parent starts a trace, and the sampler
/// decides. Calls that are not recorded create no span, but they are still part of the trace: their requests have a
/// `traceparent` whose flag `sampled` is not set.
public struct TraceSampler: Hashable, Sendable, CustomStringConvertible {
    /// The share of recorded traces, 0 to 1.
    public let ratio: Double
    private let threshold: UInt64

    /// Records every new trace. This is the default.
    public static let always = TraceSampler(ratio: 1)
    /// Records no new trace.
    public static let never = TraceSampler(ratio: 0)

    /// Records this share of the new traces, 0 to 1. Other values are clamped; NaN is 0.
    ///
    /// The last seven bytes of the trace identifier decide, so systems with the same ratio record the same traces.
    public static func ratio(_ ratio: Double) -> TraceSampler { TraceSampler(ratio: ratio) }

    private init(ratio: Double) {
        let ratio = ratio.isNaN ? 0 : min(1, max(0, ratio))
        self.ratio = ratio
        threshold = UInt64((1 - ratio) * Double(UInt64(1) << 56))
    }

    /// Returns whether a new trace with this identifier is recorded.
    public func records(_ trace: TraceContext.TraceID) -> Bool {
        trace.low & (UInt64(1) << 56 - 1) >= threshold
    }

    /// The name of the rule, such as `always` or `ratio 0.1`.
    public var description: String { ratio == 1 ? "always" : ratio == 0 ? "never" : "ratio \(ratio)" }
}
