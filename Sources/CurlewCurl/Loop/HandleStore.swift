// SPDX-License-Identifier: MIT

import CurlewFoundation

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP

/// The reusable easy handles of a multi handle, and the sockets that libcurl opens for them. Used only on the event
/// loop's thread.
final class HandleStore {
    private unowned let loop: EventLoop
    private let multi: UnsafeMutableRawPointer
    private let poller: SocketPoller
    /// The known properties of the open connections.
    @exclusivity(unchecked) var book = ConnectionBook()
    private let sessions = SessionStore()
    @exclusivity(unchecked) private var idle: [EasyHandle] = []
    @exclusivity(unchecked) private var peak = RecentPeak()
    @exclusivity(unchecked) private var mayHaveLost = false
    @exclusivity(unchecked) private var nextRecount: Int64 = 0

    private static let idleLimit = 256

    init(loop: EventLoop, multi: UnsafeMutableRawPointer, poller: SocketPoller) {
        (self.loop, self.multi, self.poller) = (loop, multi, poller)
    }

    /// Returns a handle from the store, or a new one. Returns nil if libcurl is out of memory.
    func take() -> EasyHandle? {
        if let easy = idle.popLast() { return easy }
        guard let easy = EasyHandle(configuration: loop.configuration, proxies: loop.proxies) else { return nil }
        // Connections outlive the handle that opened them, but not the multi handle, which closes them before it is
        // released.
        let codes = [
            curlew_set_open_socket_callback(easy.pointer, openSocket),
            curlew_set_close_socket_callback(easy.pointer, closeSocket),
            curlew_set_pointer(easy.pointer, CURLOPT_OPENSOCKETDATA, easy.pointer),
            curlew_set_pointer(easy.pointer, CURLOPT_CLOSESOCKETDATA, Unmanaged.passUnretained(self).toOpaque()),
        ]
        guard codes.allSatisfy({ $0 == CURLE_OK }), easy.share(sessions) else { return nil }
        loop.gauges.handles += 1
        return easy
    }

    /// Keeps a handle for reuse. Discards it if `idleLimit` handles, and as many as the recent peak of transfers, are
    /// already kept.
    func putBack(_ easy: EasyHandle) {
        if idle.count < max(Self.idleLimit, peak.value) { idle.append(easy) } else { drop() }
    }

    /// Records that a handle from `take` is discarded.
    func drop() {
        loop.gauges.handles -= 1
    }

    /// Whether more than `idleLimit` handles are kept, because of an earlier peak of transfers.
    var hasSurplus: Bool { idle.count > Self.idleLimit }

    /// Releases the handles beyond `idleLimit`. Called when the event loop has been idle for 10 s.
    func dropSurplus() {
        guard hasSurplus else { return }
        loop.gauges.handles -= idle.count - Self.idleLimit
        idle.removeLast(idle.count - Self.idleLimit)
    }

    func removeAll() {
        loop.gauges.handles -= idle.count
        idle = []
    }

    /// Updates the limit of idle connections after the number of transfers has changed.
    ///
    /// libcurl's limit also counts connections in use. So the limit follows the maximum number of transfers in the last
    /// ten seconds. Connections that many calls use in turn are then not closed between two calls.
    func noteActive(_ count: Int, at now: Int64) {
        guard peak.note(count, at: now) else { return }
        curlew_multi_set_long(multi, CURLMOPT_MAXCONNECTS, min(loop.configuration.pool.idle, 1 << 20) + peak.value)
    }

    /// Schedules a recount of the open connections, at most once a second while there are transfers. libcurl reports
    /// each connection that ends, but not each failed attempt to open one.
    func noteLostAttempt() { mayHaveLost = true }

    func recount(at now: Int64, isIdle: Bool) {
        guard mayHaveLost, isIdle || now >= nextRecount else { return }
        mayHaveLost = false
        nextRecount = now + 1_000_000_000
        loop.gauges.connections -= poller.forgetClosed()
    }

