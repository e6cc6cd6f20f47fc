// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCore
import CurlewHTTP
import Synchronization

/// The requests to one origin: how many are under way, and which wait.
///
/// `@unchecked Sendable` holds because everything but the constants and `spoken` is touched under the lock of
/// `RequestQueues` only.
final class RequestQueue: @unchecked Sendable {
    let origin: Origin
    /// The event loops that serve the origin, the first choice first.
    fileprivate let loops: [Int]
    /// How many connections each of them may have to it.
    fileprivate let connections: [Int]
    /// The exchanges that each of them performs.
    fileprivate var used: [Int]
    fileprivate var waiting: FairQueue<Transfer>
    fileprivate var sharesConnections: Bool
    /// The version of the latest response, 0 for none: 1 or 2. Written under the lock.
    fileprivate let spoken = Atomic<UInt8>(0)

    fileprivate init(_ origin: Origin, loops: [Int], connections: [Int], capacity: Int, sharesConnections: Bool) {
        self.origin = origin
        self.loops = loops
        self.connections = connections
        self.sharesConnections = sharesConnections
        used = Array(repeating: 0, count: loops.count)
        waiting = FairQueue(capacity: capacity)
    }

    /// What a response says about its origin.
    enum News {
        case none
        /// Its version is that of the first response, or another one than before.
        case first, changed
    }

    fileprivate var isIdle: Bool { waiting.isEmpty && used.allSatisfy { $0 == 0 } }
}

/// Which requests may begin, and which wait: the limits of `ConnectionPool`, for all event loops of one transport.
///
/// A request that finds a free slot begins at once; any other waits here and belongs to no loop. When an exchange ends,
/// the loop that performed it gives the slot to the next request in the queue and performs that one too. So a transfer
/// stays with one loop, no request waits while there is a slot for it, and the thread that takes a request out of
/// its queue, under the one lock, decides what becomes of it.
///
/// libcurl has a queue of its own for what exceeds its limits, but walks all of it at each end of a transfer, knows no
/// priority, and several of its versions forgot entries; so it never gets more than it can take.
final class RequestQueues: Sendable {
    /// Over HTTP/2 so many exchanges count as one connection, the servers' usual number. libcurl, which knows what the server
    /// allows, holds back the rest.
    private static let connection = 100
    /// Origins that are remembered although nothing happens there.
    private static let originLimit = 1024

    /// What became of a request.
    enum Entry {
        /// It has a slot, at this event loop.
        case begins(Int)
        /// It waits. With a moment, a loop has to look by then which of those who wait are late.
        case waits(lookBy: Int64?)
        case refused(NetworkError)
    }

    private struct State {
        var queues: [Origin: RequestQueue] = [:]
        /// The latest one: most requests go where the one before went, which spares hashing the origin.
        var latest: RequestQueue?
        /// Those with requests that wait, in the order of their turns, where the number of all connections is limited.
        var turns: [RequestQueue] = []
        /// Exchanges, and connections in use, at each event loop.
        var loads: [(exchanges: Int, connections: Int)]
        var waiting = 0
        /// The moment by which a loop looks for requests that have waited for too long.
        var nextLook = Int64.max
        var isStopped = false
    }

    private let configuration: TransportConfiguration
    /// How many event loops serve one origin, without and with TLS.
    private let plain, secure: Int
    /// The connections that each loop may have to all origins.
    private let total: Int
    private let proxies: ProxyRules
    private let state: Locked<State>

    init(configuration: TransportConfiguration, proxies: ProxyRules, loops: Int) {
        self.configuration = configuration
        self.proxies = proxies
        total = configuration.pool.total.map { max(1, $0 / loops) } ?? .max
        let most = min(loops, max(1, configuration.pool.perHost))
        secure = min(most, configuration.eventLoopsPerSecureOrigin)
        plain = configuration.httpVersions == .http2PriorKnowledge ? secure : most
        state = Locked(State(loads: Array(repeating: (0, 0), count: loops)))
    }

    /// How many wait, with all origins.
    var count: Int { state.withLock { $0.waiting } }

    /// A request asks for a slot. Called once for each.
    func enter(_ transfer: Transfer) -> Entry {
        let target = connectionTarget(of: transfer.request.origin)
        return state.withLock { state in
            if state.isStopped { return .refused(EventLoop.shutdownError) }
            if transfer.isCancelled { return .refused(NetworkError(.cancelled)) }
            let queue = queue(for: target, &state)
            transfer.queue = queue
            if queue.waiting.isEmpty, let place = bestPlace(in: queue, state), take(transfer, place, &state) {
                return .begins(queue.loops[place])
            }
            guard let ticket = queue.waiting.wait(transfer, transfer.context.options.priority ?? .normal) else {
                return .refused(overload(queue, transfer))
            }
            transfer.phase = .waiting(ticket: ticket)
            state.waiting += 1
            if total != .max, queue.waiting.count == 1 { state.turns.append(queue) }
            let end = transfer.clock.check(at: transfer.clock.lastActivity).next
            guard end < state.nextLook else { return .waits(lookBy: nil) }
            state.nextLook = end
            return .waits(lookBy: end)
        }
    }

