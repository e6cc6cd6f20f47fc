// SPDX-License-Identifier: MIT

import CurlewFoundation

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP
import Synchronization

/// The HTTP/1.1 connections that one event loop reads from, without libcurl: for `http` without a proxy, and for Unix
/// domain sockets.
///
///     caller's thread: slot and idle connection ──▶ write the request ──▶ suspend
///     loop's thread:   epoll ──▶ read ──▶ parse ──▶ make the connection idle ──▶ resume the caller
///
/// So a small request changes the thread once. Whatever a caller's thread cannot do without waiting is done here: open
/// a connection, send a body that does not fit, send again. A request is sent again only if a used connection has ended
/// before the first byte of its response, and if the request may be repeated or none of it was sent.
///
/// Used only on the loop's thread, except for the atomic properties.
final class DirectConnections: Carrier, @unchecked Sendable {
    /// The size of the receive buffer in bytes.
    static let room = 64 << 10
    /// The number of idle connections that a request tries before it opens a new one. Servers close idle connections in
    /// groups, for example when they restart.
    private static let reusesBeforeOpening = 2
    /// The maximum number of times that one connection is read in one turn, so that it does not delay the others.
    static let readLimit = 8
    private static let eventLimit = 256
    static let readable = EPOLLIN.rawValue
    static let writable = EPOLLOUT.rawValue

    enum Entry {
        case connection(DirectConnection)
        case connector(Connector)
    }

