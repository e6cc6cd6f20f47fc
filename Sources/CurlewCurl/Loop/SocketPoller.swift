// SPDX-License-Identifier: MIT

import CurlewFoundation

#if os(Linux)
import CCurl
import CurlewCore

/// A poller that waits for libcurl's sockets and timer, and lets libcurl process those that are ready. It uses `epoll`
/// and `curl_multi_socket_action`.
///
/// The simpler functions `curl_multi_perform` and `curl_multi_poll` examine every transfer on each call.
/// `curl_multi_socket_action` examines only transfers that have something to do. The difference matters for a server
/// with a thousand concurrent calls.
///
/// Changes that libcurl requests are recorded and passed to the system just before the next wait, so that a socket that
/// ends one request and begins another needs no system call. For the same reason a socket stays registered between
/// requests. Sockets are level-triggered, because libcurl may deliberately leave bytes unread.
///
/// An HTTP/1.1 connection that becomes readable while no transfer uses it has ended, or the server has sent bytes that
/// belong to no request. libcurl before 8.0 would read these bytes as the response to the next request, and the
/// response to that request as the response to the one after it. From 8.17 on, libcurl can do so within a second of the
/// last use. So the poller ends such a connection, and libcurl uses another one. The poller checks when the system
/// reports an event, and again just before a request is sent: reports arrive for 256 sockets at a time, and libcurl may
/// send a request again in between.
///
/// Used only on the event loop's thread.
final class SocketPoller {
    private struct Socket {
        /// The events that libcurl waits for, as `epoll` bits.
        var wanted: UInt32 = 0
        /// The events that are registered with the system.
        var registered: UInt32 = 0
        /// Whether the transport opened the socket and is notified when it closes. Other sockets, such as those of a
        /// name lookup, open and close without notice.
        var isOurs = false
        var name: ConnectionName?
        /// The known properties of the connection, once it is ready for its first request.
        var info: ExchangeMetrics.Connection?
        /// Whether a transfer has ended successfully on this HTTP/1.1 connection and none has used it since.
        var isIdle = false
        /// Whether receiving is suspended until the reader of the only transfer takes the buffered bytes, whatever
        /// libcurl waits for. libcurl 8.5.0 continues to wait for bytes of a paused transfer, and buffers what it
        /// reads.
        var isHeld = false
        /// The events that must be registered with the system.
        var effective: UInt32 { isHeld ? wanted & ~EPOLLIN.rawValue : wanted }
        /// Whether the poller has ended the connection and libcurl has not closed it yet.
        var isEnded = false
        /// Whether the socket is in the list of changes.
        var isNoted = false
    }

    private let multi: UnsafeMutableRawPointer
    let poll: Int32
    /// Indexed by descriptor: descriptors are small and reused.
    @exclusivity(unchecked) private var sockets: [Socket] = []
    @exclusivity(unchecked) private var changes: [Int32] = []
    /// The sockets of the connections that have been used, by name.
    @exclusivity(unchecked) private(set) var known: [ConnectionName: Int32] = [:]
    /// The socket that was opened last.
    @exclusivity(unchecked) private(set) var latest: Int32?
    @exclusivity(unchecked) private var shared = SharedConnections()
    @exclusivity(unchecked) private var forgotten = ForgottenBytes()
    @exclusivity(unchecked) private var fault: CURLMcode?
    /// The number of connections that the poller has ended and libcurl still holds.
    @exclusivity(unchecked) private(set) var endedCount = 0
    private let events: UnsafeMutablePointer<epoll_event>
    /// The number of ready sockets that the last wait has found.
    @exclusivity(unchecked) private(set) var eventCount = 0
    /// The deadline of libcurl's timer; `Int64.max` if it is not set.
    @exclusivity(unchecked) private var timer = Int64.max
    /// The next call of libcurl without an event.
    var nextCall: Int64 { min(timer, forgotten.nextCheck) }

    private static let eventLimit = 256
    private static let readable = EPOLLIN.rawValue
    private static let writable = EPOLLOUT.rawValue

    /// Creates a poller for a multi handle. Returns nil if the system has no descriptor left. Writing to `wakeUp` ends
    /// a wait. libcurl must be cleaned up before the poller is released.
    init?(multi: UnsafeMutableRawPointer, wakeUp: Int32) {
        poll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard poll >= 0 else { return nil }
        self.multi = multi
        events = .allocate(capacity: Self.eventLimit)
        // Edge-triggered: each write ends one wait, and the written bytes need not be read.
        guard register(wakeUp, Self.readable | EPOLLET.rawValue, isNew: true) else { return nil }
        let context = Unmanaged.passUnretained(self).toOpaque()
        curlew_multi_set_pointer(multi, CURLMOPT_SOCKETDATA, context)
        curlew_multi_set_pointer(multi, CURLMOPT_TIMERDATA, context)
        curlew_multi_set_socket_callback(multi, CURLMOPT_SOCKETFUNCTION, noteSocket)
        curlew_multi_set_timer_callback(multi, CURLMOPT_TIMERFUNCTION, noteTimer)
    }

