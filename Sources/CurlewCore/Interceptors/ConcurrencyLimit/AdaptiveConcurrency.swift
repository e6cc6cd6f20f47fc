// SPDX-License-Identifier: MIT

/// How many exchanges at a time a server does without a line of its own, learned from the times of its responses:
/// `.concurrencyLimit(.adaptive)`.
///
/// A gradient limit, as in Netflix's concurrency-limits. After each window of responses, as many as the limit, 8 to 100:
///
///     gradient = tolerance × base ÷ mean time of the window        kept between 0.5 and 1
///     limit    = (limit + limit × gradient + √limit) ÷ 2            kept between least and most
///
/// - `base` is the time of a response without a line at the server. It is measured at the beginning and again every
///   `probeInterval`: for eight responses only `least` exchanges at a time wait for their heads, so that what waited
///   is done. Those whose bodies are still being read do not count then, within `most`.
/// - Times run from when the request has its place to the head of the response, without the queue of the transport. Only
///   requests count that were sent after the window began, since earlier ones ran under another limit.
/// - When a tenth of a window or more is overload (429, 503, lost connections, and timeouts of calls that had waited for
///   longer than `tolerance × base`), the limit is multiplied by 0.9.
///   Other errors say nothing.
/// - The limit does not grow while less than half of it is in use.
///
/// With a server of capacity c (places × calls in a time) it settles near `tolerance × c + √limit`, that is: the server is
/// busy, and half a response's time is waited for it.
public struct AdaptiveConcurrency: Hashable, Sendable {
    /// The limit at the beginning, once `base` is known. Default 20, as Netflix.
    public var initial: Int
    /// Never fewer. Default 4.
    public var least: Int
    /// Never more. Default 200, as Netflix.
    public var most: Int
    /// How much longer than `base` responses may take before the limit shrinks. Default 1.5, as Netflix.
    public var tolerance: Double
    /// How often `base` is measured anew. Default 30 s.
    public var probeInterval: Duration

    /// Rules with the defaults where nothing is said.
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

    /// From 4 to 200 at a time.
    public static let adaptive = AdaptiveConcurrency()

    /// What cannot work, in one sentence.
    var problem: String? {
        guard least > 0, least <= initial, initial <= most else {
            return "The adaptive concurrency limit has to have 0 < least ≤ initial ≤ most."
        }
        return tolerance >= 1 && tolerance.isFinite && probeInterval > .zero
            ? nil : "The adaptive concurrency limit needs a tolerance of at least 1 and a positive probeInterval."
    }
}

/// The limit of one scope as a pure state machine. Without I/O.
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

    private let rules: AdaptiveConcurrency
    private(set) var limit: Double
    /// The time of a response without a line at the server, in nanoseconds.
    private(set) var base: Double?
    private var window = Window()
    private var isProbing = true
    private var nextProbe = MonotonicInstant(nanoseconds: .max)

    init(_ rules: AdaptiveConcurrency) {
        self.rules = rules
        limit = Double(rules.initial)
    }

    /// How many may be under way now, if none of them has its head.
    var places: Int { places(answered: 0) }

    /// How many may be under way now.
    ///
    /// - `answered`: how many of those under way have their heads. While `base` is measured they take no place of the
    ///   others: a few long bodies would keep the measurement, and with it every call, waiting for ever.
    func places(answered: Int) -> Int {
        guard isProbing else { return wholeLimit }
        let (sum, overflow) = rules.least.addingReportingOverflow(answered)
        return overflow ? rules.most : min(sum, rules.most)
    }

    /// The nearest `Double` to the greatest `Int` is beyond it.
    private var wholeLimit: Int { Int(exactly: limit.rounded(.down)) ?? rules.most }

    /// The head of an exchange is there, or it failed.
    ///
    /// - `running`: how many were under way with it.
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
        // What was sent before has waited for all the others, and what is sent at once does so too.
        let settling = ended.mean.map { Duration.nanoseconds(held: $0) } ?? .zero
        window = Window(start: now.advanced(by: settling))
    }
}

/// How long the responses of late took: a smoothed mean and the mean deviation from it, as TCP keeps them (RFC 6298 §2).
struct UsualTime: Sendable {
    private static let least = 10
    private var mean = 0.0
    private var deviation = 0.0
    private var count = 0

    /// What a typical call takes; nil for fewer than ten.
    var time: Duration? { count >= Self.least ? .nanoseconds(held: mean + deviation) : nil }

    /// One that takes more than twice as long as usual counts as twice as long: a single one that hangs says little, and
    /// many of them are soon usual.
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
    /// So many nanoseconds, at most about 292 years.
    fileprivate static func nanoseconds(held count: Double) -> Duration {
        .nanoseconds(Int64(exactly: count.rounded()) ?? .max)
    }
}
