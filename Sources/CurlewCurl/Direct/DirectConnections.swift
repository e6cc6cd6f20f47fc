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
/// So a small request changes the thread once. Whatever a caller's thread cannot do without waiting is done here: open a
/// connection, send a body that does not fit, send again. A request is sent again only if a used connection has ended
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
    private static let readLimit = 8
    private static let eventLimit = 256
    private static let readable = EPOLLIN.rawValue
    private static let writable = EPOLLOUT.rawValue

    private enum Entry {
        case connection(DirectConnection)
        case connector(Connector)
    }

    unowned let loop: EventLoop
    private let poll: Int32
    private let events: UnsafeMutablePointer<epoll_event>
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: DirectConnections.room, alignment: 16)
    /// The next piece of a body, with its framing.
    private let piece = UnsafeMutableRawBufferPointer.allocate(
        byteCount: chunkSize + 2 * margin, alignment: 16)
    /// Indexed by descriptor, with the generation of the entry: an event that the system reported earlier may be about a
    /// descriptor that has been closed and opened again.
    @exclusivity(unchecked) private var entries: [(entry: Entry?, generation: UInt32)] = []
    /// The number of open connections and connection attempts.
    @exclusivity(unchecked) private var openCount = 0
    @exclusivity(unchecked) var connectors: [Connector] = []
    /// The transfers that wait for the end of another one, because the process had no descriptor for their connection.
    @exclusivity(unchecked) private var withoutDescriptor: [Transfer] = []
    @exclusivity(unchecked) private var mayHaveDescriptor = false
    /// The addresses of names, and when they expire.
    @exclusivity(unchecked) var addresses: [String: (list: [IPAddress], until: Int64)] = [:]
    @exclusivity(unchecked) private var effects: [Effect] = []
    @exclusivity(unchecked) private var successors: [Transfer] = []
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
            // The system reports the end of a connection even if nobody waits for it.
            if transfer.received.isPaused { return register(connection, 0) }
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
            end(transfer, with: transfer.ending.isDraining ? NetworkError(.cancelled) : transfer.directTimeout(phase))
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
                // The thread of the caller makes it idle, and nobody uses it again.
                remove(connection.descriptor)
            } else if let transfer = connection.transfer {
                end(transfer, with: error)
            }
        }
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
    private func proceed(_ transfer: Transfer) {
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
        transfer.clock.connected()
        let now = TimeoutTracker.now()
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
            !transfer.ending.isDraining
        else { return }
        guard transfer.mayDrain else { return end(transfer, with: NetworkError(.cancelled)) }
        transfer.ending.isDiscarding = true
        transfer.ending.isDraining = true
        transfer.clock.end(by: loop.now + Transfer.drainTime)
        noteDeadline(of: transfer)
        resume(transfer)
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
        withoutDescriptor.removeAll { $0 === transfer }
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
        transfer.plan.context.record(metrics)
        transfer.deliver(result, metrics: metrics)
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
        successors += loop.queues.releaseSlot(of: transfer, keeping: mayKeep ? connection : nil)
    }

    func measure(_ transfer: Transfer) -> ExchangeMetrics {
        var metrics = transfer.direct.metrics(until: TimeoutTracker.now(), transfer.clock)
        metrics.version = transfer.received.hasHead ? transfer.received.head.version : nil
        metrics.connection = transfer.connection.info
        return metrics
    }

    func noteHeld(_ transfer: Transfer) {
        if !transfer.isHeld { loop.gauges.paused += 1 }
    }

    /// Clears the pause state of a transfer that resumes or ends.
    private func noteReleased(_ transfer: Transfer) {
        if transfer.isHeld { loop.gauges.paused -= 1 }
        transfer.received.isPaused = false
        transfer.sent.isPaused = false
    }

    func suspendReceiving(of transfer: Transfer) {
        guard let connection = transfer.direct.connection else { return }
        register(connection, connection.registered & Self.writable)
    }

    func resume(_ transfer: Transfer) {
        guard let connection = transfer.direct.connection, connection.isPerforming(transfer) else { return }
        let wasReceiving = transfer.received.isPaused
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

    // MARK: Descriptors

    /// Waits until a descriptor is free, because the process has none for the connection of this transfer. Returns false
    /// if no other transfer is in progress.
    func awaitDescriptor(_ transfer: Transfer) -> Bool {
        if let idle = loop.queues.takeOldestIdle(at: loop.number) {
            disconnect(idle)
        } else if withoutDescriptor.count + 1 >= inProgress.load(ordering: .relaxed) {
            return false
        }
        transfer.direct.connector = nil
        withoutDescriptor.append(transfer)
        return true
    }

    /// Begins the transfers that have waited for a descriptor, if one may be free.
    private func retryWithoutDescriptor() {
        guard mayHaveDescriptor, !withoutDescriptor.isEmpty else { return }
        mayHaveDescriptor = false
        let waiting = withoutDescriptor
        withoutDescriptor = []
        waiting.forEach(proceed)
    }

    /// Adds the socket of a connection attempt. Returns false if the system refuses it.
    func add(_ connector: Connector, _ descriptor: Int32) -> Bool {
        insert(.connector(connector), descriptor, Self.writable) != nil
    }

    /// Makes the socket of an attempt that has succeeded a connection. Returns false if the system refuses it.
    func adopt(_ connection: DirectConnection) -> Bool {
        remove(connection.descriptor)
        guard let tag = insert(.connection(connection), connection.descriptor, Self.readable) else { return false }
        connection.tag = tag
        connection.registered = Self.readable
        return true
    }

    private func insert(_ entry: Entry, _ descriptor: Int32, _ bits: UInt32) -> UInt64? {
        let slot = Int(descriptor)
        if slot >= entries.count {
            entries.append(contentsOf: repeatElement((entry: nil, generation: UInt32(0)), count: slot + 1 - entries.count + 64))
        }
        entries[slot].generation &+= 1
        let tag = UInt64(entries[slot].generation) << 32 | UInt64(slot)
        guard curlew_poll_socket(poll, 0, descriptor, bits, tag) == 0 else { return nil }
        entries[slot].entry = entry
        openCount += 1
        loop.gauges.connections += 1
        return tag
    }

    /// Removes a socket from the table and from the poll.
    func remove(_ descriptor: Int32) {
        let slot = Int(descriptor)
        guard entries.indices.contains(slot), entries[slot].entry != nil else { return }
        entries[slot].entry = nil
        entries[slot].generation &+= 1
        _ = curlew_poll_socket(poll, 2, descriptor, 0, 0)
        openCount -= 1
        loop.gauges.connections -= 1
    }

    /// Ends and removes a connection. Its descriptor is closed when no thread uses it.
    func disconnect(_ connection: DirectConnection) {
        connection.holder.store(.lost, ordering: .releasing)
        curlew_end_connection(connection.descriptor)
        if case .connection(let other)? = entries[Int(connection.descriptor)].entry, other === connection {
            remove(connection.descriptor)
        }
        mayHaveDescriptor = true
    }

    /// Registers the socket for these events. Without any, it is removed from the poll, which would report its end.
    private func register(_ connection: DirectConnection, _ bits: UInt32) {
        guard connection.registered != bits else { return }
        let operation: Int32 = bits == 0 ? 2 : connection.registered == 0 ? 0 : 1
        _ = curlew_poll_socket(poll, operation, connection.descriptor, bits, connection.tag)
        connection.registered = bits
    }
}

