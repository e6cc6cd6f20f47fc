// SPDX-License-Identifier: MIT

public import CurlewHTTP

extension CallTracer {
    /// The settings of a tracer.
    public struct Options: Sendable {
        /// The rule for traces that a call starts. Default `.always`.
        public var sampler: TraceSampler
        /// The origins that receive the context after a redirect to them. Default none.
        ///
        /// The origin that the app addresses with a call receives `traceparent` and `tracestate`, also after a redirect
        /// from http to https on the default ports of its host. Another origin, to which a server redirects the call,
        /// receives neither: the identifiers are not secret, but `tracestate` may be, and identifiers let that origin
        /// correlate requests.
        public var redirectOrigins: Set<Origin>
        /// Returns the context that a call continues, in preference to `TraceContext.current`, which is used if the
        /// closure is nil, the default, or returns nil. Called once, on the task of the call, unless the request has a
        /// valid `traceparent`. Must return soon.
        public var parent: (@Sendable () -> TraceContext?)?
        /// The secrets to redact, in addition to those that the client and its interceptors declare. Default
        /// `.standard`, which always applies to URLs.
        public var redaction: Redaction
        /// Whether spans of requests have the attribute `user_agent.original`. Default false.
        public var recordsUserAgent: Bool
        /// The methods that `http.request.method` and the names of spans contain. Any other method is `_OTHER` in the
        /// attribute and `HTTP` in names, and is in `http.request.method_original`. Default `standardMethods`.
        public var knownMethods = standardMethods
        /// The maximum number of open calls, and of open requests. Default 2,048, at least 1.
        package var maximumOpen = 2048
        /// Returns 64 random bits for identifiers. Default the random numbers of the system.
        package var random: @Sendable () -> UInt64 = { UInt64.random(in: 0...UInt64.max) }

        /// The methods that OpenTelemetry's conventions know since version 1.38.0: those of RFC 9110, PATCH, and QUERY.
        public static let standardMethods: Set<HTTPMethod> = [
            .connect, .delete, .get, .head, .options, .patch, .post, .put, .query, .trace,
        ]

        /// Creates options. Omitted parameters have the defaults.
        public init(
            sampler: TraceSampler = .always, redirectOrigins: Set<Origin> = [],
            parent: (@Sendable () -> TraceContext?)? = nil, redaction: Redaction = .standard,
            recordsUserAgent: Bool = false
        ) {
            self.sampler = sampler
            self.redirectOrigins = redirectOrigins
            self.parent = parent
            self.redaction = redaction
            self.recordsUserAgent = recordsUserAgent
        }
    }

    /// The counts of a tracer since it was created.
    public struct Statistics: Hashable, Sendable {
        /// The number of spans that ended.
        public var ended: Int
        /// The number of calls and requests that were not exported, because too many were open.
        public var dropped: Int
        /// The number of calls and requests that are open now.
        public var open: Int

        /// Creates statistics, for tests.
        package init(ended: Int = 0, dropped: Int = 0, open: Int = 0) {
            self.ended = ended
            self.dropped = dropped
            self.open = open
        }
    }
}

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
