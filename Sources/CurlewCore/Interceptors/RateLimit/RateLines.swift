// SPDX-License-Identifier: MIT

/// The lines of a rate limit, one for each scope in use. Inside the lock.
struct RateLines {
    private(set) var lines: [LimitScope.Key: RateLine] = [:]
    private let most: Int
    /// The keys, in places that are looked at in turn for one to forget.
    private var places: [LimitScope.Key] = []
    private var hand = 0
    private static let looks = 8

    /// - `most`: how many are remembered.
    init(most: Int) {
        self.most = max(1, most)
    }

    subscript(key: LimitScope.Key) -> RateLine? { lines[key] }

    /// The line of `key`, a new one if there was none.
    mutating func line(for key: LimitScope.Key, _ bucket: TokenBucket, _ waiting: Int, at now: MonotonicInstant)
        -> RateLine
    {
        if let line = lines[key] { return line }
        let line = RateLine(bucket, waiting)
        lines[key] = line
        if lines.count > most, let place = forgettable(at: now) {
            lines[places[place]] = nil
            places[place] = key
        } else {
            places.append(key)
        }
        return line
    }

    /// The place of a line that can be forgotten: of eight, the one whose bucket is full or will be soonest. A line in which
    /// somebody waits is kept, so there may be more lines than remembered, but not more than calls.
    private mutating func forgettable(at now: MonotonicInstant) -> Int? {
        var best: (place: Int, whole: MonotonicInstant)?
        for _ in 0..<min(Self.looks, places.count) {
            hand = (hand + 1) % places.count
            guard let line = lines[places[hand]], line.isIdle else { continue }
            let whole = line.whole
            if whole <= now { return hand }
            if best.map({ whole < $0.whole }) ?? true { best = (hand, whole) }
        }
        return best?.place
    }
}

/// The tokens of one scope, and who waits for them. Inside the lock.
final class RateLine {
    struct Waiter {
        let turn: OneShot<Void>
        let deadline: Deadline
    }

    var bucket: TokenBucket
    var queue: FairQueue<Waiter>
    /// A task is awake for those who wait.
    var isPumped = false
    /// How many wait for the quota of a resource.
    var pausing = 0
    /// What the server says of its resources, if it names any.
    var resources: RateResources?

    init(_ bucket: TokenBucket, _ waiting: Int) {
        self.bucket = bucket
        queue = FairQueue(capacity: waiting)
    }

    /// No call waits.
    var isIdle: Bool { queue.isEmpty && !isPumped && pausing == 0 }

    /// From when on forgetting it changes nothing.
    var whole: MonotonicInstant { max(bucket.whole, resources?.lastEnd ?? bucket.whole) }
}

/// Which routes draw on which of a server's quotas, and which of those are used up.
struct RateResources {
    private static let mostRoutes = 256
    private static let mostResources = 16

    private var resources: [String: String] = [:]
    private var ends: [String: MonotonicInstant] = [:]

    /// When the last of the pauses ends.
    var lastEnd: MonotonicInstant? { ends.values.max() }

    /// The resource of a route that is used up until a moment after `now`.
    func pause(of route: String, at now: MonotonicInstant) -> (resource: String, end: MonotonicInstant)? {
        guard let resource = resources[route], let end = ends[resource], end > now else { return nil }
        return (resource, end)
    }

    mutating func learn(_ resource: String, of route: String) {
        if resources.count >= Self.mostRoutes, resources[route] == nil, let any = resources.keys.first {
            resources[any] = nil
        }
        resources[route] = resource
    }

    mutating func pause(_ resource: String, until end: MonotonicInstant) {
        if ends.count >= Self.mostResources, ends[resource] == nil,
            let soonest = ends.min(by: { $0.value < $1.value })
        {
            ends[soonest.key] = nil
        }
        ends[resource] = max(end, ends[resource] ?? end)
    }
}
