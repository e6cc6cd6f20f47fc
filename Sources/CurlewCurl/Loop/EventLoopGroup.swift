// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP

/// The event loops of one transport, and their queues.
///
/// Each origin is assigned to `CurlTransport.Options.eventLoopsPerOrigin` loops, so that its exchanges share
/// connections. The loops that serve an origin divide its connections among them.
struct EventLoopGroup: Sendable {
    /// A set of event loops that share queues.
    private struct Lane: Sendable {
        let queues: RequestQueues
        let loops: [EventLoop]

        init(
            _ configuration: TransportConfiguration, _ proxies: ProxyRules, _ names: NameLookup,
            options: CurlTransport.Options, loops count: Int
        ) {
            var part = configuration
            part.pool.idle = max(1, configuration.pool.idle / count)
            let queues = RequestQueues(
                configuration: configuration, proxies: proxies, loops: count,
                loopsPerOrigin: options.eventLoopsPerOrigin)
            self.queues = queues
            loops = (0..<count).map { [part] number in
                EventLoop(configuration: part, proxies: proxies, queues: queues, names: names, number: number)
            }
        }
    }

    private let main: Lane
    /// The lane for uploads of unknown length. It uses only HTTP/1.1; see `CurlLibrary.losesBytesBesideUploads`. Nil
    /// unless the transport negotiates the HTTP version.
    private let apart: Lane?
    /// The lane for requests that switch to another protocol. Its connections do not count towards the limits of the
    /// pool, because they stay open as long as the caller wants.
    private let upgrades: Lane
    private let home = HomeProcess()
    private let proxies: ProxyRules
    private let usesPriorKnowledge: Bool

    /// The number of connections per origin that have switched to another protocol.
    private static let upgradeLimit = 4096

    init(configuration: TransportConfiguration, options: CurlTransport.Options, proxies: ProxyRules) {
        self.proxies = proxies
        usesPriorKnowledge = configuration.httpVersions == .http2PriorKnowledge
        // A limit for all connections cannot be divided: each origin may need all of them.
        let maximum = configuration.pool.total == nil ? Int.max : 1
        let names = NameLookup(configuration.dns.addresses)
        main = Lane(configuration, proxies, names, options: options, loops: min(options.eventLoops, maximum))
        // The libcurl version is determined on first use: creating a transport does not initialize libcurl.
        var serial = configuration
        serial.httpVersions = .http1Only
        var long = serial
        long.pool.perHost = Self.upgradeLimit
        long.pool.total = nil
        upgrades = Lane(long, proxies, names, options: options, loops: 1)
        apart =
            configuration.httpVersions == .automatic ? Lane(serial, proxies, names, options: options, loops: 1) : nil
    }

    /// The executor of the first loop, whose thread is started.
    var executor: EventLoopExecutor {
        main.loops[0].send(.checkLate(by: .max))
        return main.loops[0].executor
    }

    private var lanes: [Lane] { [main, upgrades] + (apart.map { [$0] } ?? []) }

    /// Whether a request uses the transport's own connections: over HTTP/1.1 without TLS and without a proxy.
    func isDirect(_ request: HTTPRequest) -> Bool {
        !request.origin.isSecure && !usesPriorKnowledge
            && (proxies.isEmpty || proxies.proxy(for: request.origin) == nil)
    }

    /// Whether the current process created the transport; false in a forked child.
    var isHere: Bool { home.isHere }

    /// Starts a transfer at an event loop, or queues it. Its continuation is resumed exactly once in every case. If the
    /// loop cannot perform it, fails the transfer and the transfers that would receive its slot.
    func start(_ transfer: Transfer) {
        let lane = lane(of: transfer)
        let current = curlew_current_loop()
        let here = current.flatMap { current in
            lane.loops.firstIndex { Unmanaged.passUnretained($0).toOpaque() == current }
        }
        switch lane.queues.requestSlot(for: transfer, preferring: here) {
        case .refused(let error): transfer.refuse(error)
        case .waits(let moment?):
            if lane.loops[0].send(.checkLate(by: moment)) != nil { lane.queues.forgetCheck() }
        case .waits(nil): break
        case .begins(let number):
            if transfer.direct.connection != nil, lane.loops[number].sendHere(transfer) { return }
            var due = [transfer]
            while let transfer = due.popLast() {
                guard let error = lane.loops[number].send(.start(transfer)) else { continue }
                due += lane.queues.releaseSlot(of: transfer, keeping: transfer.direct.connection)
                transfer.refuse(error)
            }
        }
    }

    /// Cancels a transfer. A waiting transfer is removed from its queue, and the event loop of an active one is
    /// notified. A transfer that has not entered a queue yet is refused as soon as it does. Does nothing if the
    /// transfer has ended.
    func cancel(_ transfer: Transfer) {
        guard isHere else { return }
        let lane = lane(of: transfer)
        transfer.cancel()
        switch lane.queues.cancel(transfer) {
        case .left: transfer.refuse(NetworkError(.cancelled))
        case .at(let number): lane.loops[number].send(.cancel(transfer))
        case .nowhere: break
        }
    }

    private func lane(of transfer: Transfer) -> Lane {
        if transfer.plan.upgrade != nil { return upgrades }
        guard let apart, transfer.plan.request.origin.isSecure, let upload = transfer.plan.upload, upload.length == nil,
            CurlLibrary.current.losesBytesBesideUploads
        else { return main }
        return apart
    }

    /// The sum of the values of all loops, which are not read at the same time; zero in a forked child.
    var snapshot: TransportConfiguration.Pool.Snapshot {
        guard isHere else { return TransportConfiguration.Pool.Snapshot() }
        return lanes.reduce(into: TransportConfiguration.Pool.Snapshot()) { sum, lane in
            for loop in lane.loops { sum.add(loop.snapshot) }
            sum.waiting += lane.queues.count
            sum.active += lane.queues.active
        }
    }

    /// Stops all loops. Calls `ending` when the last one has ended.
    func stop(by moment: Int64 = 0, _ ending: (@Sendable () -> Void)? = nil) {
        guard isHere else {
            ending?()
            return
        }
        let lanes = lanes
        let left = Locked(lanes.reduce(0) { $0 + $1.loops.count })
        for lane in lanes { lane.queues.stop() }
        for loop in lanes.flatMap(\.loops) {
            loop.stop(by: moment) {
                let isLast = left.withLock { count in
                    count -= 1
                    return count == 0
                }
                guard isLast else { return }
                for transfer in lanes.flatMap({ $0.queues.takeAll() }) { transfer.refuse(EventLoop.shutdownError) }
                ending?()
            }
        }
    }
}

extension TransportConfiguration.Pool.Snapshot {
    fileprivate mutating func add(_ other: Self) {
        active += other.active
        paused += other.paused
        waiting += other.waiting
        connections += other.connections
        connectionsOpened += other.connectionsOpened
        completed += other.completed
        reused += other.reused
        handles += other.handles
    }
}
#endif