// MARK: Sending

extension DirectConnections {
    static let chunkSize = 64 << 10
    /// Room for the framing of a chunk, before and after it.
    static let margin = 10
    private static let upgradeChunkSize = 16 << 10
    /// The maximum number of pieces of one body that are sent in one turn.
    private static let sendLimit = 16

    /// Sends what the socket accepts: the rest of the head, then the body.
    private func send(on connection: DirectConnection) {
        guard connection.holder.load(ordering: .acquiring) == .loop, let transfer = connection.transfer,
            connection.sendError == 0, !connection.omitsRest, !connection.isRequestSent || connection.isSwitched
        else { return setWriting(connection, false) }
        for _ in 0..<Self.sendLimit {
            if !connection.output.isEmpty {
                let sent = connection.output.send(to: connection.descriptor)
                guard sent > 0 else {
                    if sent == -Int(EAGAIN) { return setWriting(connection, true) }
                    return noteSendError(Int32(-sent), connection, transfer)
                }
                transfer.direct.bytesSent += Int64(sent)
                if !connection.output.isEmpty { return setWriting(connection, true) }
            }
            guard let upload = connection.upload, let piece = nextPiece(connection, transfer, upload),
                write(piece, connection, transfer)
            else { break }
        }
        // The transfer may have failed.
        guard connection.transfer === transfer, connection.sendError == 0 else { return }
        guard connection.upload == nil, connection.output.isEmpty else {
            return setWriting(connection, !transfer.sent.isPaused)
        }
        setWriting(connection, false)
        guard !connection.isRequestSent else { return }
        connection.isRequestSent = true
        transfer.clock.awaitHead(at: loop.now)
        noteDeadline(of: transfer)
    }

