// SPDX-License-Identifier: MIT

import CurlewFoundation

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP
import Synchronization

/// An HTTP/1.1 connection of the transport itself, which performs one exchange after the other.
///
///          ┌──▶ caller ──┬──▶ returned ──┐
///          │              │               │
///          │              ├──▶ partial ─┐ │
///          │              ▼             │ ▼
///     idle ┴───────────▶ loop ◀─────────┘ idle
///
/// Each state except `returned` may also change to `lost`.
///
/// `holder` decides which thread may use the properties of an exchange:
/// - `idle`: none. The connection is in a list of idle connections, under the lock of `RequestQueues`.
/// - `caller`: the event loop's thread. The thread of a caller has prepared the exchange and is sending the request; it
///   uses only the descriptor.
/// - `partial`: the same, but a part of the request has not been sent, and a command with it is on the way to the loop.
/// - `loop`: the event loop's thread.
/// - `returned`: the thread of the caller. The loop has received the response before the caller has passed the
///   connection on, so the caller makes the connection idle and releases the slot.
/// - `lost`: the event loop's thread, which removes the connection.
///
/// The descriptor is closed when the last reference is released, so no thread writes to a descriptor that another
/// connection has received in the meantime.
///
/// `@unchecked Sendable` is valid because of this division.
final class DirectConnection: @unchecked Sendable {
    enum Holder: UInt8, AtomicRepresentable {
        case idle, caller, partial, loop, returned, lost
    }

    let descriptor: Int32
    /// The event loop's connections, to which this one belongs.
    let owner: DirectConnections
    /// The queue of the origin, and the index of the loop in it.
    let queue: RequestQueue
    let index: Int
    /// The number of the connection, and its local address.
    let info: ExchangeMetrics.Connection
    let remoteAddress: String?
    /// The time at which the connection was opened, on the monotonic clock.
    let opened: Int64
    let holder = Atomic(Holder.loop)
    /// The time since which the connection is idle; under the lock of `RequestQueues`.
    @exclusivity(unchecked) var idleSince: Int64 = 0
    /// The number of exchanges that have begun on the connection.
    @exclusivity(unchecked) private(set) var uses = 0
    @exclusivity(unchecked) private(set) var transfer: Transfer?
    @exclusivity(unchecked) var parser: HTTP1ResponseParser
    /// The received bytes that the parser has not consumed, or that the reader of the body has no room for.
    @exclusivity(unchecked) var kept: [UInt8] = []
    /// The number of bytes at the beginning of `kept` that are content.
    @exclusivity(unchecked) var keptContent = 0
    /// Bytes of the request that the socket has not accepted.
    @exclusivity(unchecked) var output = OutputBuffer()
    /// The body that is being sent; nil once it is complete.
    @exclusivity(unchecked) var upload: (any Upload)?
    /// Whether the complete request has been sent.
    @exclusivity(unchecked) var isRequestSent = false
    /// Whether the rest of the request is not sent, because the response has made it superfluous.
    @exclusivity(unchecked) var omitsRemainder = false
    /// The error of the socket that has ended sending; 0 if there was none.
    @exclusivity(unchecked) var sendError: Int32 = 0
    /// The error of the socket that has ended receiving; 0 if there was none.
    @exclusivity(unchecked) var receiveError: Int32 = 0
    /// Whether the server has switched to another protocol.
    @exclusivity(unchecked) var isSwitched = false
    /// The events for which the socket is registered, as `epoll` bits.
    @exclusivity(unchecked) var registered: UInt32 = 0
    /// The tag of the connection's events.
    @exclusivity(unchecked) var tag: UInt64 = 0

    init(
        _ descriptor: Int32, owner: DirectConnections, queue: RequestQueue, index: Int, remoteAddress: String?,
        localAddress: String?, at now: Int64
    ) {
        self.descriptor = descriptor
        self.owner = owner
        self.queue = queue
        self.index = index
        self.remoteAddress = remoteAddress
        opened = now
        info = ExchangeMetrics.Connection(id: ExchangeMetrics.Connection.nextNumber(), localAddress: localAddress)
        parser = HTTP1ResponseParser(maximumHeadBytes: 0, maximumFields: 0)
    }

    deinit { close(descriptor) }

    /// Whether an exchange was performed on the connection before the current one.
    var isReused: Bool { uses > 1 }

    /// Whether neither bytes nor the end of the connection have arrived while it was idle. Bytes would belong to no
    /// request: a parser would take them for the response to the next one.
    var isSilent: Bool { curlew_is_silent(descriptor) != 0 }

