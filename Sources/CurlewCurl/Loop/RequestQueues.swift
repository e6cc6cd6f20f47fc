// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCore
import CurlewHTTP
import Synchronization

/// The state of one origin: the exchanges in progress and the waiting requests.
///
/// `@unchecked Sendable` is valid because everything but the constants and `spoken` is accessed only under the lock of
/// `RequestQueues`.
final class RequestQueue: @unchecked Sendable {
    let origin: Origin
    /// The event loops that serve the origin, the preferred one first.
    let loops: [Int]
    /// The maximum number of connections to the origin for each loop.
    let connections: [Int]
    /// The number of exchanges that each loop performs for the origin.
    @exclusivity(unchecked) var used: [Int]
    @exclusivity(unchecked) var waiting: FairQueue<Transfer>
    @exclusivity(unchecked) var sharesConnections: Bool
    /// The idle connections of the transport itself for each loop, the most recently used one last.
    @exclusivity(unchecked) var idle: [[DirectConnection]]
    /// Whether the queue was removed, because the origin was idle.
    @exclusivity(unchecked) var isRemoved = false
    /// The HTTP version of the latest response: 1 or 2, or 0 if there is none. Written under the lock.
    let spoken = Atomic<UInt8>(0)

    init(_ origin: Origin, loops: [Int], connections: [Int], capacity: Int, sharesConnections: Bool) {
        self.origin = origin
        self.loops = loops
        self.connections = connections
        self.sharesConnections = sharesConnections
        used = Array(repeating: 0, count: loops.count)
        idle = Array(repeating: [], count: loops.count)
        waiting = FairQueue(capacity: capacity)
    }

    var isIdle: Bool { waiting.isEmpty && used.allSatisfy { $0 == 0 } }
}

/// The request queues that a set of event loops shares. They decide which requests begin and which wait, and enforce
/// the limits of `TransportConfiguration.Pool`.
///
/// A request that finds a free slot begins immediately. Any other request waits here and belongs to no loop. When an
/// exchange ends, its loop gives the slot to the next request in the queue and performs that request too. So a transfer
/// stays with one loop, and no request waits while a slot is available for it. Whichever thread removes a request from
/// its queue, under the single lock, decides what happens to the request.
///
/// libcurl has its own queue for transfers that exceed its limits. It iterates over the whole queue whenever a transfer
/// ends and supports no priorities, and several versions lost entries. So libcurl never receives more transfers than it
/// can start.
final class RequestQueues: Sendable {
    /// The number of HTTP/2 exchanges that count as one connection, a common server limit. libcurl knows the server's
    /// actual limit and holds back the rest.
    private static let connection = 100
    /// The number of origins at which the idle ones are removed before another origin is added.
    private static let originLimit = 1024

    /// The result of requesting a slot.
    enum Entry {
        /// The request has a slot at the event loop with this number.
        case begins(Int)
        /// The request waits. If `checkBy` is not nil, a loop must check for late requests by then.
        case waits(checkBy: Int64?)
        case refused(NetworkError)
    }

    struct State {
        var queues: [Origin: RequestQueue] = [:]
        /// The queue that was used last. Most requests have the same origin as the previous one, so this saves hashing
        /// the origin.
        var latest: RequestQueue?
        /// The queues with waiting requests in order of their turns, if the total number of connections is limited.
        var turns: [RequestQueue] = []
        /// The number of exchanges and of used connections at each event loop.
        var loads: [(exchanges: Int, connections: Int)]
        /// The number of idle connections of the transport itself at each event loop.
        var idle: [Int]
        var waiting = 0
        /// The next check for requests that have waited too long.
        var nextCheck = Int64.max
        var isStopped = false
    }

    private let configuration: TransportConfiguration
    /// The number of event loops that serve one origin.
    private let loopsPerOrigin: Int
    /// The maximum number of connections to all origins.
    private let total: Int
    /// The maximum number of idle connections of the transport itself for each loop.
    let idle: Int
    /// The times in nanoseconds after which an idle connection, or one of this age, is not used again.
    let idleLifetime, lifetime: Int64
    private let proxies: ProxyRules
    let state: Locked<State>