    /// Sends the rest of a request of which the thread of the caller has sent only a part.
    func sendRest(_ rest: [UInt8], of transfer: Transfer, on connection: DirectConnection, error: Int32) {
        guard connection.isPerforming(transfer) else { return }
        transfer.direct.bytesSent -= Int64(rest.count)
        connection.isRequestSent = false
        rest.withUnsafeBytes { connection.output.append($0) }
        connection.holder.store(.loop, ordering: .releasing)
        if error != 0 { noteSendError(error, connection, transfer) } else { send(on: connection) }
    }

    /// Reads the next piece of the body into the send buffer. Returns nil if there is nothing to send now.
    private func nextPiece(
        _ connection: DirectConnection, _ transfer: Transfer, _ upload: any Upload
    ) -> UnsafeRawBufferPointer? {
        let isUpgrade = transfer.plan.upgrade != nil
        // A switched connection has no framing, and nothing is sent before the switch.
        if isUpgrade, !connection.isSwitched {
            connection.upload = nil
            return nil
        }
        let isChunked = upload.length == nil && !isUpgrade
        let size = isUpgrade ? Self.upgradeChunkSize : Self.chunkSize
        switch upload.read(into: UnsafeMutableRawBufferPointer(rebasing: piece[Self.margin...].prefix(size))) {
        case .bytes(let count):
            transfer.sent.bodyBytes += Int64(count)
            if transfer.clock.send(at: loop.now) { noteDeadline(of: transfer) }
            if transfer.sent.bodyBytes == upload.length { connection.upload = nil }
            guard isChunked else { return UnsafeRawBufferPointer(rebasing: piece[Self.margin...].prefix(count)) }
            let head = Array("\(String(count, radix: 16))\r\n".utf8)
            let start = Self.margin - head.count
            UnsafeMutableRawBufferPointer(rebasing: piece[start..<Self.margin]).copyBytes(from: head)
            (piece[Self.margin + count], piece[Self.margin + count + 1]) = (0x0D, 0x0A)
            return UnsafeRawBufferPointer(rebasing: piece[start..<(Self.margin + count + 2)])
        case .end:
            connection.upload = nil
            if isChunked { writeLastChunk(upload.trailers, connection, transfer) }
            return nil
        case .wait:
            guard !transfer.sent.isPaused else { return nil }
            noteHeld(transfer)
            transfer.sent.isPaused = true
            // An upgrade has nothing to send before the response, which the usual timeout for the head limits.
            transfer.clock.isHeld = !isUpgrade
            return nil
        case .failed(let error):
            end(transfer, with: transfer.completed(error))
            return nil
        }
    }

    private func writeLastChunk(_ trailers: HTTPHeaders, _ connection: DirectConnection, _ transfer: Transfer) {
        var text = "0\r\n"
        for field in trailers { text += "\(field.name.text): \(field.value)\r\n" }
        _ = Array((text + "\r\n").utf8).withUnsafeBytes { write($0, connection, transfer) }
    }

    /// Sends bytes, and keeps those that the socket does not accept. Returns whether it has accepted all.
    private func write(
        _ bytes: UnsafeRawBufferPointer, _ connection: DirectConnection, _ transfer: Transfer
    ) -> Bool {
        let sent = curlew_send(connection.descriptor, bytes.baseAddress, bytes.count)
        if sent > 0 { transfer.direct.bytesSent += Int64(sent) }
        if sent == bytes.count { return true }
        guard sent > 0 || sent == -Int(EAGAIN) else {
            noteSendError(Int32(-sent), connection, transfer)
            return false
        }
        connection.output.append(UnsafeRawBufferPointer(rebasing: bytes[max(0, sent)...]))
        return false
    }

    private func setWriting(_ connection: DirectConnection, _ isWriting: Bool) {
        let bits = connection.registered & Self.readable
        register(connection, isWriting ? bits | Self.writable : bits)
    }

    /// Ends sending. The server may have responded before it closed the connection, so receiving goes on.
    private func noteSendError(_ error: Int32, _ connection: DirectConnection, _ transfer: Transfer) {
        connection.sendError = error
        connection.upload = nil
        connection.output.removeAll()
        setWriting(connection, false)
        if transfer.received.isPaused { return }
        receive(on: connection)
    }
}

