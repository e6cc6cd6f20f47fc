// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCore
import CurlewHTTP
import Synchronization

/// Those who wait for a place at one origin, whichever agent they came to.
///
/// Several agents may serve an origin, each with some of its places. They share one line: whoever has a place free takes
/// the next transfer out of it, so nobody waits while there is a place, and the order is the same as with one agent.
///
/// No wake-up is lost, because each side first says what it has and then looks at the other's: one who waits stands in
/// line and then looks for agents with free places, an agent notes a free place and then looks whether somebody waits.
final class SharedLine: Sendable {
    private let queue: Locked<FairQueue<Transfer>>
    private let waiting = Atomic(0)
    /// The agents that have free places, a bit for each.
    private let free: Atomic<UInt64>
    private let lines: SharedLines

    init(lines: SharedLines, helpers: UInt64) {
        queue = Locked(FairQueue(capacity: lines.capacity))
        free = Atomic(helpers)
        self.lines = lines
    }

    /// How many wait.
    var count: Int { waiting.load(ordering: .sequentiallyConsistent) }

    /// An agent has free places from now on, or has none.
    func note(isFree: Bool, at agent: CurlAgent) {
        if isFree {
            free.bitwiseOr(1 << UInt64(agent.number), ordering: .sequentiallyConsistent)
        } else {
            free.bitwiseAnd(~(1 << UInt64(agent.number)), ordering: .sequentiallyConsistent)
        }
    }

    /// Stands in line. From now on any agent may take `transfer`, which its former one must not touch any more. False
    /// when the line is full.
    func wait(_ transfer: Transfer, at origin: Origin, agent: CurlAgent) -> Bool {
        let priority = transfer.context.options.priority ?? .normal
        let isIn = queue.withLock { queue -> Bool in
            guard let ticket = queue.wait(transfer, priority) else { return false }
            transfer.ticket = ticket
            change(by: 1)
            return true
        }
        guard isIn else { return false }
        let others = free.load(ordering: .sequentiallyConsistent) & ~(1 << UInt64(agent.number))
        if others != 0 { lines.wake(others, for: origin) }
        return true
    }

    /// Whose turn it is, which is `agent`'s now.
    func next(for agent: CurlAgent) -> Transfer? {
        let taken = queue.withLock { queue -> (Transfer, former: CurlAgent)? in
            guard let transfer = queue.next() else { return nil }
            change(by: -1)
            transfer.ticket = nil
            let former = transfer.agent
            if former !== agent {
                transfer.agent = agent
                transfer.taker.store(agent.number, ordering: .releasing)
            }
            return (transfer, former)
        }
        guard let (transfer, former) = taken else { return nil }
        if former !== agent {
            former.forget(transfer)
            agent.adopt(transfer)
        }
        return transfer
    }

    /// Where a transfer is that stood in line.
    enum Place {
        /// It waited, and has left the line.
        case left
        /// It has had its turn at this agent, and may have ended since.
        case begun(CurlAgent)
    }

    /// Takes a transfer out of the line, if it is still there.
    func leave(_ transfer: Transfer) -> Place {
        queue.withLock { queue in
            guard let ticket = transfer.ticket else { return .begun(transfer.agent) }
            transfer.ticket = nil
            queue.leave(ticket)
            change(by: -1)
            return .left
        }
    }

    /// Those who came to `agent`.
    func transfers(of agent: CurlAgent) -> [Transfer] {
        queue.withLock { queue in queue.elements.filter { $0.agent === agent } }
    }

    /// Those of them whose time is over, and the next moment to look. Under the lock, because whoever takes a transfer
    /// out of the line sets its clock.
    func late(of agent: CurlAgent, at now: Int64) -> (late: [Transfer], next: Int64) {
        queue.withLock { queue in
            var late: [Transfer] = []
            var next = Int64.max
            for transfer in queue.elements where transfer.agent === agent {
                let check = transfer.clock.check(at: now)
                if check.expired != nil { late.append(transfer) } else { next = min(next, check.next) }
            }
            return (late, next)
        }
    }

    /// Under the lock, so that nobody finds more in the line than it counts.
    private func change(by change: Int) {
        waiting.add(change, ordering: .sequentiallyConsistent)
        lines.waiting.add(change, ordering: .relaxed)
    }
}

/// The lines of all origins that the agents of one transport have in hand.
final class SharedLines: Sendable {
    /// How many may wait at one origin.
    let capacity: Int
    /// How many wait at all of them.
    var count: Int { waiting.load(ordering: .relaxed) }

    fileprivate let waiting = Atomic(0)

    private let lines = Locked<[Origin: WeakLine]>([:])
    private let agents = Locked<[WeakAgent]>([])
    private let helpers: @Sendable (Origin) -> UInt64

    private struct WeakLine: Sendable {
        weak var line: SharedLine?
    }

    private struct WeakAgent: Sendable {
        weak var agent: CurlAgent?
    }

    /// - `helpers`: the agents that serve an origin, a bit for each; 0 where there is one.
    init(capacity: Int, helpers: @escaping @Sendable (Origin) -> UInt64 = { _ in 0 }) {
        self.capacity = capacity
        self.helpers = helpers
    }

    /// To be called once, before any of them begins.
    func open(for agents: [CurlAgent]) {
        self.agents.withLock { $0 = agents.map { WeakAgent(agent: $0) } }
    }

    func line(for origin: Origin) -> SharedLine {
        lines.withLock { lines in
            if let known = lines[origin]?.line { return known }
            if lines.count >= CurlAgent.originLimit { lines = lines.filter { $0.value.line != nil } }
            let new = SharedLine(lines: self, helpers: helpers(origin))
            lines[origin] = WeakLine(line: new)
            return new
        }
    }

    /// Who took a transfer out of the line of another agent.
    func taker(of transfer: Transfer) -> CurlAgent? {
        let number = transfer.taker.load(ordering: .acquiring)
        return agents.withLock { $0.indices.contains(number) ? $0[number].agent : nil }
    }

    /// Somebody waits for `origin`, and these agents have places.
    fileprivate func wake(_ free: UInt64, for origin: Origin) {
        let agents = agents.withLock { $0 }
        for (number, entry) in agents.enumerated() where free & (1 << UInt64(number)) != 0 {
            entry.agent?.look(at: origin)
        }
    }
}
#endif