    init(
        configuration: TransportConfiguration, proxies: ProxyRules, loops: Int, loopsPerOrigin: Int = 1
    ) {
        self.configuration = configuration
        self.proxies = proxies
        total = configuration.pool.total ?? .max
        self.loopsPerOrigin = min(loops, max(1, configuration.pool.perHost), loopsPerOrigin)
        idle = max(1, configuration.pool.idle / loops)
        idleLifetime = Self.nanoseconds(configuration.pool.idleLifetime)
        lifetime = configuration.pool.lifetime.map(Self.nanoseconds) ?? .max
        state = Locked(State(loads: Array(repeating: (0, 0), count: loops), idle: Array(repeating: 0, count: loops)))
    }

    /// Returns a duration in nanoseconds, rounded up to whole seconds and at least 1 s.
    private static func nanoseconds(_ time: Duration) -> Int64 {
        max(1, (min(time.wholeNanoseconds, 1 << 60) + 999_999_999) / 1_000_000_000) * 1_000_000_000
    }

    /// The number of exchanges in progress.
    var active: Int { state.withLock { $0.loads.reduce(0) { $0 + $1.exchanges } } }

    /// The number of waiting requests for all origins.
    var count: Int { state.withLock { $0.waiting } }

    /// Requests a slot for a transfer. The transfer waits if no slot is free. Called once for each transfer.
    ///
    /// - `preferring`: the event loop on whose thread the caller runs; nil if it runs on none.
    func requestSlot(for transfer: Transfer, preferring loop: Int? = nil) -> Entry {
        let target = connectionTarget(of: transfer.plan.request.origin)
        return state.withLock { state in
            if state.isStopped { return .refused(EventLoop.shutdownError) }
            if transfer.isCancelled { return .refused(NetworkError(.cancelled)) }
            let queue = queue(for: target, preferring: loop, &state)
            transfer.queue = queue
            if state.waiting == 0 || queue.waiting.isEmpty, let index = bestIndex(in: queue, preferring: loop, state),
                take(transfer, index, &state)
            {
                if transfer.plan.isDirect, !transfer.plan.opensConnection { takeIdle(transfer, index, &state) }
                return .begins(queue.loops[index])
            }
            guard let ticket = queue.waiting.wait(transfer, transfer.plan.context.options.priority ?? .normal) else {
                return .refused(overload(queue, transfer))
            }
            transfer.phase = .waiting(ticket: ticket)
            state.waiting += 1
            if total != .max, queue.waiting.count == 1 { state.turns.append(queue) }
            let end = transfer.clock.check(at: transfer.clock.lastActivity).next
            guard end < state.nextCheck else { return .waits(checkBy: nil) }
            state.nextCheck = end
            return .waits(checkBy: end)
        }
    }

    /// Releases the slot of an exchange. Returns the requests that begin now at the same event loop. Over HTTP/2, the
    /// end of one exchange may make room for many.
    ///
    /// - `keeping`: a connection of the transport itself that is idle now. The next exchange uses it, or else it is kept.
    func releaseSlot(of transfer: Transfer, keeping connection: DirectConnection? = nil) -> [Transfer] {
        state.withLock { state in
            guard let queue = transfer.queue, case .active(let index) = transfer.phase else { return [] }
            transfer.direct.connection = nil
            transfer.phase = .over
            let loop = queue.loops[index]
            change(queue, index, by: -1, &state)
            state.loads[loop].exchanges -= 1
            var all: [Transfer] = []
            while let transfer = next(queue, at: loop, &state) { all.append(transfer) }
            guard let connection else { return all }
            let heir = all.first { $0.queue === queue && $0.plan.isDirect && !$0.plan.opensConnection }
            if let heir { heir.direct.connection = connection } else { keep(connection, &state) }
            return all
        }
    }

