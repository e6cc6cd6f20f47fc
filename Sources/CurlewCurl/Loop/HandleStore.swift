// SPDX-License-Identifier: MIT

import CurlewFoundation

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP

/// The reusable easy handles of a multi handle, and the sockets that libcurl opens for them. Used only on the event
/// loop's thread.
final class HandleStore {
    unowned let owner: MultiHandle
    private var loop: EventLoop { owner.loop }
    private var poller: SocketPoller { owner.poller }
    private let sessions = SessionStore()
    @exclusivity(unchecked) private var idle: [EasyHandle] = []
    @exclusivity(unchecked) private var peak = RecentPeak()
    @exclusivity(unchecked) private var mayHaveLost = false
    @exclusivity(unchecked) private var nextRecount: Int64 = 0

    private static let idleLimit = 256

    init(of owner: MultiHandle) {
        self.owner = owner
    }

    /// Returns a handle from the store, or a new one. Returns nil if libcurl is out of memory.
    func take() -> EasyHandle? {
        if let easy = idle.popLast() { return easy }
        let easy = EasyHandle(configuration: loop.configuration, proxies: loop.proxies, store: self, sessions: sessions)
        if easy != nil { loop.gauges.handles += 1 }
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

    /// Releases the handles beyond `limit`. Called when the event loop has been idle for 10 s.
    func dropSurplus(beyond limit: Int = HandleStore.idleLimit) {
        let count = max(0, idle.count - limit)
        loop.gauges.handles -= count
        idle.removeLast(count)
    }

    /// Updates the limit of idle connections after the number of transfers has changed.
    ///
    /// libcurl's limit also counts connections in use. So the limit follows the maximum number of transfers in the last
    /// ten seconds. Connections that many calls use in turn are then not closed between two calls.
    func noteActive(_ count: Int, at now: Int64) {
        guard peak.note(count, at: now) else { return }
        let limit = min(loop.configuration.pool.idle, 1 << 20) + peak.value
        curlew_multi_set_long(owner.pointer, CURLMOPT_MAXCONNECTS, limit)
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
    /// nothing over HTTP/2: the connection also serves other transfers, and flow control limits the single stream. If
    /// the socket of a Unix domain socket is unknown, this happens when libcurl announces it.
    func hold(_ transfer: Transfer, _ isHeld: Bool) {
        guard transfer.received.head.version != .http2, let socket = transfer.connection.socket else { return }
        poller.hold(socket, isHeld)
    }

    /// Opens a close-on-exec socket; libcurl 7.88 does not set the flag.
    func open(_ address: curl_sockaddr, for transfer: Transfer) -> curl_socket_t {
        let descriptor = socket(address.family, address.socktype | Int32(SOCK_CLOEXEC.rawValue), address.protocol)
        transfer.connection.lacksDescriptor = descriptor < 0 && (errno == EMFILE || errno == ENFILE)
        guard descriptor >= 0 else { return descriptor }
        loop.gauges.connections += poller.opened(descriptor) ? 0 : 1
        loop.gauges.connectionsOpened += 1
        return descriptor
    }

    fileprivate func closeOne(_ descriptor: curl_socket_t) -> Int32 {
        loop.gauges.connections -= 1
        poller.closed(descriptor)
        return close(descriptor)
    }
}

/// The TLS sessions that the handles of one event loop share, so that a new connection can resume a session no matter
/// which handle opened the earlier connection. libcurl before 8.12 keeps sessions per handle; later versions keep them
/// with the connections.
///
/// The store needs no locks, because one thread uses all of these handles. The handles retain the store, which must not
/// be released before them.
final class SessionStore {
    let pointer: OpaquePointer

    /// Creates a store. Returns nil if this libcurl needs no store, or if memory is exhausted.
    init?() {
        guard CurlLibrary.current.keepsSessionsByHandle, let pointer = curlew_session_store() else { return nil }
        self.pointer = OpaquePointer(pointer)
    }

    deinit {
        curl_share_cleanup(UnsafeMutableRawPointer(pointer))
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

/// Opens a socket for libcurl, if the address policy allows the address.
///
/// libcurl connects to the passed address next, regardless of earlier and later lookups.
func openSocket(
    _ context: UnsafeMutableRawPointer?, _ purpose: curlsocktype, _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    withTransfer(context, otherwise: -1) { transfer in
        guard let address, let easy = transfer.easy else { return -1 }
        let name = AddressText { curlew_curl_address(address, $0, $1) }
        let target = IPAddress(name.string)
        guard transfer.mayConnect(to: target) else { return -1 }
        transfer.noteTrying(
            target.map { ExchangeMetrics.Connection.addressText("\($0)", Int(name.port)) } ?? transfer.plan.owner
                .configuration.unixSocket ?? "")
        return easy.store.open(address.pointee, for: transfer)
    }
}

/// Closes a socket for libcurl. Connections outlive the handle that opened them, but not the multi handle, which closes
/// them before it is released: the context is its store.
func closeSocket(_ context: UnsafeMutableRawPointer?, _ descriptor: curl_socket_t) -> Int32 {
    guard let context else { return close(descriptor) }
    return Unmanaged<HandleStore>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.closeOne(descriptor) }
}
#endif
