// SPDX-License-Identifier: MIT

import CurlewCore

extension ConcurrencyLimit {
    /// A limit that adapts to the number of concurrent exchanges that a server handles without queueing, estimated from
    /// response times: `.concurrencyLimit(.adaptive)`.
    ///
    /// A gradient limit, as in Netflix's concurrency-limits. It is updated after each window of responses. A window has
    /// as many responses as the limit, 8 to 100:
    ///
    ///     gradient = tolerance × base ÷ mean time of the window        kept between 0.5 and 1
    ///     limit    = (limit + limit × gradient + √limit) ÷ 2            kept between least and most
    ///
    /// - `base` is the time of a response without a queue at the server. It is measured at the beginning and again
    ///   every `probeInterval`: until eight responses have arrived, at most `least` exchanges at a time wait for their
    ///   response heads, so that the server's queue drains. Exchanges whose bodies are still being read are not counted
    ///   then, within `most`.
    /// - Times are measured from when the request has its permit to the response head, without the queue of the
    ///   transport. Only requests that were sent after the window began count, since earlier ones ran under another
    ///   limit.
    /// - When a tenth of a window or more is overload (429, 503, lost connections, and timeouts of calls that had
    ///   waited for longer than `tolerance × base`), the limit is multiplied by 0.9. Other errors have no effect.
    /// - The limit does not grow while less than half of it is in use.
    ///
    /// With a server that handles c requests at a time without queueing, the limit settles near
    /// `tolerance × c + √limit`: the server is busy, and requests wait there for about half the time of a response.
    public struct Adaptive: Hashable, Sendable {
        /// The initial limit, once `base` is known. Default 20, as in Netflix's library.
        public var initial: Int
        /// The minimum limit. Default 4.
        public var least: Int
        /// The maximum limit. Default 200, as in Netflix's library.
        public var most: Int
        /// The multiple of `base` that responses may take before the limit shrinks. Default 1.5, as in Netflix's
        /// library.
        public var tolerance: Double
        /// How often `base` is measured again. Default 30 s.
        public var probeInterval: Duration

        /// Creates the rules. Parameters that are omitted have the default values.
        public init(
            initial: Int = 20, least: Int = 4, most: Int = 200, tolerance: Double = 1.5,
            probeInterval: Duration = .seconds(30)
        ) {
            self.initial = initial
            self.least = least
            self.most = most
            self.tolerance = tolerance
            self.probeInterval = probeInterval
        }

        /// A limit between 4 and 200 exchanges.
        public static let adaptive = ConcurrencyLimit.Adaptive()

        /// The first invalid value, in one sentence.
        var problem: String? {
            guard least > 0, least <= initial, initial <= most else {
                return "The adaptive concurrency limit requires 0 < least ≤ initial ≤ most."
            }
            return tolerance >= 1 && tolerance.isFinite && probeInterval > .zero
                ? nil : "The adaptive concurrency limit needs a tolerance of at least 1 and a positive probeInterval."
        }
    }
}

/// The state machine of the limit of one scope. A pure value without I/O.
struct ConcurrencyEstimate: Sendable {
    private struct Window {
        var start = MonotonicInstant(nanoseconds: .min)
        var sum = 0.0
        var successes = 0
        var overloads = 0
        var mostRunning = 0

        var count: Int { successes + overloads }
        var mean: Double? { successes > 0 ? sum / Double(successes) : nil }
    }

    private static let probeSize = 8
    private static let windowSizes = 8...100

    private let rules: ConcurrencyLimit.Adaptive
    private(set) var limit: Double
    /// The time of a response without a queue at the server, in nanoseconds.
    private(set) var base: Double?
    private var window = Window()
    private var isProbing = true
    private var nextProbe = MonotonicInstant(nanoseconds: .max)

    init(_ rules: ConcurrencyLimit.Adaptive) {
        self.rules = rules
        limit = Double(rules.initial)
    }

    /// The number of exchanges that may be in flight now, if none of them has its response head.
    var permits: Int { permits(answered: 0) }