    deinit {
        close(poll)
        events.deallocate()
    }

    /// Lets libcurl process its timer: it begins new transfers and detects timeouts.
    ///
    /// - `beginning`: the number of transfers that begin. libcurl writes the requests of a shared connection one by
    ///   one. If there are several per connection, the system combines them into few segments, which is cheaper for
    ///   both sides.
    func workOnTimer(at now: Int64, beginning count: Int) {
        guard timer <= now else { return }
        timer = .max
        let joins = shared.count > 0 && count >= 2 * shared.count
        if joins { setJoining(true) }
        act(CURL_SOCKET_TIMEOUT, 0)
        if joins { setJoining(false) }
    }

    /// Marks a connection that several transfers may use at the same time.
    func noteShared(_ socket: Int32, at now: Int64) {
        guard isOpen(socket) else { return }
        shared.insert(socket, at: now)
        forgotten.insert(socket, at: now)
    }

    /// Marks an HTTP/1.1 connection as idle after a transfer has ended successfully on it.
    func noteIdle(_ socket: Int32) {
        guard isOpen(socket), !shared.contains(socket) else { return }
        let index = Int(socket)
        guard sockets[index].wanted == 0, !sockets[index].isHeld, !sockets[index].isIdle else { return }
        sockets[index].isIdle = true
        if sockets[index].registered != Self.readable { noteChange(of: index) }
    }

    /// Ends an idle connection on which bytes have arrived after the last response. Called when a request is about to
    /// be sent on it.
    func beginUse(of socket: Int32) {
        if isOpen(socket), sockets[Int(socket)].isIdle, curlew_is_silent(socket) == 0 { end(socket) }
    }

    /// Suspends or resumes reading for the only transfer of a connection.
    func hold(_ socket: Int32, _ isHeld: Bool) {
        guard isOpen(socket), sockets[Int(socket)].isHeld != isHeld else { return }
        sockets[Int(socket)].isHeld = isHeld
        sockets[Int(socket)].isIdle = false
        let effective = sockets[Int(socket)].effective
        if effective != 0, effective != sockets[Int(socket)].registered { noteChange(of: Int(socket)) }
    }

    func info(of socket: Int32) -> ExchangeMetrics.Connection? { isOpen(socket) ? sockets[Int(socket)].info : nil }

    /// Records the properties of a connection and its name; the name is nil for a Unix domain socket.
    func note(_ info: ExchangeMetrics.Connection, _ name: ConnectionName?, of socket: Int32) {
        guard isOpen(socket) else { return }
        sockets[Int(socket)].info = info
        guard let name else { return }
        sockets[Int(socket)].name = name
        known[name] = socket
    }

    /// Returns the open socket of a connection, or nil if there is none. Used for a transfer that begins and pauses
    /// within one call of libcurl, which then does not announce the socket.
    func socket(of connection: ConnectionName) -> Int32? {
        sockets.indices.first { name(at: $0) == connection }.map { Int32($0) }
    }

    /// Returns the name of a connection; nil if the socket is not connected. The system is queried once per connection.
    private func name(at index: Int) -> ConnectionName? {
        guard sockets[index].isOurs else { return nil }
        if sockets[index].name == nil { sockets[index].name = ConnectionName(of: Int32(index)) }
        return sockets[index].name
    }

    /// Returns the name of the connection of an open socket, or nil if the transport did not open the socket.
    func name(of socket: Int32) -> ConnectionName? {
        isOpen(socket) ? name(at: Int(socket)) : nil
    }

    /// Handles a late response on a possibly shared connection; see `SharedConnections.isDead`. A dead connection is
    /// shut down, which ends the other transfers on it.
    func giveUp(_ socket: Int32, lateSince moment: Int64, isAlone: @autoclosure () -> Bool, at now: Int64) {
        guard shared.contains(socket) else { return }
        if shared.isDead(socket, lateSince: moment, isAlone: isAlone(), at: now) { curlew_end_connection(socket) }
    }

    /// Returns whether the transport opened the socket and, as far as it knows, the socket is still open.
    func isOpen(_ socket: Int32) -> Bool {
        sockets.indices.contains(Int(socket)) && sockets[Int(socket)].isOurs
    }

    /// Starts or ends the joining of writes to shared connections (TCP_CORK). Writes are delayed until the joining
    /// ends. Sockets other than TCP reject the option; this is harmless.
    private func setJoining(_ isOn: Bool) {
        var value: Int32 = isOn ? 1 : 0
        for socket in shared.sockets {
            setsockopt(socket, Int32(IPPROTO_TCP), TCP_CORK, &value, socklen_t(MemoryLayout<Int32>.size))
        }
    }