    /// Marks the connection of a successful HTTP/1.1 transfer as idle, unless libcurl has closed it.
    func noteIdleConnection(of transfer: Transfer) {
        guard transfer.received.head.version != .http2, let socket = transfer.connection.socket else { return }
        poller.noteIdle(socket)
    }

    /// Suspends receiving for an HTTP/1.1 transfer until its reader takes the buffered bytes, or resumes it. Does
    /// nothing over HTTP/2: the connection also serves other transfers, and flow control limits the single stream.
    func hold(_ transfer: Transfer, _ isHeld: Bool) {
        guard transfer.received.head.version != .http2 else { return }
        if transfer.connection.socket.map(poller.isOpen) != true, isHeld {
            transfer.connection.socket = transfer.easy.flatMap(ConnectionName.init(of:)).flatMap(poller.socket)
        }
        if transfer.received.holdsUnnamed || (isHeld && transfer.connection.socket == nil) {
            guard transfer.received.holdsUnnamed != isHeld else { return }
            transfer.received.holdsUnnamed = isHeld
            poller.holdUnnamed(isHeld)
        } else if let socket = transfer.connection.socket {
            poller.hold(socket, isHeld)
        }
    }

    /// Opens a close-on-exec socket; libcurl 7.88 does not set the flag.
    fileprivate func open(_ address: curl_sockaddr, for transfer: Transfer) -> curl_socket_t {
        let descriptor = socket(address.family, address.socktype | Int32(SOCK_CLOEXEC.rawValue), address.protocol)
        transfer.connection.lacksDescriptor = descriptor < 0 && (errno == EMFILE || errno == ENFILE)
        guard descriptor >= 0 else { return descriptor }
        loop.gauges.connections += poller.opened(descriptor) ? 0 : 1
        loop.gauges.connectionsOpened += 1
        book.opened(descriptor)
        return descriptor
    }

    fileprivate func closeOne(_ descriptor: curl_socket_t) {
        loop.gauges.connections -= 1
        poller.closed(descriptor)
        book.forget(descriptor)
    }
}

/// The recent maximum of the recorded numbers, rounded up to a multiple of 64. It rises immediately, and falls at most
/// once every ten seconds.
struct RecentPeak {
    private(set) var value = 0
    private var peak = 0
    private var nextFall: Int64 = 0

    /// Records a number. Returns whether `value` has changed. `now` is in nanoseconds.
    mutating func note(_ count: Int, at now: Int64) -> Bool {
        peak = max(peak, count)
        let isDue = now >= nextFall
        guard count > value || isDue else { return false }
        let former = value
        value = (peak + 63) / 64 * 64
        if isDue {
            peak = count
            nextFall = now + 10_000_000_000
        }
        return value != former
    }
}

/// Opens a socket for libcurl, if the address policy allows the address. The context is libcurl's handle.
///
/// libcurl connects to the passed address next, regardless of earlier and later lookups.
private func openSocket(
    _ context: UnsafeMutableRawPointer?, _ purpose: curlsocktype, _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let context, let address, let transfer = curlew_info_pointer(context, CURLINFO_PRIVATE) else { return -1 }
    return Unmanaged<Transfer>.fromOpaque(transfer)._withUnsafeGuaranteedRef { transfer in
        let target = IPAddress(address)
        guard transfer.mayConnect(to: target), let multi = transfer.multi else { return -1 }
        let port = UnsafePointer(address).port
        transfer.noteTrying(target.map { ExchangeMetrics.Connection.addressText("\($0)", port) } ?? transfer.unixSocket)
        return multi.handles.open(address.pointee, for: transfer)
    }
}

private func closeSocket(_ context: UnsafeMutableRawPointer?, _ descriptor: curl_socket_t) -> Int32 {
    if let context {
        Unmanaged<HandleStore>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.closeOne(descriptor) }
    }
    return close(descriptor)
}
#endif