    /// Gives back the slot of an exchange. The requests that begin now, at the same event loop: over HTTP/2 one end may make
    /// room for many.
    func leave(_ transfer: Transfer) -> [Transfer] {
        state.withLock { state in
            guard let queue = transfer.queue, case .active(let place) = transfer.phase else { return [] }
            transfer.phase = .over
            let loop = queue.loops[place]
            change(queue, place, by: -1, &state)
            state.loads[loop].exchanges -= 1
            var all: [Transfer] = []
            while let transfer = next(queue, at: loop, &state) { all.append(transfer) }
            return all
        }
    }

    /// A further request that begins at this event loop, after the number of slots has grown.
    func next(_ queue: RequestQueue, at loop: Int) -> Transfer? {
        state.withLock { next(queue, at: loop, &$0) }
    }

    /// A response has come: its version tells whether exchanges share the connections of the origin.
    func note(_ version: HTTPVersion, at queue: RequestQueue) -> RequestQueue.News {
        let number: UInt8 = version == .http2 ? 2 : 1
        // Mostly nothing is new, and nothing to be locked.
        if queue.spoken.load(ordering: .relaxed) == number { return .none }
        return state.withLock { state in
            let before = queue.spoken.exchange(number, ordering: .relaxed)
            guard before != number else { return .none }
            let news = before == 0 ? RequestQueue.News.first : .changed
            let sharesConnections = version == .http2
            guard configuration.canShare, queue.sharesConnections != sharesConnections else { return news }
            let former = queue.loops.indices.map { connections(queue, $0, queue.used[$0]) }
            queue.sharesConnections = sharesConnections
            for place in queue.loops.indices {
                let now = connections(queue, place, queue.used[place])
                state.loads[queue.loops[place]].connections += now - former[place]
            }
            return news
        }
    }

    /// Where a request is that its caller cancels.
    enum Whereabouts {
        /// It waited, and has left the queue.
        case left
        /// This event loop has it, or had it.
        case at(Int)
        /// It has not asked for a slot, or is over.
        case nowhere
    }

    /// Takes a request out of its queue, if it waits.
    func cancel(_ transfer: Transfer) -> Whereabouts {
        state.withLock { state in
            switch transfer.phase {
            case .new, .over: return .nowhere
            case .active(let place): return transfer.queue.map { .at($0.loops[place]) } ?? .nowhere
            case .waiting(let ticket):
                remove(transfer, ticket, &state)
                return .left
            }
        }
    }

    /// Takes out those whose time is over; and the next moment to look.
    func takeLate(at now: Int64) -> (late: [Transfer], next: Int64) {
        state.withLock { state in
            state.nextLook = .max
            var late: [Transfer] = []
            guard state.waiting > 0 else { return (late, .max) }
            for queue in state.queues.values {
                for transfer in queue.waiting.elements {
                    let check = transfer.clock.check(at: now)
                    if check.expired != nil {
                        late.append(transfer)
                    } else {
                        state.nextLook = min(state.nextLook, check.next)
                    }
                }
            }
            for transfer in late {
                if case .waiting(let ticket) = transfer.phase { remove(transfer, ticket, &state) }
            }
            return (late, state.nextLook)
        }
    }

    /// The look that was asked for could not be arranged: the next request that waits asks for it again.
    func forgetLook() {
        state.withLock { $0.nextLook = .max }
    }

    /// Refuses requests from now on.
    func stop() {
        state.withLock { $0.isStopped = true }
    }

    /// Takes out all that wait.
    func takeAll() -> [Transfer] {
        state.withLock { state in
            let all = state.queues.values.flatMap { Array($0.waiting.elements) }
            for transfer in all {
                if case .waiting(let ticket) = transfer.phase { remove(transfer, ticket, &state) }
            }
            return all
        }
    }

    /// Whose connections a request uses: without TLS an HTTP proxy's own, as libcurl counts too.
    private func connectionTarget(of origin: Origin) -> Origin {
        guard !origin.isSecure, !proxies.isEmpty, let proxy = proxies.proxy(for: origin) else { return origin }
        return proxy.kind == .socks5 ? origin : proxy.origin ?? origin
    }