    /// Makes events of another instance of `epoll` end a wait of this poller. They must be fetched from that instance.
    func watch(_ descriptor: Int32) -> Bool {
        register(descriptor, Self.readable, isNew: true)
    }

    /// Lets libcurl process the sockets that the last wait has found, and those that exceeded the event limit.
    func workOnSockets(at now: Int64) {
        // The number of rounds is limited, because data that libcurl leaves unread is reported each time.
        for round in 0...sockets.count / Self.eventLimit {
            if round > 0 {
                guard eventCount == Self.eventLimit else { break }
                find(within: 0)
            }
            for index in 0..<eventCount {
                let event = events[index]
                let socket = Int32(truncatingIfNeeded: event.data.u64)
                let bits = action(event.events, on: socket)
                guard bits != 0 else { continue }
                if bits & CURL_CSELECT_IN != 0 { shared.noteHeard(socket, at: now) }
                forgotten.noteStir(socket, at: now)
                act(socket, bits)
            }
        }
        eventCount = 0
    }

    /// Whether several transfers may use a connection at the same time.
    var hasShared: Bool { shared.count > 0 }

    /// Lets libcurl read from the shared connections of transfers that wait for bytes.
    func readShared() {
        let waiting = shared.sockets.filter { sockets[Int($0)].effective & Self.readable != 0 }
        for socket in waiting where shared.contains(socket) { act(socket, CURL_CSELECT_IN) }
    }

    /// Lets libcurl read from connections on which it may have forgotten bytes.
    func checkSilentSockets(at now: Int64) {
        guard forgotten.nextCheck <= now else { return }
        let due = forgotten.takeDue(at: now) { sockets[Int($0)].wanted & Self.readable != 0 }
        for socket in due { act(socket, CURL_CSELECT_IN) }
    }

    private func act(_ socket: Int32, _ bits: Int32) {
        var running: Int32 = 0
        let code = curl_multi_socket_action(multi, socket, bits, &running)
        if code != CURLM_OK { fault = code }
    }

    /// Returns and clears the last failure of libcurl. It is unknown how much of the work was done before the failure.
    func takeFault() -> CURLMcode? {
        defer { fault = nil }
        return fault
    }

    /// Waits until a socket is ready, `wakeUp` is written to, or `milliseconds` have passed.
    func wait(_ milliseconds: Int32) {
        applyChanges()
        find(within: milliseconds)
    }

    private func find(within milliseconds: Int32) {
        eventCount = max(0, Int(epoll_wait(poll, events, Int32(Self.eventLimit), milliseconds)))
    }

    /// Registers a new socket. Returns whether its descriptor belonged to an earlier socket whose end was not reported.
    func opened(_ socket: Int32) -> Bool {
        makeRoom(for: socket)
        forget(socket)
        let former = sockets[Int(socket)]
        sockets[Int(socket)] = Socket(wanted: former.wanted, isOurs: true, isNoted: former.isNoted)
        latest = socket
        return former.isOurs
    }

    /// Unregisters a socket that is about to be closed. If a forked child also has the socket, closing alone does not
    /// unregister it: the system would continue to report it, and this thread would never wait again.
    func closed(_ socket: Int32) {
        guard sockets.indices.contains(Int(socket)) else { return }
        if sockets[Int(socket)].registered != 0 { unregister(socket) }
        forget(socket)
        sockets[Int(socket)] = Socket(isNoted: sockets[Int(socket)].isNoted)
    }

    /// Removes the sockets that were closed without a report and whose descriptors are free. Returns their number.
    func forgetClosed() -> Int {
        let closed = sockets.indices.filter { sockets[$0].isOurs && fcntl(Int32($0), F_GETFD) < 0 }
        for index in closed { self.closed(Int32(index)) }
        return closed.count
    }

    private func forget(_ socket: Int32) {
        noteEnded(socket, false)
        if let name = sockets[Int(socket)].name, known[name] == socket { known[name] = nil }
        shared.remove(socket)
        forgotten.remove(socket)
    }

    private func noteEnded(_ socket: Int32, _ isEnded: Bool) {
        guard sockets[Int(socket)].isEnded != isEnded else { return }
        sockets[Int(socket)].isEnded = isEnded
        endedCount += isEnded ? 1 : -1
    }

    /// Records the events that libcurl waits for at `socket`.
    func want(_ bits: UInt32, at socket: Int32) {
        guard socket >= 0 else { return }
        makeRoom(for: socket)
        let index = Int(socket)
        sockets[index].wanted = bits
        if bits == 0, !sockets[index].isOurs {
            if sockets[index].registered != 0 { unregister(socket) }
        } else if bits != 0 {
            sockets[index].isIdle = false
            if bits != sockets[index].registered { noteChange(of: index) }
        }
    }