    unowned let loop: EventLoop
    let poll: Int32
    private let events: UnsafeMutablePointer<epoll_event>
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: DirectConnections.room, alignment: 16)
    /// The next piece of a body, with its framing.
    let piece = UnsafeMutableRawBufferPointer.allocate(
        byteCount: chunkSize + 2 * margin, alignment: 16)
    /// Indexed by descriptor, with the generation of the entry: an event that the system reported earlier may be about
    /// a descriptor that has been closed and opened again.
    @exclusivity(unchecked) var entries: [(entry: Entry?, generation: UInt32)] = []
    /// The number of open connections and connection attempts.
    @exclusivity(unchecked) var openCount = 0
    @exclusivity(unchecked) var connectors: [Connector] = []
    /// The transfers that wait for the end of another one, because the process had no descriptor for their connection.
    @exclusivity(unchecked) var withoutDescriptor: [Transfer] = []
    @exclusivity(unchecked) var mayHaveDescriptor = false
    /// The addresses of names, and when they expire.
    @exclusivity(unchecked) var addresses: [String: (list: [IPAddress], until: Int64)] = [:]
    @exclusivity(unchecked) private var effects: [Effect] = []
    @exclusivity(unchecked) private var successors: [Transfer] = []
    /// The transfers that have ended in this turn. Their callers are resumed one right after the other, so that the
    /// thread that the first one wakes finds the others without sleeping in between.
    @exclusivity(unchecked) private var ended: [(Transfer, Result<Void, NetworkError>, ExchangeMetrics)] = []
    /// The time of the next search for expired idle connections.
    @exclusivity(unchecked) private var nextSweep = Int64.max
    /// The number of transfers in progress.
    let inProgress = Atomic(0)
    /// The time of the next deadline check. A caller's thread may bring it forward.
    private let nextCheck = Atomic(Int64.max)
    /// The time until which the loop waits for events; `Int64.min` while it does not wait.
    private let wakeTime = Atomic(Int64.min)
    /// The number of events that the last wait has found.
    @exclusivity(unchecked) private var found = 0

    /// Creates an empty set. Returns nil if the system has no descriptor left.
    init?(loop: EventLoop) {
        poll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard poll >= 0 else { return nil }
        self.loop = loop
        events = .allocate(capacity: Self.eventLimit)
        // Edge-triggered: each write ends one wait, and the written bytes need not be read.
        _ = curlew_poll_socket(poll, 0, loop.commandQueue.descriptor, Self.readable | EPOLLET.rawValue, .max)
    }

    deinit {
        close(poll)
        events.deallocate()
        buffer.deallocate()
        piece.deallocate()
    }

    /// The descriptor that is readable while there are events.
    var descriptor: Int32 { poll }

    // MARK: The steps of a turn

    var isIdle: Bool { inProgress.load(ordering: .acquiring) == 0 }

    var nextMoment: Int64 { min(nextCheck.load(ordering: .sequentiallyConsistent), nextSweep) }

    /// Announces that the loop waits, so that the thread of a caller wakes it for an earlier deadline. Returns the
    /// number of milliseconds to wait, which is smaller if a caller's thread has brought the check forward before it
    /// could see the announcement.
    func prepareToWait(_ milliseconds: Int32) -> Int32 {
        guard milliseconds > 0 else { return 0 }
        let end = loop.now + Int64(milliseconds) * 1_000_000
        wakeTime.store(end, ordering: .sequentiallyConsistent)
        let next = nextCheck.load(ordering: .sequentiallyConsistent)
        return next < end ? Int32(max(0, (next - loop.now + 999_999) / 1_000_000)) : milliseconds
    }

    /// Waits for events or commands, at most this number of milliseconds.
    func wait(_ milliseconds: Int32) {
        found = Int(max(0, epoll_wait(poll, events, Int32(Self.eventLimit), milliseconds)))
        wakeTime.store(.min, ordering: .releasing)
    }

    /// Whether the last wait has found events.
    var hasEvents: Bool { found > 0 }

    /// Processes the events of the last wait.
    func work() {
        for index in 0..<found {
            let (bits, tag) = (events[index].events, events[index].data.u64)
            let slot = Int(tag & 0xFFFF_FFFF)
            guard tag != .max, entries.indices.contains(slot), entries[slot].generation == UInt32(tag >> 32) else {
                continue
            }
            switch entries[slot].entry {
            case .connection(let connection): handle(connection, bits)
            case .connector(let connector): connector.socketIsReady(Int32(slot))
            case nil: break
            }
        }
        found = 0
        applyEffects()
    }

    private func handle(_ connection: DirectConnection, _ bits: UInt32) {
        switch connection.holder.load(ordering: .acquiring) {
        case .idle:
            // If it is in no list, the thread of a caller has just taken it and looks at it.
            if loop.queues.removeIdle(connection) { disconnect(connection) }
        case .returned: break  // It is idle in a moment, and the system reports the event again.
        case .lost: disconnect(connection)
        case .caller, .partial, .loop:
            if bits & Self.writable != 0 { send(on: connection) }
            guard bits & ~Self.writable != 0, let transfer = connection.transfer else { return }
            // The system reports the end of a connection even if no exchange waits for it.
            if transfer.isReceivingPaused { return register(connection, 0) }
            receive(on: connection)
        }
    }

    /// Applies the effects, and begins the transfers that have received the slots of others.
    func applyEffects() {
        applyNoted()
        var index = 0
        // A transfer that fails to begin frees its slot for another: the list grows during the iteration.
        while index < successors.count {
            loop.begin(successors[index])
            index += 1
        }
        if index > 0 { successors.removeAll(keepingCapacity: true) }
        retryWithoutDescriptor()
        deliverEnded()
    }

    /// Resumes the callers and readers of the transfers that have ended in this turn.
    private func deliverEnded() {
        // Taking the elements out, in any order, saves a copy of each.
        while let (transfer, result, metrics) = ended.popLast() { transfer.deliver(result, metrics: metrics) }
    }

    private func applyNoted() {
        while !effects.isEmpty {
            let noted = effects
            effects = []
            noted.forEach(apply)
        }
    }

    func add(_ effect: Effect) {
        effects.append(effect)
    }

    /// Ends late transfers and tries further addresses if the next check is due, and removes expired idle connections.
    func endLate() {
        let now = loop.now
        if now >= nextSweep {
            let (expired, next) = loop.queues.takeExpired(at: loop.number, now)
            nextSweep = next
            expired.forEach(disconnect)
        }
        guard now >= nextCheck.load(ordering: .sequentiallyConsistent) else { return }
        nextCheck.store(.max, ordering: .sequentiallyConsistent)
        for connector in connectors { connector.tryLate(at: now) }
        for transfer in activeTransfers {
            let check = transfer.clock.check(at: now)
            guard let phase = check.expired else {
                bringCheckForward(to: check.next)
                continue
            }
            end(transfer, with: transfer.state.isDraining ? NetworkError(.cancelled) : transfer.directTimeout(phase))
        }
        applyEffects()
    }

    /// The transfers in progress, except those whose callers have not prepared a connection yet.
    private var activeTransfers: [Transfer] {
        let onConnections = entries.compactMap { each -> Transfer? in
            guard case .connection(let connection) = each.entry else { return nil }
            let holder = connection.holder.load(ordering: .acquiring)
            return [.caller, .partial, .loop].contains(holder) ? connection.transfer : nil
        }
        return onConnections + connectors.map(\.transfer) + withoutDescriptor
    }

    func endAll(with error: NetworkError) {
        for transfer in activeTransfers { end(transfer, with: error) }
        applyEffects()
    }

    /// Closes all connections. Ends the transfers that callers have begun since `endAll`.
    func closeAll(with error: NetworkError) {
        for connection in loop.queues.takeIdle(at: loop.number) { disconnect(connection) }
        for case .connection(let connection)? in entries.map(\.entry) {
            if connection.move(from: .idle, to: .lost) {
                disconnect(connection)
            } else if connection.holder.load(ordering: .acquiring) == .returned {
                // The thread of the caller makes it idle, and no exchange uses it again.
                remove(connection.descriptor)
            } else if let transfer = connection.transfer {
                end(transfer, with: error)
            }
        }
        deliverEnded()
    }

    func noteDeadline(of transfer: Transfer) {
        bringCheckForward(to: transfer.clock.check(at: loop.now).next)
    }

    /// Makes the next check no later than `moment`. Returns whether the loop would miss it while it waits. From any
    /// thread.
    @discardableResult
    func bringCheckForward(to moment: Int64) -> Bool {
        var current = nextCheck.load(ordering: .sequentiallyConsistent)
        while moment < current {
            let (exchanged, original) = nextCheck.compareExchange(
                expected: current, desired: moment, ordering: .sequentiallyConsistent)
            if exchanged { break }
            current = original
        }
        return moment < wakeTime.load(ordering: .sequentiallyConsistent)
    }

    // MARK: Transfers

    func begin(_ transfer: Transfer) {
        do throws(NetworkError) {
            if transfer.isCancelled { throw NetworkError(.cancelled) }
            let now = TimeoutTracker.now()
            transfer.clock.begin(at: now, connecting: transfer.plan.context.timeouts.connect)
            if let phase = transfer.clock.check(at: now).expired { throw transfer.directTimeout(phase) }
        } catch {
            successors += loop.queues.releaseSlot(of: transfer, keeping: transfer.direct.connection)
            return transfer.refuse(error)
        }
        inProgress.add(1, ordering: .relaxed)
        transfer.carrier = self
        transfer.plan.upload?.begin { [weak transfer] in
            if let transfer { transfer.loop?.send(.resume(transfer)) }
        }
        proceed(transfer)
        noteDeadline(of: transfer)
    }

    /// Sends the request of a transfer on an idle connection, or opens one.
    func proceed(_ transfer: Transfer) {
        var next = transfer.direct.connection
        if next == nil, !transfer.plan.opensConnection, transfer.sent.attempts < Self.reusesBeforeOpening {
            next = loop.queues.takeIdle(for: transfer)
        }
        while let connection = next {
            if connection.isSilent { return start(transfer, on: connection) }
            disconnect(connection)
            next = loop.queues.takeIdle(for: transfer)
        }
        open(for: transfer)
    }

    /// Opens a connection for a transfer, or waits for a descriptor.
    private func open(for transfer: Transfer) {
        if let total = loop.configuration.pool.total {
            while openCount >= total, let oldest = loop.queues.takeOldestIdle(at: loop.number) { disconnect(oldest) }
        }
        let connector = Connector(transfer, self)
        transfer.direct.connector = connector
        connectors.append(connector)
        connector.begin(at: TimeoutTracker.now())
    }

    /// Begins an exchange on a connection that the loop has.
    func start(_ transfer: Transfer, on connection: DirectConnection) {
        transfer.direct.connection = connection
        connection.holder.store(.loop, ordering: .releasing)
        let now = TimeoutTracker.now()
        transfer.clock.connected(at: now)
        transfer.clock.awaitHead(at: now)
        connection.begin(transfer, at: now)
        writeHead(of: transfer, to: connection)
        send(on: connection)
        noteDeadline(of: transfer)
    }

    private func writeHead(of transfer: Transfer, to connection: DirectConnection) {
        var capacity = 4096
        while true {
            let isWritten = withUnsafeTemporaryAllocation(byteCount: capacity, alignment: 1) { buffer in
                var writer = RequestHeadWriter(buffer)
                writer.write(transfer.plan)
                guard !writer.isTooLong else { return false }
                connection.output.append(UnsafeRawBufferPointer(rebasing: buffer[..<writer.count]))
                return true
            }
            if isWritten { return }
            capacity *= 4
        }
    }

    func cancel(_ transfer: Transfer) {
        // The thread of a caller may be about to use the transfer: it then finds that it was cancelled.
        guard loop.queues.connection(of: transfer)?.isPerforming(transfer) ?? (transfer.carrier != nil),
            !transfer.state.isDraining
        else { return }
        drainOrEnd(transfer, at: loop.now)
    }

    func end(_ transfer: Transfer, with error: NetworkError) {
        if let connection = transfer.direct.connection {
            guard connection.isPerforming(transfer) else { return }
            finish(transfer, on: connection, .failure(error), keepsConnection: false)
        } else if transfer.carrier != nil {
            finish(transfer, on: nil, .failure(error), keepsConnection: false)
        }
    }

    /// Completes a transfer: releases its slot and its connection, and resumes its caller or reader.
    func finish(
        _ transfer: Transfer, on connection: DirectConnection?, _ result: Result<Void, NetworkError>,
        keepsConnection: Bool
    ) {
        applyNoted()
        // One of these effects may have ended the transfer.
        guard transfer.carrier != nil else { return }
        let metrics = measure(transfer)
        transfer.direct.connector?.cancel()
        transfer.direct.connector = nil
        if !withoutDescriptor.isEmpty { withoutDescriptor.removeAll { $0 === transfer } }
        noteReleased(transfer)
        transfer.received.decoder = nil
        transfer.carrier = nil
        transfer.direct.connection = nil
        inProgress.subtract(1, ordering: .releasing)
        if let connection {
            release(connection, of: transfer, keeps: keepsConnection)
        } else {
            successors += loop.queues.releaseSlot(of: transfer)
        }
        loop.gauges.completed += 1
        if metrics.reusedConnection == true { loop.gauges.reused += 1 }
        transfer.plan.upload?.end()
        if case .success = result, !transfer.received.head.trailers.isEmpty {
            transfer.plan.context.record(.trailers(transfer.received.head.trailers))
        }
        if transfer.plan.context.isObserved { transfer.plan.context.record(metrics) }
        ended.append((transfer, result, metrics))
        mayHaveDescriptor = true
    }

    /// Ends the exchange of a connection, and releases the slot of its transfer unless the thread of the caller does.
    private func release(_ connection: DirectConnection, of transfer: Transfer, keeps: Bool) {
        connection.end()
        if keeps, connection.move(from: .caller, to: .returned) { return }
        let mayKeep = keeps && connection.holder.load(ordering: .acquiring) == .loop
        if mayKeep {
            register(connection, Self.readable)
            connection.holder.store(.idle, ordering: .releasing)
            if nextSweep == .max { nextSweep = loop.now + 1_000_000_000 }
        } else {
            disconnect(connection)
        }
        let due = loop.queues.releaseSlot(of: transfer, keeping: mayKeep ? connection : nil)
        if !due.isEmpty { successors += due }
    }

    func measure(_ transfer: Transfer) -> ExchangeMetrics {
        transfer.directMetrics(until: TimeoutTracker.now())
    }

    func noteHeld(_ transfer: Transfer) {
        if !transfer.isHeld { loop.gauges.paused += 1 }
    }

    /// Clears the pause state of a transfer that resumes or ends.
    func noteReleased(_ transfer: Transfer) {
        guard transfer.isHeld else { return }
        loop.gauges.paused -= 1
        transfer.state.take(.resume)
    }

    func suspendReceiving(of transfer: Transfer) {
        guard let connection = transfer.direct.connection else { return }
        register(connection, connection.registered & Self.writable)
    }

    func resume(_ transfer: Transfer) {
        guard let connection = transfer.direct.connection, connection.isPerforming(transfer) else { return }
        let wasReceiving = transfer.isReceivingPaused
        if transfer.isHeld {
            noteReleased(transfer)
            transfer.clock.isHeld = false
            transfer.clock.lastActivity = TimeoutTracker.now()
            noteDeadline(of: transfer)
        }
        send(on: connection)
        if wasReceiving, connection.isPerforming(transfer) {
            register(connection, connection.registered | Self.readable)
            receiveKept(on: connection)
        }
    }
}
#endif