    private func queue(for origin: Origin, _ state: inout State) -> RequestQueue {
        if let latest = state.latest, latest.origin == origin { return latest }
        let queue = state.queues[origin] ?? newQueue(origin, &state)
        state.latest = queue
        return queue
    }

    private func newQueue(_ origin: Origin, _ state: inout State) -> RequestQueue {
        if state.queues.count >= Self.originLimit { state.queues = state.queues.filter { !$0.value.isIdle } }
        let number = Int(UInt(bitPattern: origin.hashValue) % UInt(state.loads.count))
        let helpers = origin.isSecure ? secure : plain
        let loops = helpers > 1 ? (0..<helpers).map { (number + $0) % helpers } : [number]
        let perHost = configuration.pool.perHost
        let new = RequestQueue(
            origin, loops: loops,
            connections: loops.indices.map { perHost / loops.count + ($0 < perHost % loops.count ? 1 : 0) },
            capacity: configuration.pool.waitingPerHost,
            sharesConnections: configuration.httpVersions == .http2PriorKnowledge && configuration.canShare)
        state.queues[origin] = new
        return new
    }

    /// With so many exchanges in hand an event loop is helped by others; with fewer, another thread would cost more than it
    /// brings. With more where a connection costs a handshake and may be shared.
    private func bestPlace(in queue: RequestQueue, _ state: State) -> Int? {
        let isShared = queue.origin.isSecure || configuration.httpVersions == .http2PriorKnowledge
        var best: Int?
        for place in queue.loops.indices where hasRoom(queue, place, state) {
            let load = state.loads[queue.loops[place]].exchanges
            if place == 0, load < (isShared ? 32 : 16) { return 0 }
            if let known = best, state.loads[queue.loops[known]].exchanges <= load { continue }
            best = place
        }
        return best
    }

    /// How many connections so many exchanges take.
    private func connections(_ queue: RequestQueue, _ place: Int, _ used: Int) -> Int {
        queue.sharesConnections ? (used + Self.connection - 1) / Self.connection : used
    }

    private func hasRoom(_ queue: RequestQueue, _ place: Int, _ state: State) -> Bool {
        let after = connections(queue, place, queue.used[place] + 1)
        guard after <= queue.connections[place] else { return false }
        let added = after - connections(queue, place, queue.used[place])
        return total == .max || state.loads[queue.loops[place]].connections + added <= total
    }

    private func take(_ transfer: Transfer, _ place: Int, _ state: inout State) -> Bool {
        guard let queue = transfer.queue, hasRoom(queue, place, state) else { return false }
        change(queue, place, by: 1, &state)
        state.loads[queue.loops[place]].exchanges += 1
        transfer.phase = .active(place: place)
        return true
    }

    private func change(_ queue: RequestQueue, _ place: Int, by amount: Int, _ state: inout State) {
        let used = queue.used[place] + amount
        let former = connections(queue, place, queue.used[place])
        state.loads[queue.loops[place]].connections += connections(queue, place, used) - former
        queue.used[place] = used
    }

    private func next(_ own: RequestQueue, at loop: Int, _ state: inout State) -> Transfer? {
        guard state.waiting > 0 else { return nil }
        // With a limit for all connections, a slot is for any origin: each has its turn.
        let queues = total == .max ? [own] : state.turns
        for queue in queues {
            guard let place = queue.loops.firstIndex(of: loop), hasRoom(queue, place, state),
                let transfer = queue.waiting.next()
            else { continue }
            noteLeft(queue, &state)
            _ = take(transfer, place, &state)
            return transfer
        }
        return nil
    }

    private func remove(_ transfer: Transfer, _ ticket: UInt64, _ state: inout State) {
        guard let queue = transfer.queue else { return }
        transfer.phase = .over
        queue.waiting.leave(ticket)
        noteLeft(queue, &state)
    }

    private func noteLeft(_ queue: RequestQueue, _ state: inout State) {
        state.waiting -= 1
        guard total != .max, let index = state.turns.firstIndex(where: { $0 === queue }) else { return }
        state.turns.remove(at: index)
        if !queue.waiting.isEmpty { state.turns.append(queue) }
    }

    private func overload(_ queue: RequestQueue, _ transfer: Transfer) -> NetworkError {
        NetworkError(
            .refused(by: .overload), detail: "\(queue.waiting.count) exchanges wait for \(queue.origin) already.",
            hint: "Start fewer calls at a time, or raise ConnectionPool.waitingPerHost.",
            request: RequestLine(transfer.request))
    }
}

extension TransportConfiguration {
    /// False where each exchange gets a connection of its own although it speaks HTTP/2.
    var canShare: Bool {
        !(httpVersions == .http2PriorKnowledge && CurlLibrary.current.cannotReusePriorKnowledge)
    }
}
#endif