    /// Returns the next waiting request that begins at this event loop, or nil if there is none. Called when the number
    /// of slots has grown.
    func next(_ queue: RequestQueue, at loop: Int) -> Transfer? {
        state.withLock { next(queue, at: loop, &$0) }
    }

    /// Records the HTTP version of a response, which determines whether exchanges share the connections of the origin.
    /// Returns nil if it is unchanged, or else whether the origin has used another version before.
    func note(_ version: HTTPVersion, at queue: RequestQueue) -> Bool? {
        let number: UInt8 = version == .http2 ? 2 : 1
        // Usually the version is unchanged, and the lock is not needed.
        if queue.spoken.load(ordering: .relaxed) == number { return nil }
        return state.withLock { state -> Bool? in
            let before = queue.spoken.exchange(number, ordering: .relaxed)
            guard before != number else { return nil }
            let sharesConnections = version == .http2
            guard configuration.canShare, queue.sharesConnections != sharesConnections else { return before != 0 }
            let former = queue.loops.indices.map { connections(queue, $0, queue.used[$0]) }
            queue.sharesConnections = sharesConnections
            for index in queue.loops.indices {
                let now = connections(queue, index, queue.used[index])
                state.loads[queue.loops[index]].connections += now - former[index]
            }
            return before != 0
        }
    }

    /// The location of a cancelled request.
    enum Location {
        /// The request waited and was removed from the queue.
        case left
        /// The request is active at the event loop with this number.
        case at(Int)
        /// The request has not entered a queue, or has ended.
        case nowhere
    }

    /// Removes a request from its queue if it waits. Returns where the request is.
    func cancel(_ transfer: Transfer) -> Location {
        state.withLock { state in
            switch transfer.phase {
            case .new, .over: return .nowhere
            case .active(let index): return transfer.queue.map { .at($0.loops[index]) } ?? .nowhere
            case .waiting(let ticket):
                remove(transfer, ticket, &state)
                return .left
            }
        }
    }

    /// Removes the requests that have waited too long. Returns them and the time of the next check.
    func takeLate(at now: Int64) -> (late: [Transfer], next: Int64) {
        state.withLock { state in
            var next = Int64.max
            let late = takeWaiting(&state) { transfer in
                let check = transfer.clock.check(at: now)
                if check.expired == nil { next = min(next, check.next) }
                return check.expired != nil
            }
            state.nextCheck = next
            return (late, next)
        }
    }

    /// Clears the time of the next check, because no event loop could be started for it. The next waiting request
    /// schedules the check again.
    func forgetCheck() {
        state.withLock { $0.nextCheck = .max }
    }

    /// Refuses all further requests.
    func stop() {
        state.withLock { $0.isStopped = true }
    }

    /// Removes and returns all waiting requests.
    func takeAll() -> [Transfer] {
        state.withLock { takeWaiting(&$0) { _ in true } }
    }

    private func takeWaiting(_ state: inout State, where isTaken: (Transfer) -> Bool) -> [Transfer] {
        guard state.waiting > 0 else { return [] }
        let taken = state.queues.values.flatMap { $0.waiting.elements.filter(isTaken) }
        for transfer in taken {
            if case .waiting(let ticket) = transfer.phase { remove(transfer, ticket, &state) }
        }
        return taken
    }

    /// Returns the origin whose connections a request uses. For a request without TLS through an HTTP proxy, this is
    /// the proxy. libcurl counts connections in the same way.
    private func connectionTarget(of origin: Origin) -> Origin {
        guard !origin.isSecure, !proxies.isEmpty, let proxy = proxies.proxy(for: origin) else { return origin }
        return proxy.kind == .socks5 ? origin : proxy.origin ?? origin
    }

    private func queue(for origin: Origin, preferring loop: Int?, _ state: inout State) -> RequestQueue {
        if let latest = state.latest, latest.origin == origin { return latest }
        let queue = state.queues[origin] ?? newQueue(origin, preferring: loop, &state)
        state.latest = queue
        return queue
    }

