// SPDX-License-Identifier: MIT

/// The outcome of one request at its client.
enum Answer {
    case good
    case status(Int)
    /// No connection.
    case unreachable
    /// Nothing, until the attempt's time was over.
    case timedOut
}

/// How a server is for a while.
enum Condition {
    case well
    /// It does its work at this share of its capacity.
    case slow(Double)
    /// It answers everything with this status at once.
    case failing(Int)
    /// It answers this share of what it gets with 500.
    case flaky(Double)
    /// It takes no connections.
    case refusing
    /// It takes requests and never responds.
    case hanging
}

/// A server that works on one request after the other, with a line of bounded length.
///
/// It does not know who has dropped: work for a client that does not listen any more is done all the same. That is
/// what lets an overload outlive its cause.
struct Server {
    /// Requests in a second; infinite for a server that is never short.
    var capacity = Double.infinity
    /// What takes longer than this to come to its turn is refused with 503 at once.
    var longestLine: Int64 = 4_000_000_000
    /// What a response takes besides its turn.
    var latency: Int64 = 20_000_000
    /// The condition from a moment on, earliest first.
    var conditions: [(from: Int64, condition: Condition)] = []

    private var busyUntil: Int64 = 0
    private var current = 0

    init(capacity: Double = .infinity, conditions: [(from: Int64, condition: Condition)]) {
        self.capacity = capacity
        self.conditions = conditions
    }

    /// The response to a request, and when it comes.
    mutating func receive(at now: Int64, patience: Int64, _ chance: inout Chance) -> (Answer, at: Int64) {
        while current + 1 < conditions.count, conditions[current + 1].from <= now { current += 1 }
        var pace = 1.0
        var answer = Answer.good
        switch conditions.isEmpty ? .well : conditions[current].condition {
        case .well: break
        case .slow(let share): pace = share
        case .failing(let status): return (.status(status), now + latency)
        case .flaky(let share): if chance.unit() < share { answer = .status(500) }
        case .refusing: return (.unreachable, now + 1_000_000)
        case .hanging: return (.timedOut, now + patience)
        }
        let turn = max(now, busyUntil)
        guard turn - now <= longestLine else { return (.status(503), now + latency) }
        busyUntil = turn + Int64(1e9 / (capacity * pace))
        let end = busyUntil + latency
        return end - now > patience ? (.timedOut, now + patience) : (answer, end)
    }
}