    /// Schedules a change for the next wait.
    private func noteChange(of index: Int) {
        guard !sockets[index].isNoted else { return }
        sockets[index].isNoted = true
        changes.append(Int32(index))
    }

    fileprivate func setTimer(_ milliseconds: Int) {
        timer = milliseconds < 0 ? .max : TimeoutTracker.moment(after: .milliseconds(milliseconds))
    }

    /// Returns the bits to pass to libcurl for an event; 0 if libcurl must not be called.
    private func action(_ found: UInt32, on socket: Int32) -> Int32 {
        guard sockets.indices.contains(Int(socket)) else { return 0 }
        let wanted = sockets[Int(socket)].effective
        guard wanted != 0 else {
            // No transfer uses the socket, or only a paused one, unless a change is not registered yet.
            if sockets[Int(socket)].registered != 0 { unregister(socket) }
            if sockets[Int(socket)].isIdle { endIdle(socket, found: found) }
            return 0
        }
        // Events that are withheld from a paused transfer need not be reported by the system.
        if sockets[Int(socket)].isHeld, found & Self.readable != 0 { noteChange(of: Int(socket)) }
        let isBroken = found & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0
        let ready = (sockets[Int(socket)].isHeld ? found & ~Self.readable : found) | (isBroken ? wanted : 0)
        return (ready & Self.readable != 0 ? CURL_CSELECT_IN : 0) | (ready & Self.writable != 0 ? CURL_CSELECT_OUT : 0)
            | (isBroken ? CURL_CSELECT_ERR : 0)
    }

    /// Handles an event on an idle connection: it has ended, or bytes arrived that belong to no request.
    private func endIdle(_ socket: Int32, found: UInt32) {
        if found & ~Self.writable == 0 { noteChange(of: Int(socket)) } else { end(socket) }
    }

    /// Shuts a connection down and discards its bytes, because libcurl detects the end only after the last byte. The
    /// number of bytes is finite: the system accepts none after the shutdown.
    private func end(_ socket: Int32) {
        noteEnded(socket, true)
        curlew_end_connection(socket)
        withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 1) { buffer in
            while curlew_receive(socket, buffer.baseAddress, buffer.count) > 0 {}
        }
    }

    func applyChanges() {
        // Registrations that the system refuses for lack of memory or watches are retried before the next wait.
        var refused: [Int32] = []
        for socket in changes {
            let index = Int(socket)
            sockets[index].isNoted = false
            let wanted = sockets[index].isIdle ? Self.readable : sockets[index].effective
            guard wanted != 0, wanted != sockets[index].registered else { continue }
            let isNew = sockets[index].registered == 0
            // The descriptor may have been reused without notice. Then the other operation is required.
            if register(socket, wanted, isNew: isNew) || register(socket, wanted, isNew: !isNew) {
                sockets[index].registered = wanted
            } else if errno == ENOMEM || errno == ENOSPC {
                sockets[index].isNoted = true
                refused.append(socket)
            }
        }
        changes.removeAll(keepingCapacity: true)
        changes += refused
    }

    private func register(_ socket: Int32, _ bits: UInt32, isNew: Bool) -> Bool {
        curlew_poll_socket(poll, isNew ? 0 : 1, socket, bits, UInt64(socket)) == 0
    }

    private func unregister(_ socket: Int32) {
        sockets[Int(socket)].registered = 0
        _ = curlew_poll_socket(poll, 2, socket, 0, 0)
    }

    private func makeRoom(for socket: Int32) {
        let missing = Int(socket) + 1 - sockets.count
        if missing > 0 { sockets.append(contentsOf: repeatElement(Socket(), count: missing + 64)) }
    }
}

private func noteSocket(
    _ easy: UnsafeMutableRawPointer?, _ socket: curl_socket_t, _ action: Int32, _ context: UnsafeMutableRawPointer?,
    _ own: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context else { return 0 }
    let bits =
        (action & CURL_POLL_IN != 0 ? EPOLLIN.rawValue : 0) | (action & CURL_POLL_OUT != 0 ? EPOLLOUT.rawValue : 0)
    Unmanaged<SocketPoller>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.want(bits, at: socket) }
    // The socket may be that of a name lookup, which precedes the connection's own socket. The transport did not open
    // it and never marks it as shared.
    guard let handle = easy.flatMap(EasyHandle.of), let transfer = handle.transfer else { return 0 }
    if bits == 0 {
        transfer.noteSilence()
    } else {
        transfer.connection.socket = socket
        if transfer.isReceivingPaused { handle.store.hold(transfer, true) }
    }
    return 0
}

private func noteTimer(
    _ multi: UnsafeMutableRawPointer?, _ milliseconds: Int, _ context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context else { return 0 }
    Unmanaged<SocketPoller>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.setTimer(milliseconds) }
    return 0
}
#endif
