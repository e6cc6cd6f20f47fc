// SPDX-License-Identifier: MIT

import CurlewCore

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
            let whole = bucket.whole
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
    /// The number of calls that wait until the server's quota of a resource is renewed.
    var pausing = 0
    /// The quotas of the server's resources; nil if its responses name none.
    var resources: RateResources?

    init(_ bucket: TokenBucket, _ waiting: Int) {
        self.bucket = bucket
        queue = FairQueue(capacity: waiting)
    }

    /// Whether no call waits.
    var isIdle: Bool { queue.isEmpty && !isPumped && pausing == 0 }

    /// The time after which the bucket may be removed, because it is full and nothing is paused.
    var whole: SystemTime.Instant { max(bucket.whole, resources?.lastEnd ?? bucket.whole) }
}

/// The resources of a server: which routes draw on which quota, and which quotas are exhausted.
struct RateResources {
    private static let maximumRoutes = 256
    private static let maximumResources = 16

    private var resources: [String: String] = [:]
    private var ends: [String: SystemTime.Instant] = [:]

    /// The end of the pause that ends last; nil if there is no pause.
    var lastEnd: SystemTime.Instant? { ends.values.max() }

    /// Returns the resource that a route draws on and the end of its pause; nil if the resource is not paused now.
    func pause(of route: String, at now: SystemTime.Instant) -> (resource: String, end: SystemTime.Instant)? {
        guard let resource = resources[route], let end = ends[resource], end > now else { return nil }
        return (resource, end)
    }

    mutating func learn(_ resource: String, of route: String) {
        if resources.count >= Self.maximumRoutes, resources[route] == nil, let any = resources.keys.first {
            resources[any] = nil
        }
        resources[route] = resource
    }

    mutating func pause(_ resource: String, until end: SystemTime.Instant) {
        if ends.count >= Self.maximumResources, ends[resource] == nil,
            let soonest = ends.min(by: { $0.value < $1.value })
        {
            ends[soonest.key] = nil
        }
        ends[resource] = max(end, ends[resource] ?? end)
    }
}