    /// Begins an exchange. The request must be written next.
    func begin(_ transfer: Transfer, at now: Int64) {
        uses += 1
        self.transfer = transfer
        isRequestSent = false
        omitsRemainder = false
        sendError = 0
        upload = transfer.plan.upload
        let limits = transfer.plan.context.limits
        parser = HTTP1ResponseParser(maximumHeadBytes: limits.headerBytes, maximumFields: limits.headerCount)
        parser.begin(transfer.plan.request.method)
        transfer.connection.info = info
        transfer.direct.begin(on: self, at: now)
        transfer.sent.begin(measuring: false)
        guard transfer.plan.context.observesConnections else { return }
        if transfer.connection.opens() { transfer.plan.context.record(.connecting(.opened)) }
        _ = transfer.connection.becomesReady()
        transfer.plan.context.record(.connecting(.ready(info)))
    }

    /// Ends the exchange. The connection can begin another one if its response was complete.
    func end() {
        transfer = nil
        upload = nil
        if !kept.isEmpty { kept = [] }
        keptContent = 0
        if !output.isEmpty { output = OutputBuffer() }
    }

    /// Ends a connection that is in no list and has no exchange, from any thread. The event loop removes it when it
    /// finds that it has ended.
    func abandon() {
        holder.store(.lost, ordering: .releasing)
        curlew_end_connection(descriptor)
    }
}

/// The bytes of a request that the socket has not accepted.
struct OutputBuffer {
    private(set) var bytes: [UInt8] = []
    private var start = 0

    var isEmpty: Bool { start == bytes.count }

    mutating func append(_ more: UnsafeRawBufferPointer) {
        if isEmpty { removeAll() }
        bytes.append(contentsOf: more)
    }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        start = 0
    }

    /// Sends as much as the socket accepts. Returns the number of bytes, or the error of the socket.
    mutating func send(to descriptor: Int32) -> Int {
        let sent = bytes.withUnsafeBytes {
            curlew_send(descriptor, $0.baseAddress.map { $0 + start }, $0.count - start)
        }
        if sent > 0 { start += sent }
        return sent
    }
}

/// The part of a transfer's state that only the transport's own connections need: what has been measured, and where the
/// transfer is.
struct DirectExchange {
    /// The connection that the transfer uses. Written under the lock of `RequestQueues` while a caller's thread may use
    /// the transfer.
    var connection: DirectConnection?
    /// The attempt to open a connection for the transfer.
    var connector: Connector?
    /// The durations of the name lookup and of connecting, in nanoseconds.
    var lookupTime: Int64 = 0
    var connectTime: Int64 = 0
    var connectionsOpened = 0
    var isReused: Bool?
    var remoteAddress: String?
    /// The time at which the request was ready to be sent, and that of the first byte of the response; 0 until then.
    var ready: Int64 = 0
    var firstByte: Int64 = 0
    var bytesSent: Int64 = 0
    var bytesReceived: Int64 = 0
    /// The number of bytes of the content that have been received.
    var contentBytes: Int64 = 0

    /// Records that the request is ready to be sent on a connection.
    fileprivate mutating func begin(on connection: DirectConnection, at now: Int64) {
        isReused = connection.isReused
        remoteAddress = connection.remoteAddress
        ready = now
        firstByte = 0
        bytesSent = 0
        bytesReceived = 0
        contentBytes = 0
    }
}

extension Transfer {
    /// Returns the metrics of a transfer on one of the transport's own connections, as measured until `now`.
    func directMetrics(until now: Int64) -> ExchangeMetrics {
        var metrics = ExchangeMetrics()
        metrics.queue = clock.queued(at: now)
        metrics.nameLookup = .nanoseconds(direct.connector?.lookupTime(at: now) ?? direct.lookupTime)
        metrics.connect = .nanoseconds(direct.connector?.connectTime(at: now) ?? direct.connectTime)
        metrics.secureConnect = .zero
        let first = direct.firstByte > 0 ? direct.firstByte : now
        metrics.firstByte = .nanoseconds(direct.ready > 0 ? max(0, first - direct.ready) : 0)
        metrics.transfer = .nanoseconds(max(0, now - first))
        metrics.total = clock.elapsed(at: now)
        metrics.bytesSent = direct.bytesSent
        metrics.bytesReceived = direct.bytesReceived
        metrics.reusedConnection = direct.isReused
        metrics.connectionsOpened = direct.connectionsOpened
        metrics.remoteAddress = direct.remoteAddress
        metrics.version = received.hasHead ? received.head.version : nil
        metrics.connection = connection.info
        return metrics
    }
}
#endif