    /// Returns the number of exchanges that may be in flight now.
    ///
    /// - `answered`: how many of the exchanges in flight have their response heads. While `base` is measured they take
    ///   no permit from the others. Otherwise a few long bodies would block the measurement, and every call with it,
    ///   forever.
    func permits(answered: Int) -> Int {
        guard isProbing else { return wholeLimit }
        let (sum, overflow) = rules.least.addingReportingOverflow(answered)
        return overflow ? rules.most : min(sum, rules.most)
    }

    /// `Double(Int.max)` rounds up beyond `Int.max`, hence the exact conversion.
    private var wholeLimit: Int { Int(exactly: limit.rounded(.down)) ?? rules.most }

    /// Records the response head or the failure of an exchange.
    ///
    /// - `running`: the number of exchanges in flight, including this one.
    mutating func add(
        sent: MonotonicInstant, _ outcome: ConcurrencyOutcome, running: Int, at now: MonotonicInstant
    ) {
        guard sent >= window.start else { return }
        switch outcome {
        case .answered(let took):
            window.sum += Double(max(1, took.wholeNanoseconds))
            window.successes += 1
        case .gaveUp(let took):
            guard let base, Double(took.wholeNanoseconds) >= rules.tolerance * base else { return }
            window.overloads += 1
        case .overloaded: window.overloads += 1
        case .unknown: return
        }
        window.mostRunning = max(window.mostRunning, running)
        if isProbing {
            if window.count >= Self.probeSize { endProbe(at: now) }
        } else if window.count >= min(max(wholeLimit, Self.windowSizes.lowerBound), Self.windowSizes.upperBound) {
            endWindow(at: now)
        }
    }

    private mutating func endProbe(at now: MonotonicInstant) {
        guard let mean = window.mean else { return window = Window(start: now) }
        base = mean
        isProbing = false
        nextProbe = now.advanced(by: rules.probeInterval)
        window = Window(start: now)
    }

    private mutating func endWindow(at now: MonotonicInstant) {
        let ended = window
        window = Window(start: now)
        if ended.overloads * 10 >= ended.count {
            limit *= 0.9
        } else if let mean = ended.mean, let base {
            self.base = min(base, mean)
            let gradient = min(1, max(0.5, rules.tolerance * base / mean))
            let next = (limit + limit * gradient + limit.squareRoot()) / 2
            if next < limit || Double(ended.mostRunning) * 2 >= limit { limit = next }
        }
        limit = min(max(limit, Double(rules.least)), Double(rules.most))
        guard nextProbe <= now else { return }
        isProbing = true
        // Requests sent before have waited in the server's queue, and so do requests that are sent immediately.
        let settling = ended.mean.map { Duration.nanoseconds(held: $0) } ?? .zero
        window = Window(start: now.advanced(by: settling))
    }
}

/// A smoothed mean of recent response times and their mean deviation, as TCP computes them (RFC 6298 §2).
struct UsualTime: Sendable {
    private static let least = 10
    private var mean = 0.0
    private var deviation = 0.0
    private var count = 0

    /// The time of a typical call; nil for fewer than ten samples.
    var time: Duration? { count >= Self.least ? .nanoseconds(held: mean + deviation) : nil }

    /// Adds a time. A time of more than twice the usual counts as twice the usual: a single outlier has little effect,
    /// and many of them soon raise the usual time.
    mutating func add(_ took: Duration) {
        let most = count >= Self.least ? 2 * (mean + deviation) : .infinity
        let time = min(Double(max(0, took.wholeNanoseconds)), most)
        if count == 0 {
            mean = time
        } else {
            deviation += (abs(time - mean) - deviation) / 4
            mean += (time - mean) / 8
        }
        count = min(count + 1, Self.least)
    }
}

extension Duration {
    /// A duration of `count` nanoseconds, at most about 292 years.
    fileprivate static func nanoseconds(held count: Double) -> Duration {
        .nanoseconds(Int64(exactly: count.rounded()) ?? .max)
    }
}
