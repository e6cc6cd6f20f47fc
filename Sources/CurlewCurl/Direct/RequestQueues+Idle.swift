// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCore
import CurlewHTTP

/// The idle connections of the transport itself, for each origin and event loop.
extension RequestQueues {
    /// Takes the most recently used idle connection for a transfer that has a slot, and makes it the connection of the
    /// transfer, which has none if there is no idle one.
    @discardableResult
    func takeIdle(for transfer: Transfer) -> DirectConnection? {
        state.withLock { state in
            guard case .active(let index) = transfer.phase else { return nil }
            takeIdle(transfer, index, &state)
            return transfer.direct.connection
        }
    }

    /// Returns the connection that a transfer uses. For transfers that the thread of their caller may still change.
    func connection(of transfer: Transfer) -> DirectConnection? { state.withLock { _ in transfer.direct.connection } }

    func forgetConnection(of transfer: Transfer) { state.withLock { _ in transfer.direct.connection = nil } }

    func takeIdle(_ transfer: Transfer, _ index: Int, _ state: inout State) {
        transfer.direct.connection = nil
        guard let queue = transfer.queue, !queue.idle[index].isEmpty else { return }
        let now = TimeoutTracker.now()
        while let last = queue.idle[index].popLast() {
            state.idle[queue.loops[index]] -= 1
            guard now - last.idleSince >= idleLifetime || now - last.opened >= lifetime else {
                transfer.direct.connection = last
                return
            }
            last.abandon()
        }
    }

    /// Adds an idle connection. Ends the least recently used one if there are too many.
    func keep(_ connection: DirectConnection, _ state: inout State) {
        let (queue, index) = (connection.queue, connection.index)
        let loop = queue.loops[index]
        connection.idleSince = TimeoutTracker.now()
        guard connection.idleSince - connection.opened < lifetime, !queue.isRemoved else {
            return connection.abandon()
        }
        queue.idle[index].append(connection)
        state.idle[loop] += 1
        let isFull = queue.used[index] + queue.idle[index].count > queue.connections[index]
        if isFull { takeOldest(of: queue, index, &state)?.abandon() }
    }

    func takeOldest(of queue: RequestQueue, _ index: Int, _ state: inout State) -> DirectConnection? {
        guard !queue.idle[index].isEmpty else { return nil }
        state.idle[queue.loops[index]] -= 1
        return queue.idle[index].removeFirst()
    }

    private static let surplusTime: Int64 = 1_000_000_000

    /// Returns where the least recently used idle connection of a loop is, and since when it is idle.
    private func oldest(at loop: Int, _ state: State) -> (queue: RequestQueue, index: Int, since: Int64)? {
        guard state.idle[loop] > 0 else { return nil }
        let candidates = state.queues.values.compactMap { queue in
            queue.loops.firstIndex(of: loop).flatMap { index in
                queue.idle[index].first.map { (queue: queue, index: index, since: $0.idleSince) }
            }
        }
        return candidates.min { $0.since < $1.since }
    }

    func takeIdle(of queue: RequestQueue, _ index: Int, _ state: inout State) -> [DirectConnection] {
        defer {
            state.idle[queue.loops[index]] -= queue.idle[index].count
            queue.idle[index] = []
        }
        return queue.idle[index]
    }

    /// Takes the least recently used idle connection of a loop.
    func takeOldestIdle(at loop: Int) -> DirectConnection? {
        state.withLock { state in
            oldest(at: loop, state).flatMap { takeOldest(of: $0.queue, $0.index, &state) }
        }
    }

    /// Removes an idle connection from its list. Returns false if it is in none.
    func removeIdle(_ connection: DirectConnection) -> Bool {
        state.withLock { state in
            let (queue, index) = (connection.queue, connection.index)
            guard let position = queue.idle[index].firstIndex(where: { $0 === connection }) else { return false }
            queue.idle[index].remove(at: position)
            state.idle[queue.loops[index]] -= 1
            return true
        }
    }

    /// Takes the idle connections of a loop.
    func takeIdle(at loop: Int) -> [DirectConnection] {
        state.withLock { takeIdle(at: loop, &$0) }
    }

    private func takeIdle(at loop: Int, _ state: inout State) -> [DirectConnection] {
        state.queues.values.flatMap { queue in
            queue.loops.firstIndex(of: loop).map { takeIdle(of: queue, $0, &state) } ?? []
        }
    }

    /// Takes the idle connections of a loop that have expired, and of those above the limit the ones that are idle for
    /// a second: between two exchanges, a connection is idle for a moment. Returns them and the time of the next check.
    func takeExpired(at loop: Int, _ now: Int64) -> (expired: [DirectConnection], next: Int64) {
        state.withLock { state in
            var expired: [DirectConnection] = []
            while state.idle[loop] > 0 {
                let time = state.idle[loop] > idle ? min(Self.surplusTime, idleLifetime) : idleLifetime
                guard let (queue, index, since) = oldest(at: loop, state) else { break }
                guard now - since >= time else { return (expired, since + time) }
                if let connection = takeOldest(of: queue, index, &state) { expired.append(connection) }
            }
            return (expired, .max)
        }
    }

    /// Closes the idle connections of a loop that is about to end. Returns false if an exchange has begun.
    func closeIdle(at loop: Int, _ connections: DirectConnections?) -> Bool {
        let idle = state.withLock { state -> [DirectConnection]? in
            state.loads[loop].exchanges == 0 ? takeIdle(at: loop, &state) : nil
        }
        guard let idle else { return false }
        idle.forEach { connections?.disconnect($0) }
        return true
    }
}
#endif
