// SPDX-License-Identifier: MIT

/// A bucket of tokens that fills at a steady pace: how often something may happen. A pure value, without I/O.
///
/// It is kept as the one moment at which it is full (the generic cell rate algorithm of ITU-T I.371), so it is exact to
/// the nanosecond and never early: in any span of time no more tokens are taken than the burst and those that the span
/// has brought. A pace that does not divide into nanoseconds is rounded down.
public struct TokenBucket: Hashable, Sendable {
    /// The time that one token takes to come.
    public let interval: Duration
    /// How many tokens it holds at most.
    public let burst: Int

    private var full = MonotonicInstant(nanoseconds: .min)
    /// The end of the last pause. What is given back does not shorten it.
    private var pauseEnd = MonotonicInstant(nanoseconds: .min)

    /// A full bucket.
    ///
    /// - `count`, `period`: how many tokens come in which time. At least one in at most a year, and at most a thousand
    ///   million in a second; what lies outside is taken for the nearest.
    /// - `burst`: how many it holds at most, 1 to 1,000,000, and no more than come in 100 years. Default `count`.
    public init(_ count: Int, every period: Duration, burst: Int? = nil) {
        let year: Int64 = 31_536_000_000_000_000
        let (count, period) = (Int64(max(1, count)), min(max(1, period.wholeNanoseconds), year))
        interval = .nanoseconds((period - 1) / count + 1)
        let most = min(1_000_000, max(1, 100 * year / interval.wholeNanoseconds))
        self.burst = min(max(1, burst ?? Int(count)), Int(most))
    }

    /// When the next token can be taken, or the one after `others` more; not before `now`.
    public func availability(at now: MonotonicInstant, after others: Int = 0) -> MonotonicInstant {
        max(now, pauseEnd, max(full, now).advanced(by: interval * (others - burst + 1)))
    }

    /// How many tokens there are.
    public func tokens(at now: MonotonicInstant) -> Int {
        guard pauseEnd <= now else { return 0 }
        guard full > now else { return burst }
        // Rounded up: a token that has not wholly come is none.
        let missing = (now.duration(to: full).wholeNanoseconds - 1) / interval.wholeNanoseconds + 1
        return max(0, burst - Int(clamping: missing))
    }

    /// From when on it is full, and no pause holds it, if no token is taken.
    var whole: MonotonicInstant { max(full, pauseEnd) }

    /// Takes a token if there is one.
    public mutating func take(at now: MonotonicInstant) -> Bool {
        guard availability(at: now) <= now else { return false }
        full = max(full, now).advanced(by: interval)
        return true
    }

    /// Gives a token back that was taken and not used. A pause goes on.
    public mutating func giveBack() {
        full = full.advanced(by: .zero - interval)
    }

    /// No token before `instant`, and just one then: what waited does not leave in one burst.
    public mutating func pause(until instant: MonotonicInstant) {
        pauseEnd = max(pauseEnd, instant)
        full = max(full, instant.advanced(by: interval * (burst - 1)))
    }

    /// No more than `count` tokens from now on, besides those that come.
    public mutating func lower(to count: Int, at now: MonotonicInstant) {
        full = max(full, now.advanced(by: interval * max(0, burst - max(0, count))))
    }
}
