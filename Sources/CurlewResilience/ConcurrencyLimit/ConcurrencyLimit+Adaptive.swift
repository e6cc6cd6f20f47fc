// SPDX-License-Identifier: MIT

import CurlewCore

extension ConcurrencyLimit {
    /// The rules of a limit that adapts to the number of concurrent exchanges that a server handles without queueing,
    /// estimated from response times: `.concurrencyLimit(.adaptive)`.
    ///
    /// The algorithm is a gradient limit, as in Netflix's concurrency-limits. The limit is updated after each window of
    /// responses. A window has as many responses as the limit, but at least 8 and at most 100:
    ///
    ///     gradient = tolerance × base ÷ mean time of the window        kept between 0.5 and 1
    ///     limit    = (limit + limit × gradient + √limit) ÷ 2            kept between least and most
    ///
    /// - `base` is the response time without a queue at the server. It is measured at the beginning and again every
    ///   `probeInterval`: until eight responses have arrived, at most `least` exchanges wait for their response heads
    ///   at the same time, so that the server's queue drains. Exchanges whose bodies are still being read do not count
    ///   in that time, but there are never more than `most` exchanges in total. Between measurements, a window with a
    ///   shorter mean time lowers `base`.
    /// - Times are measured from when the request has its permit to the response head, without the queue of the
    ///   transport. Only requests that were sent after the window began count, because earlier requests ran under
    ///   another limit.
    /// - When a tenth of a window or more is overload, the limit is multiplied by 0.9. Overload is status 429 or 503, a
    ///   connection that was lost after the request may have arrived, and a timeout. A total or attempt timeout counts
    ///   only if the exchange took at least `tolerance × base`. Other errors have no effect.
    /// - The limit does not grow while less than half of it is in use.
    ///
    /// With a server that handles c requests at a time without queueing, the limit settles near
    /// `tolerance × c + √limit`: the server is busy, and requests wait there for about half of the response time.
    public struct Adaptive: Hashable, Sendable {
        /// The initial limit, which applies once `base` is known. Default 20, as in Netflix's library.
        public var initial: Int
        /// The minimum limit. Default 4.
        public var least: Int
        /// The maximum limit. Default 200, as in Netflix's library.
        public var most: Int
        /// The multiple of `base`, at least 1, that responses may take before the limit shrinks. Default 1.5, as in
        /// Netflix's library.
        public var tolerance: Double
        /// The time after which `base` is measured again. Default 30 s.
        public var probeInterval: Duration

        /// Creates rules from the given values and the defaults.
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

        /// The default rules: a limit between 4 and 200 exchanges that starts at 20.
        public static let adaptive = ConcurrencyLimit.Adaptive()

        /// A sentence about the first invalid value; nil if all values are valid.
        var problem: String? {
            guard least > 0, least <= initial, initial <= most else {
                return "The adaptive concurrency limit requires 0 < least ≤ initial ≤ most."
            }
            return tolerance >= 1 && tolerance.isFinite && probeInterval > .zero
                ? nil : "The adaptive concurrency limit needs a tolerance of at least 1 and a positive probeInterval."
        }
    }
}

/// The state machine that estimates the limit of one scope, as a value without I/O.
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
    /// The response time without a queue at the server, in nanoseconds.
    private(set) var base: Double?
    private var window = Window()
    private var isProbing = true
    private var nextProbe = MonotonicInstant(nanoseconds: .max)

    init(_ rules: ConcurrencyLimit.Adaptive) {
        self.rules = rules
        limit = Double(rules.initial)
    }

    /// The number of exchanges that may be in flight now, if none of them has received its response head.
    var permits: Int { permits(responded: 0) }

    /// Returns the number of exchanges that may be in flight now.
    ///
    /// - `responded`: the number of exchanges in flight that have received their response heads. While `base` is
    ///   measured, they take no permit from other exchanges. Otherwise a few long bodies would block the measurement,
    ///   and every call with it, forever.
    func permits(responded: Int) -> Int {
        guard isProbing else { return wholeLimit }
        let (sum, overflow) = rules.least.addingReportingOverflow(responded)
        return overflow ? rules.most : min(sum, rules.most)
    }

    /// The limit, rounded down. `Double(Int.max)` rounds up beyond `Int.max`, hence the exact conversion.
    private var wholeLimit: Int { Int(exactly: limit.rounded(.down)) ?? rules.most }

    /// Records the response head or the failure of an exchange.
    ///
    /// - `running`: the number of exchanges in flight, including this one.
    mutating func add(
        sent: MonotonicInstant, _ outcome: ConcurrencyOutcome, running: Int, at now: MonotonicInstant
    ) {
        guard sent >= window.start else { return }
        switch outcome {
        case .responded(let took):
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
        // Requests that were sent before now have waited in the server's queue, and so will those that are sent
        // immediately.
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

    /// The time of a typical call; nil until there are ten samples.
    var time: Duration? { count >= Self.least ? .nanoseconds(held: mean + deviation) : nil }

    /// Adds a response time. A time of more than twice the usual time counts as twice the usual time: a single outlier
    /// has little effect, and many of them soon raise the usual time.
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
    /// Returns a duration of `count` nanoseconds, at most about 292 years.
    fileprivate static func nanoseconds(held count: Double) -> Duration {
        .nanoseconds(Int64(exactly: count.rounded()) ?? .max)
    }
}