// MARK: Receiving

extension DirectConnections {
    /// Receives and processes bytes until there are none.
    private func receive(on connection: DirectConnection) {
        for _ in 0..<Self.readLimit {
            guard let transfer = connection.transfer, !transfer.received.isPaused else { return }
            let count = curlew_receive(connection.descriptor, buffer.baseAddress, buffer.count)
            guard count > 0 else {
                return count == -Int(EAGAIN) ? () : endOfConnection(connection, transfer, Int32(-count))
            }
            noteReceived(count, transfer)
            let received = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            if connection.kept.isEmpty {
                guard process(connection, transfer, received) else { return }
            } else {
                connection.kept.append(contentsOf: received)
                let kept = connection.kept
                guard kept.withUnsafeBytes({ process(connection, transfer, $0) }) else { return }
            }
            guard count == buffer.count else { return }
        }
    }

    private func noteReceived(_ count: Int, _ transfer: Transfer) {
        transfer.clock.lastActivity = loop.now
        if transfer.direct.firstByte == 0 { transfer.direct.firstByte = loop.now }
        transfer.direct.bytesReceived += Int64(count)
    }

    /// Processes the bytes that were kept while the reader of the body had no room, then receives more.
    private func receiveKept(on connection: DirectConnection) {
        if !connection.kept.isEmpty, let transfer = connection.transfer {
            let kept = connection.kept
            guard kept.withUnsafeBytes({ process(connection, transfer, $0) }) else { return }
        }
        receive(on: connection)
    }

    /// Parses the bytes that have arrived, and keeps those that cannot be consumed. Returns whether receiving goes on. If
    /// not, the connection may already perform another exchange on the thread of a caller.
    private func process(
        _ connection: DirectConnection, _ transfer: Transfer, _ bytes: UnsafeRawBufferPointer
    ) -> Bool {
        var offset = 0
        if connection.keptContent > 0 {
            offset = connection.keptContent
            guard take(UnsafeRawBufferPointer(rebasing: bytes[..<offset]), connection, transfer) else {
                keep(bytes, from: 0, content: offset, connection, transfer)
                return false
            }
            connection.keptContent = 0
        }
        while true {
            if connection.isSwitched {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
                guard rest.isEmpty || take(rest, connection, transfer) else {
                    keep(bytes, from: offset, content: rest.count, connection, transfer)
                    return false
                }
                if !connection.kept.isEmpty { connection.kept = [] }
                return true
            }
            let event: HTTP1ResponseParser.Event
            do throws(HTTP1ResponseError) {
                event = try connection.parser.next(bytes, &offset, loop.fields)
            } catch {
                end(transfer, with: transfer.ending.isDiscarding ? NetworkError(.cancelled) : transfer.failure(error))
                return false
            }
            switch event {
            case .incomplete:
                keep(bytes, from: offset, content: 0, connection, transfer)
                return true
            case .interim(let status, let headers): noteInterim(status, headers, transfer)
            case .head(let head):
                guard accept(head, connection, transfer) else { return false }
            case .content(let range):
                transfer.direct.contentBytes += Int64(range.count)
                guard take(UnsafeRawBufferPointer(rebasing: bytes[range]), connection, transfer) else {
                    keep(bytes, from: range.lowerBound, content: range.count, connection, transfer)
                    return false
                }
            case .end(let trailers):
                transfer.received.head.accept(trailers: trailers)
                complete(connection, transfer, hasMore: offset < bytes.count)
                return false
            }
        }
    }

    /// Keeps the bytes that have not been consumed. Does nothing if the transfer has failed.
    private func keep(
        _ bytes: UnsafeRawBufferPointer, from offset: Int, content: Int, _ connection: DirectConnection,
        _ transfer: Transfer
    ) {
        guard connection.transfer === transfer else { return }
        // Bytes of which nothing has been consumed are kept already, unless they have just arrived.
        if offset > 0 || connection.kept.count != bytes.count {
            connection.kept = offset < bytes.count ? Array(bytes[offset...]) : []
        }
        connection.keptContent = content
    }

    private func noteInterim(_ status: HTTPStatus, _ headers: HTTPHeaders, _ transfer: Transfer) {
        if status == .continue { transfer.plan.expectation?.permit() }
        if transfer.plan.context.isObserved { add(.event(transfer, .interim(status, headers))) }
    }

