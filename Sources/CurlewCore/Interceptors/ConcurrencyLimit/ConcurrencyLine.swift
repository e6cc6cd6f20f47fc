// SPDX-License-Identifier: MIT

import CurlewHTTP

/// The places of one scope, and who waits for them, as a value without I/O.
struct ConcurrencyLine<Waiter> {
    /// How an exchange went.
    struct Sample: Sendable {
        let sent: MonotonicInstant
        let outcome: ConcurrencyOutcome
        let now: MonotonicInstant
    }

    private struct Entry {
        let waiter: Waiter
        let deadline: Deadline
    }

    private var line: WaitingLine<Entry>
    private var estimate: ConcurrencyEstimate?
    private var usual = UsualTime()
    /// How many of those under way have their heads.
    private var answered = 0

    init(places: Int, capacity: Int, adaptive: AdaptiveConcurrency?) {
        estimate = adaptive.map { ConcurrencyEstimate($0) }
        line = WaitingLine(places: estimate?.places ?? places, capacity: capacity)
    }

    var places: Int { line.places }
    var running: Int { line.running }
    var waiting: Int { line.count }
    var isIdle: Bool { line.isIdle }

    /// Takes a slot, if there is one and no call waits for it.
    mutating func enter() -> Bool { line.enter() }

    /// Waits in the queue; nil when it is full.
    mutating func wait(_ waiter: Waiter, until deadline: Deadline, _ priority: RequestPriority) -> UInt64? {
        line.wait(Entry(waiter: waiter, deadline: deadline), priority)
    }

    /// Leaves the line; false when one's turn has come.
    mutating func leave(_ ticket: UInt64) -> Bool { line.leave(ticket) }

    /// The head of an exchange is there, whose place is kept until `finishBody`. Gives the same as `finish`.
    mutating func answer(_ sample: Sample) -> (going: [Waiter], late: [(waiter: Waiter, left: Duration)]) {
        learn(sample)
        answered += 1
        return give(at: sample.now)
    }

    /// Gives the place of an exchange back that was answered. Gives the same as `finish`.
    mutating func finishBody(at now: MonotonicInstant) -> (going: [Waiter], late: [(waiter: Waiter, left: Duration)]) {
        answered -= 1
        line.finish()
        return give(at: now)
    }

    /// Gives the place of an exchange back that was not answered before. Gives those whose turn it is, and those who
    /// have less time left than a typical call takes and lose theirs, with what they have left.
    ///
    /// - `sample`: how the exchange went; nil if there was none.
    mutating func finish(_ sample: Sample?) -> (going: [Waiter], late: [(waiter: Waiter, left: Duration)]) {
        if let sample { learn(sample) }
        line.finish()
        return give(at: sample?.now)
    }

    /// Gives the free places away.
    ///
    /// - `now`: nil if no call loses its turn.
    private mutating func give(
        at now: MonotonicInstant?
    ) -> (going: [Waiter], late: [(waiter: Waiter, left: Duration)]) {
        if let estimate { line.places = estimate.places(answered: answered) }
        guard line.isDue else { return ([], []) }
        var (going, late): ([Waiter], [(waiter: Waiter, left: Duration)]) = ([], [])
        while let next = line.next() {
            if let now, let usual = usual.time, let left = next.deadline.remaining(at: now), left < usual {
                late.append((next.waiter, left))
                line.finish()
            } else {
                going.append(next.waiter)
            }
        }
        return (going, late)
    }

    private mutating func learn(_ sample: Sample) {
        switch sample.outcome {
        case .answered(let time): usual.add(time)
        case .gaveUp(let time):
            // Else only those would count that had time enough, and the usual time would be that of the lucky ones.
            if let typical = usual.time, time >= typical { usual.add(time) }
        case .overloaded, .unknown: break
        }
        estimate?.add(sent: sample.sent, sample.outcome, running: line.running, at: sample.now)
    }

    /// What a typical call takes, if that is known.
    var usualTime: Duration? { usual.time }
}

/// What a limit learns from an exchange.
enum ConcurrencyOutcome: Hashable, Sendable {
    /// The head of the response came after this time.
    case answered(Duration)
    /// The server has too much to do.
    case overloaded
    /// There was no response in this time. That says something if it is longer than it should be.
    case gaveUp(Duration)
    /// Nothing.
    case unknown

    init(_ response: borrowing HTTPResponse, after took: Duration) {
        let isOverload = response.status == .tooManyRequests || response.status == .serviceUnavailable
        self = isOverload ? .overloaded : .answered(max(.zero, took))
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
