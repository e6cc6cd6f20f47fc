// SPDX-License-Identifier: MIT

package import CurlewCore

/// The buckets and queues of a rate limit, one for each scope in use. Accessed inside the lock.
struct RateBuckets {
    private(set) var known: [LimitScope.Key: RateBucket] = [:]
    private let maximum: Int
    /// The keys of the known buckets. Some of them are checked in turn when a bucket must be removed.
    private var slots: [LimitScope.Key] = []
    private var hand = 0
    private static let checks = 8

    /// Creates an empty collection.
    ///
    /// - `maximum`: the maximum number of buckets that are remembered.
    init(maximum: Int) {
        self.maximum = max(1, maximum)
    }

    subscript(key: LimitScope.Key) -> RateBucket? { known[key] }

    /// Returns the bucket of `key`, creating a full one if there is none.
    mutating func bucket(for key: LimitScope.Key, _ full: TokenBucket, _ waiting: Int, at now: SystemTime.Instant)
        -> RateBucket
    {
        if let bucket = known[key] { return bucket }
        let bucket = RateBucket(full, waiting)
        known[key] = bucket
        if known.count > maximum, let slot = forgettable(at: now) {
            known[slots[slot]] = nil
            slots[slot] = key
        } else {
            slots.append(key)
        }
        return bucket
    }

    /// Returns the index in `slots` of a bucket that can be removed: of eight candidates, the one that is full or will
    /// be full soonest. A bucket with waiting calls is kept, so there may be more buckets than `maximum`, but not more
    /// than waiting calls.
    private mutating func forgettable(at now: SystemTime.Instant) -> Int? {
        var best: (slot: Int, whole: SystemTime.Instant)?
        for _ in 0..<min(Self.checks, slots.count) {
            hand = (hand + 1) % slots.count
            guard let bucket = known[slots[hand]], bucket.isIdle else { continue }
            let whole = bucket.bucket.whole
            if whole <= now { return hand }
            if best.map({ whole < $0.whole }) ?? true { best = (hand, whole) }
        }
        return best?.slot
    }
}

/// The tokens and the waiting calls of one scope. Accessed inside the lock.
final class RateBucket {
    struct Waiter {
        let turn: SharedResult<Void>
        let deadline: SystemTime.Deadline
    }

    var bucket: TokenBucket
    var queue: FairQueue<Waiter>
    /// Whether a task is running that serves the waiting calls.
    var isPumped = false

    init(_ bucket: TokenBucket, _ waiting: Int) {
        self.bucket = bucket
        queue = FairQueue(capacity: waiting)
    }

    var isIdle: Bool { queue.isEmpty && !isPumped }
}

/// A token bucket that refills at a steady pace, as a value without I/O.
///
/// The bucket stores the time at which it is full (the generic cell rate algorithm of ITU-T I.371), so it is exact to
/// the nanosecond and never early: in any span of time, no more tokens are taken than the burst plus those that are
/// added in that time. A pace that does not divide into nanoseconds is rounded down.
package struct TokenBucket: Hashable, Sendable {
    /// The refill interval of one token, at least 1 ns.
    package let interval: Duration
    /// The maximum number of tokens in the bucket.
    package let burst: Int

    private var full = SystemTime.Instant(nanoseconds: .min)
    /// The end of the last pause. Returned tokens do not shorten it.
    private var pauseEnd = SystemTime.Instant(nanoseconds: .min)

    /// Creates a full bucket.
    ///
    /// - `count`, `period`: the number of tokens, at least 1, that are added in a period, which counts as at least 1 ns
    ///   and at most 365 days. The pace is at most one token a nanosecond.
    /// - `burst`: the maximum number of tokens in the bucket, clamped to 1...1,000,000, and to the number that is added
    ///   in 100 years. Default `count`.
    package init(_ count: Int, every period: Duration, burst: Int? = nil) {
        let year: Int64 = 31_536_000_000_000_000
        let (count, period) = (Int64(max(1, count)), min(max(1, period.wholeNanoseconds), year))
        interval = .nanoseconds((period - 1) / count + 1)
        let maximum = min(1_000_000, max(1, 100 * year / interval.wholeNanoseconds))
        self.burst = min(max(1, burst ?? Int(count)), Int(maximum))
    }

    /// Returns the time when a token will be available after `others` more tokens have been taken; not before `now`.
    package func availability(at now: SystemTime.Instant, after others: Int = 0) -> SystemTime.Instant {
        max(now, pauseEnd, max(full, now).advanced(by: interval * (others - burst + 1)))
    }

    /// Returns the number of tokens in the bucket at `now`; zero during a pause.
    package func tokens(at now: SystemTime.Instant) -> Int {
        guard pauseEnd <= now else { return 0 }
        guard full > now else { return burst }
        // Rounded up: a partial token does not count.
        let missing = (now.duration(to: full).wholeNanoseconds - 1) / interval.wholeNanoseconds + 1
        return max(0, burst - Int(clamping: missing))
    }

    /// The time from which the bucket is full and not paused, if no token is taken.
    var whole: SystemTime.Instant { max(full, pauseEnd) }

    /// Takes a token if one is available, and returns whether it did.
    package mutating func take(at now: SystemTime.Instant) -> Bool {
        guard availability(at: now) <= now else { return false }
        full = max(full, now).advanced(by: interval)
        return true
    }

    /// Puts back a token that was taken but not used. Does not shorten a pause.
    package mutating func giveBack() {
        full = full.advanced(by: .zero - interval)
    }

    /// Pauses the bucket: no token is available before `instant`, and one token is available then, so that waiting
    /// calls are not sent in one burst.
    package mutating func pause(until instant: SystemTime.Instant) {
        pauseEnd = max(pauseEnd, instant)
        full = max(full, instant.advanced(by: interval * (burst - 1)))
    }

    /// Reduces the available tokens to at most `count`. Tokens are added as before.
    package mutating func lower(to count: Int, at now: SystemTime.Instant) {
        full = max(full, now.advanced(by: interval * max(0, burst - max(0, count))))
    }
}