    private func newQueue(_ origin: Origin, preferring loop: Int?, _ state: inout State) -> RequestQueue {
        if state.queues.count >= Self.originLimit {
            for queue in state.queues.values where queue.isIdle {
                for index in queue.loops.indices { _ = takeIdle(of: queue, index, &state).map { $0.abandon() } }
                queue.isRemoved = true
                state.queues[queue.origin] = nil
            }
        }
        let number = loop ?? Int(UInt(bitPattern: origin.hashValue) % UInt(state.loads.count))
        let loops = (0..<loopsPerOrigin).map { (number + $0) % state.loads.count }
        let perHost = configuration.pool.perHost
        let new = RequestQueue(
            origin, loops: loops,
            connections: loops.indices.map { perHost / loops.count + ($0 < perHost % loops.count ? 1 : 0) },
            capacity: configuration.pool.waitingPerHost,
            sharesConnections: configuration.httpVersions == .http2PriorKnowledge && configuration.canShare)
        state.queues[origin] = new
        return new
    }

    /// Returns the index of the loop for the next request, or nil if no loop has room. Other loops are used only when
    /// the preferred loop has many exchanges; with fewer, another thread would cost more than it saves.
    private func bestIndex(in queue: RequestQueue, preferring loop: Int?, _ state: State) -> Int? {
        if let loop, let index = queue.loops.firstIndex(of: loop), hasRoom(queue, index, state) { return index }
        var best: Int?
        for index in queue.loops.indices where hasRoom(queue, index, state) {
            let load = state.loads[queue.loops[index]].exchanges
            if index == 0, load < 32 { return 0 }
            if let known = best, state.loads[queue.loops[known]].exchanges <= load { continue }
            best = index
        }
        return best
    }

    /// Returns the number of connections that `used` exchanges occupy.
    private func connections(_ queue: RequestQueue, _ index: Int, _ used: Int) -> Int {
        queue.sharesConnections ? (used + Self.connection - 1) / Self.connection : used
    }

    private func hasRoom(_ queue: RequestQueue, _ index: Int, _ state: State) -> Bool {
        let after = connections(queue, index, queue.used[index] + 1)
        guard after <= queue.connections[index] else { return false }
        let added = after - connections(queue, index, queue.used[index])
        return total == .max || state.loads[queue.loops[index]].connections + added <= total
    }

    private func take(_ transfer: Transfer, _ index: Int, _ state: inout State) -> Bool {
        guard let queue = transfer.queue, hasRoom(queue, index, state) else { return false }
        change(queue, index, by: 1, &state)
        state.loads[queue.loops[index]].exchanges += 1
        transfer.phase = .active(index: index)
        return true
    }

    private func change(_ queue: RequestQueue, _ index: Int, by amount: Int, _ state: inout State) {
        let used = queue.used[index] + amount
        let former = connections(queue, index, queue.used[index])
        state.loads[queue.loops[index]].connections += connections(queue, index, used) - former
        queue.used[index] = used
    }

    private func next(_ own: RequestQueue, at loop: Int, _ state: inout State) -> Transfer? {
        guard state.waiting > 0 else { return nil }
        // If the total number of connections is limited, a slot can serve any origin, and the origins take turns.
        let queues = total == .max ? [own] : state.turns
        for queue in queues {
            guard let index = queue.loops.firstIndex(of: loop), hasRoom(queue, index, state),
                let transfer = queue.waiting.next()
            else { continue }
            noteLeft(queue, &state)
            _ = take(transfer, index, &state)
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
            .refused(by: .overload), detail: "\(queue.waiting.count) exchanges already wait for \(queue.origin).",
            hint: "Start fewer concurrent calls, or raise TransportConfiguration.Pool.waitingPerHost.",
            request: NetworkError.RequestLine(transfer.plan.request))
    }
}

extension TransportConfiguration {
    /// Whether HTTP/2 exchanges can share connections. False for HTTP/2 prior knowledge if this libcurl then opens a
    /// connection for each exchange.
    var canShare: Bool {
        !(httpVersions == .http2PriorKnowledge && CurlLibrary.current.cannotReusePriorKnowledge)
    }
}
#endif