    /// Processes the head. Returns false if the transfer has ended.
    private func accept(_ head: HTTP1ResponseHead, _ connection: DirectConnection, _ transfer: Transfer) -> Bool {
        guard !transfer.ending.isDiscarding else { return true }
        if head.framing == .switched {
            guard transfer.plan.upgrade != nil else {
                end(transfer, with: transfer.completed(NetworkError(
                    .badResponse, detail: "The server switched to a protocol that the request did not ask for.")))
                return false
            }
            connection.isSwitched = true
            connection.upload = transfer.plan.upload
        }
        transfer.received.head.accept(head)
        guard transfer.finishHead() else {
            end(transfer, with: transfer.completed(transfer.ending.failure ?? NetworkError(.badResponse)))
            return false
        }
        if connection.isSwitched {
            send(on: connection)
        } else if head.status.code >= 300, !connection.isRequestSent, connection.holder.load(ordering: .acquiring) == .loop
        {
            // The connection ends with the response: the server would read the next request as the rest of this one.
            connection.omitsRest = true
            connection.upload = nil
            setWriting(connection, false)
        }
        return connection.transfer === transfer
    }

    /// Delivers content. Returns false if it must be kept, or if the transfer has ended.
    private func take(
        _ bytes: UnsafeRawBufferPointer, _ connection: DirectConnection, _ transfer: Transfer
    ) -> Bool {
        let taken = transfer.receiveBody(bytes)
        if taken == bytes.count { return true }
        if taken != Int(CURL_WRITEFUNC_PAUSE) {
            end(transfer, with: transfer.completed(transfer.ending.failure ?? NetworkError(.badResponse)))
        }
        return false
    }

    /// Completes an exchange whose response is complete.
    private func complete(_ connection: DirectConnection, _ transfer: Transfer, hasMore: Bool) {
        let isCaller = connection.holder.load(ordering: .acquiring) == .caller
        let keeps = connection.parser.keepsConnection && !hasMore && (isCaller || connection.isRequestSent)
        if transfer.ending.isDiscarding {
            return finish(transfer, on: connection, .failure(NetworkError(.cancelled)), keepsConnection: keeps)
        }
        if transfer.received.decoder?.isComplete == false {
            let error = NetworkError(
                .badResponse, detail: "The body ends before its content coding does: it is truncated.")
            return finish(transfer, on: connection, .failure(transfer.completed(error)), keepsConnection: keeps)
        }
        finish(transfer, on: connection, .success(()), keepsConnection: keeps)
    }

    /// Processes the end of a connection, or its error.
    private func endOfConnection(_ connection: DirectConnection, _ transfer: Transfer, _ error: Int32) {
        // The thread of the caller is about to say what it has sent. The system reports the end again.
        if connection.holder.load(ordering: .acquiring) == .caller { return }
        if error == 0, connection.isSwitched {
            return finish(transfer, on: connection, .success(()), keepsConnection: false)
        }
        if error == 0, let event = try? connection.parser.finish(), case .end(let trailers) = event {
            transfer.received.head.accept(trailers: trailers)
            return complete(connection, transfer, hasMore: true)
        }
        if transfer.ending.isDiscarding { return end(transfer, with: NetworkError(.cancelled)) }
        let hasLeft = transfer.direct.bytesSent > 0
        if connection.isReused, transfer.direct.firstByte == 0, mayRepeat(transfer, hasLeft: hasLeft) {
            return repeatRequest(of: transfer, from: connection)
        }
        end(transfer, with: transfer.lost(hasLeft: hasLeft, error: error != 0 ? error : connection.sendError))
    }

    /// Returns whether the request may be sent again, and rewinds the body. Repeating it must be harmless, or none of it
    /// may have been sent.
    private func mayRepeat(_ transfer: Transfer, hasLeft: Bool) -> Bool {
        (transfer.plan.mayRepeat || !hasLeft) && transfer.plan.upload?.rewind() ?? true
    }

    private func repeatRequest(of transfer: Transfer, from connection: DirectConnection) {
        connection.end()
        disconnect(connection)
        transfer.direct.connection = nil
        transfer.sent.bodyBytes = 0
        noteReleased(transfer)
        transfer.clock.isHeld = false
        let now = TimeoutTracker.now()
        transfer.clock.connectLater(from: now)
        transfer.clock.awaitHead(at: now)
        proceed(transfer)
        noteDeadline(of: transfer)
    }
}
#endif
