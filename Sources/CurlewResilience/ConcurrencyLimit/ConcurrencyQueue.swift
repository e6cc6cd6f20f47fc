// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// The permits and the waiting calls of one scope, as a value without I/O.
struct ConcurrencyQueue<Waiter> {
    /// The outcome of an exchange, the time when the exchange got its permit, and the time of the outcome.
    struct Sample: Sendable {
        let sent: MonotonicInstant
        let outcome: ConcurrencyOutcome
        let now: MonotonicInstant
    }

    private struct Entry {
        let waiter: Waiter
        let deadline: Deadline
    }

    private var semaphore: FairSemaphore<Entry>
    private var estimate: ConcurrencyEstimate?
    private var usual = UsualTime()
    /// The number of exchanges in flight that have received their response heads.
    private var responded = 0

    init(permits: Int, capacity: Int, adaptive: ConcurrencyLimit.Adaptive?) {
        estimate = adaptive.map { ConcurrencyEstimate($0) }
        semaphore = FairSemaphore(permits: estimate?.permits ?? permits, capacity: capacity)
    }

    var permits: Int { semaphore.permits }
    var running: Int { semaphore.running }
    var waiting: Int { semaphore.count }
    var isIdle: Bool { semaphore.isIdle }

    /// Takes a permit if one is free and no call waits for it. Returns whether it did.
    mutating func acquire() -> Bool { semaphore.acquire() }

    /// Adds a call to the queue. Returns its ticket, or nil if the queue is full.
    mutating func wait(_ waiter: Waiter, until deadline: Deadline, _ priority: RequestOptions.Priority) -> UInt64? {
        semaphore.wait(Entry(waiter: waiter, deadline: deadline), priority)
    }

    /// Removes a call from the queue. Returns false if its turn has already come.
    mutating func leave(_ ticket: UInt64) -> Bool { semaphore.leave(ticket) }

    /// Records the response head of an exchange whose permit is kept until `finishBody`. Returns the same as `finish`.
    mutating func receiveHead(_ sample: Sample) -> (going: [Waiter], late: [(waiter: Waiter, left: Duration)]) {
        learn(sample)
        responded += 1
        return give(at: sample.now)
    }

    /// Releases the permit of an exchange that was recorded with `receiveHead`. Returns the same as `finish`.
    mutating func finishBody(at now: MonotonicInstant) -> (going: [Waiter], late: [(waiter: Waiter, left: Duration)]) {
        responded -= 1
        semaphore.finish()
        return give(at: now)
    }

    /// Releases the permit of an exchange that was not recorded with `receiveHead`. Returns two lists of waiting calls:
    /// those whose turn it is, and those that lose their turn because they have less time left than a typical call
    /// takes, each with the time that it has left.
    ///
    /// - `sample`: the outcome of the exchange; nil if it was not sent.
    mutating func finish(_ sample: Sample?) -> (going: [Waiter], late: [(waiter: Waiter, left: Duration)]) {
        if let sample { learn(sample) }
        semaphore.finish()
        return give(at: sample?.now)
    }

    /// Passes the free permits to waiting calls.
    ///
    /// - `now`: the time that decides which calls lose their turn; nil if none does.
    private mutating func give(
        at now: MonotonicInstant?
    ) -> (going: [Waiter], late: [(waiter: Waiter, left: Duration)]) {
        if let estimate { semaphore.permits = estimate.permits(responded: responded) }
        guard semaphore.isDue else { return ([], []) }
        var (going, late): ([Waiter], [(waiter: Waiter, left: Duration)]) = ([], [])
        while let next = semaphore.next() {
            if let now, let usual = usual.time, let left = next.deadline.remaining(at: now), left < usual {
                late.append((next.waiter, left))
                semaphore.finish()
            } else {
                going.append(next.waiter)
            }
        }
        return (going, late)
    }

    private mutating func learn(_ sample: Sample) {
        switch sample.outcome {
        case .responded(let time): usual.add(time)
        case .gaveUp(let time):
            // If timeouts did not count, only calls that had enough time would, and the usual time would be too short.
            if let typical = usual.time, time >= typical { usual.add(time) }
        case .overloaded, .unknown: break
        }
        estimate?.add(sent: sample.sent, sample.outcome, running: semaphore.running, at: sample.now)
    }

    /// The time of a typical call; nil until ten are known.
    var usualTime: Duration? { usual.time }
}

/// The outcome of an exchange, as a concurrency limit counts it.
enum ConcurrencyOutcome: Hashable, Sendable {
    /// The response head arrived after this duration.
    case responded(Duration)
    /// The server is overloaded: status 429 or 503, a connection lost after the request may have arrived, or a timeout
    /// other than `gaveUp`.
    case overloaded
    /// No response arrived in this duration before a total or attempt timeout. Counts only if it is longer than
    /// expected.
    case gaveUp(Duration)
    /// The outcome says nothing about the load of the server.
    case unknown

    init(_ response: borrowing HTTPResponse, after took: Duration) {
        let isOverload = response.status == .tooManyRequests || response.status == .serviceUnavailable
        self = isOverload ? .overloaded : .responded(max(.zero, took))
    }

    init(_ error: NetworkError, after took: Duration) {
        switch error.reason {
        case .timedOut(.queue): self = .unknown
        case .timedOut(.total), .timedOut(.attempt): self = .gaveUp(took)
        case .timedOut, .connectionLost(.requestMayHaveArrived): self = .overloaded
        default: self = .unknown
        }
    }
}
