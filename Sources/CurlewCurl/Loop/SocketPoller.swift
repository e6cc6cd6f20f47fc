// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore
#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// Waits for libcurl's sockets and its timer, and lets it work on those that are ready: `epoll` and
/// `curl_multi_socket_action`.
///
/// The simpler pair, `curl_multi_perform` and `curl_multi_poll`, looks at every transfer each time; this one at those
/// that have something to do, which is what a server with a thousand calls in flight needs.
///
/// What libcurl asks for is noted and told to the system just before the next wait, so that a socket which ends one
/// request and begins another costs no call at all. For the same reason a socket stays registered between requests.
/// Level-triggered, because libcurl may leave bytes unread on purpose.
///
/// A connection of HTTP/1.1 that becomes readable while no transfer uses it has ended, or the server has sent bytes that
/// belong to no request. libcurl before 8.0 would take these bytes for the response to the next request, and that one's
/// response for the response to the one after it. From 8.17 on it does so within a second of the last use. So the poller
/// ends such a connection, and libcurl takes another one. It looks when the system reports something, and once more just
/// before a request leaves: reports come for 256 sockets at a time, and libcurl may send a request again in between.
///
/// On the event loop's thread only.
final class SocketPoller {
    private struct Socket {
        /// What libcurl waits for, as bits of `epoll`.
        var wanted: UInt32 = 0
        /// What the system has been told.
        var registered: UInt32 = 0
        /// We opened it and hear of its end. Others, such as those of a name lookup, come and go without notice.
        var isOurs = false
        var name: ConnectionName?
        /// A transfer has ended well on this connection of HTTP/1.1, and none has used it since.
        var isIdle = false
        /// Nothing is read, whatever libcurl waits for: the reader of the only transfer is behind. libcurl 8.5.0 goes on
        /// waiting for bytes on behalf of a paused transfer, and buffers what it reads.
        var isHeld = false
        /// What the system has to report.
        var effective: UInt32 { isHeld ? wanted & ~EPOLLIN.rawValue : wanted }
        /// The poller has ended it, and libcurl has not closed it yet.
        var isEnded = false
        /// It is on the list of changes.
        var isNoted = false
    }

    private let multi: UnsafeMutableRawPointer
    private let poll: Int32
    /// By descriptor: these numbers are small and used again.
    private var sockets: [Socket] = []
    private var changes: [Int32] = []
    /// Held transfers whose socket is not known: of connections without ports that libcurl has not announced.
    private var unnamedHolds = 0
    private var shared = SharedConnections()
    private var forgotten = ForgottenBytes()
    private var fault: CURLMcode?
    /// Connections that the poller has ended and libcurl still has.
    private(set) var endedCount = 0
    private let events: UnsafeMutablePointer<epoll_event>
    /// How many sockets the last wait has found.
    private(set) var eventCount = 0
    /// When libcurl wants to be called although nothing stirs; `Int64.max` when it does not.
    private var timer = Int64.max
    /// When libcurl has to be called although nothing stirs.
    var nextCall: Int64 { min(timer, forgotten.nextLook) }

    private static let eventLimit = 256
    private static let readable = EPOLLIN.rawValue
    private static let writable = EPOLLOUT.rawValue
    /// For `shutdown` and `recv`; the two C libraries import these constants as different types.
    #if canImport(Glibc)
    private static let (bothWays, look) = (Int32(SHUT_RDWR), Int32(MSG_PEEK))
    #else
    private static let (bothWays, look): (Int32, Int32) = (SHUT_RDWR, MSG_PEEK)
    #endif

    /// Nil when the system has no descriptor left. Writing to `wakeUp` ends a wait. libcurl must have been taken down
    /// before the poller goes.
    init?(multi: UnsafeMutableRawPointer, wakeUp: Int32) {
        poll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard poll >= 0 else { return nil }
        self.multi = multi
        events = .allocate(capacity: Self.eventLimit)
        // Edge-triggered: each write ends one wait, and nobody has to read what was written.
        guard register(wakeUp, Self.readable | EPOLLET.rawValue, EPOLL_CTL_ADD) else { return nil }
        let context = Unmanaged.passUnretained(self).toOpaque()
        curlew_multi_set_socket_callback(multi, noteSocket, context)
        curlew_multi_set_timer_callback(multi, noteTimer, context)
    }

    deinit {
        close(poll)
        events.deallocate()
    }

    /// Lets libcurl do what is due without anything having stirred: begin new transfers, notice that time is over.
    ///
    /// - `beginning`: how many transfers begin. libcurl sends the requests on a shared connection one by one; where there
    ///   are several for each, the system joins them to few segments, which costs both sides less.
    func workOnTimer(at now: Int64, beginning count: Int) {
        guard timer <= now else { return }
        timer = .max
        let joins = shared.count > 0 && count >= 2 * shared.count
        if joins { setJoining(true) }
        act(CURL_SOCKET_TIMEOUT, 0)
        if joins { setJoining(false) }
    }

    /// Several transfers may use this connection at a time.
    func noteShared(_ socket: Int32, at now: Int64) {
        guard isOpen(socket) else { return }
        shared.insert(socket, at: now)
        forgotten.insert(socket, at: now)
    }

    /// A transfer has ended well on this connection of HTTP/1.1, and another one may follow.
    func noteIdle(_ socket: Int32) {
        guard isOpen(socket), !shared.contains(socket) else { return }
        let index = Int(socket)
        guard sockets[index].wanted == 0, !sockets[index].isHeld, !sockets[index].isIdle else { return }
        sockets[index].isIdle = true
        if sockets[index].registered != Self.readable { noteChange(of: index) }
    }

    /// A request is about to leave on this connection. What came after the last response on it belongs to no request.
    func beginUse(of socket: Int32) {
        guard isOpen(socket), sockets[Int(socket)].isIdle else { return }
        var byte: UInt8 = 0
        let count = recv(socket, &byte, 1, Self.look | Int32(MSG_DONTWAIT))
        guard count >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK) else { return }
        end(socket)
    }

    /// The only transfer of this connection stops reading, or goes on.
    func hold(_ socket: Int32, _ isHeld: Bool) {
        guard isOpen(socket), sockets[Int(socket)].isHeld != isHeld else { return }
        sockets[Int(socket)].isHeld = isHeld
        sockets[Int(socket)].isIdle = false
        let effective = sockets[Int(socket)].effective
        if effective != 0, effective != sockets[Int(socket)].registered { noteChange(of: Int(socket)) }
    }

    /// A transfer stops reading from a connection that cannot be named, or goes on.
    func holdUnnamed(_ isHeld: Bool) {
        unnamedHolds += isHeld ? 1 : -1
    }

    /// The open socket of a connection. For a transfer that begins and pauses within one call of libcurl's, which does not
    /// announce its socket then.
    func socket(of connection: ConnectionName) -> Int32? {
        sockets.indices.first { name(at: $0) == connection }.map { Int32($0) }
    }

    /// Asked of the system once for each connection; nil for what is not connected.
    private func name(at index: Int) -> ConnectionName? {
        guard sockets[index].isOurs else { return nil }
        if sockets[index].name == nil { sockets[index].name = ConnectionName(of: Int32(index)) }
        return sockets[index].name
    }

    /// The ends of an open connection of ours.
    func name(of socket: Int32) -> ConnectionName? {
        isOpen(socket) ? name(at: Int(socket)) : nil
    }

    /// A response is late on a connection that may be shared; see `SharedConnections.isDead`. Shuts it down if it is dead,
    /// which ends the other transfers on it.
    func giveUp(_ connection: ConnectionName, lateSince moment: Int64, isAlone: Bool, at now: Int64) {
        guard let socket = shared.sockets.first(where: { name(at: Int($0)) == connection }) else { return }
        if shared.isDead(socket, lateSince: moment, isAlone: isAlone, at: now) { shutdown(socket, Self.bothWays) }
    }

    /// One of ours, and not closed as far as we know.
    func isOpen(_ socket: Int32) -> Bool {
        sockets.indices.contains(Int(socket)) && sockets[Int(socket)].isOurs
    }

    /// What is written meanwhile leaves with the end of it (TCP_CORK). Other kinds of sockets refuse, which is no harm.
    private func setJoining(_ isOn: Bool) {
        var value: Int32 = isOn ? 1 : 0
        for socket in shared.sockets {
            setsockopt(socket, Int32(IPPROTO_TCP), TCP_CORK, &value, socklen_t(MemoryLayout<Int32>.size))
        }
    }

    /// Events of `other` end a wait here. It has to be asked for them itself.
    func watch(_ other: SocketPoller) -> Bool {
        register(other.poll, Self.readable, EPOLL_CTL_ADD)
    }

    /// Lets libcurl work on the sockets that the last wait has found, and on those that there was no room for.
    func workOnSockets(at now: Int64) {
        workOnFound(at: now)
        // Bounded, because what libcurl leaves unread is reported each time.
        for _ in 0..<(sockets.count / Self.eventLimit) where eventCount == Self.eventLimit {
            find(within: 0)
            workOnFound(at: now)
        }
        eventCount = 0
    }

    private func workOnFound(at now: Int64) {
        for index in 0..<eventCount {
            let event = events[index]
            let socket = event.data.fd
            let bits = action(event.events, on: socket)
            guard bits != 0 else { continue }
            if bits & CURL_CSELECT_IN != 0 { shared.noteHeard(socket, at: now) }
            forgotten.noteStir(socket, at: now)
            act(socket, bits)
        }
    }

    /// Lets libcurl read from connections on which it may have forgotten bytes.
    func lookAtSilent(at now: Int64) {
        guard forgotten.nextLook <= now else { return }
        let due = forgotten.takeDue(at: now) { sockets[Int($0)].wanted & Self.readable != 0 }
        for socket in due { act(socket, CURL_CSELECT_IN) }
    }

    private func act(_ socket: Int32, _ bits: Int32) {
        var running: Int32 = 0
        let code = curl_multi_socket_action(multi, socket, bits, &running)
        if code != CURLM_OK { fault = code }
    }

    /// What libcurl could not do since the last time, once. What it has done of it is unknown then.
    func takeFault() -> CURLMcode? {
        defer { fault = nil }
        return fault
    }

    /// Waits until a socket is ready, somebody writes to `wakeUp`, or `milliseconds` have passed.
    func wait(_ milliseconds: Int32) {
        applyChanges()
        find(within: milliseconds)
    }

    private func find(within milliseconds: Int32) {
        eventCount = max(0, Int(epoll_wait(poll, events, Int32(Self.eventLimit), milliseconds)))
    }

    /// A socket of ours has been opened. True if its number was that of another one, whose end nobody told.
    func opened(_ socket: Int32) -> Bool {
        makeRoom(for: socket)
        let wasOurs = sockets[Int(socket)].isOurs
        sockets[Int(socket)].registered = 0
        sockets[Int(socket)].isOurs = true
        sockets[Int(socket)].isIdle = false
        sockets[Int(socket)].isHeld = false
        sockets[Int(socket)].name = nil
        forget(socket)
        return wasOurs
    }

    /// A socket of ours is about to be closed. That alone does not unregister it if a forked child has it too: the system
    /// would go on reporting it, and this thread would never wait again.
    func closed(_ socket: Int32) {
        guard sockets.indices.contains(Int(socket)) else { return }
        if sockets[Int(socket)].registered != 0 { unregister(socket) }
        sockets[Int(socket)].wanted = 0
        sockets[Int(socket)].isOurs = false
        sockets[Int(socket)].isIdle = false
        sockets[Int(socket)].isHeld = false
        forget(socket)
    }

    /// Forgets those that have been closed without a word. How many these were, as far as their numbers are free.
    func forgetClosed() -> Int {
        let closed = sockets.indices.filter { sockets[$0].isOurs && fcntl(Int32($0), F_GETFD) < 0 }
        for index in closed { self.closed(Int32(index)) }
        return closed.count
    }

    private func forget(_ socket: Int32) {
        noteEnded(socket, false)
        shared.remove(socket)
        forgotten.remove(socket)
    }

    private func noteEnded(_ socket: Int32, _ isEnded: Bool) {
        guard sockets[Int(socket)].isEnded != isEnded else { return }
        sockets[Int(socket)].isEnded = isEnded
        endedCount += isEnded ? 1 : -1
    }

    /// libcurl waits for something else at `socket` from now on.
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

    /// The system is told before the next wait.
    private func noteChange(of index: Int) {
        guard !sockets[index].isNoted else { return }
        sockets[index].isNoted = true
        changes.append(Int32(index))
    }

    fileprivate func setTimer(_ milliseconds: Int) {
        timer = milliseconds < 0 ? .max : ExchangeClock.moment(after: .milliseconds(milliseconds))
    }

    /// What to tell libcurl about an event; 0 for nothing.
    private func action(_ found: UInt32, on socket: Int32) -> Int32 {
        guard sockets.indices.contains(Int(socket)) else { return 0 }
        let wanted = sockets[Int(socket)].effective
        guard wanted != 0 else {
            // No transfer uses it, or only one that is paused, unless its change of mind has not been told yet.
            if sockets[Int(socket)].registered != 0 { unregister(socket) }
            if sockets[Int(socket)].isIdle { endIdle(socket, found: found) }
            return 0
        }
        // What a paused transfer must not be told, the system does not have to report either.
        if sockets[Int(socket)].isHeld, found & Self.readable != 0 { noteChange(of: Int(socket)) }
        let found = sockets[Int(socket)].isHeld ? found & ~Self.readable : found
        var bits: Int32 = 0
        if found & Self.readable != 0 { bits |= CURL_CSELECT_IN }
        if found & Self.writable != 0 { bits |= CURL_CSELECT_OUT }
        if found & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 {
            bits |= CURL_CSELECT_ERR
            if wanted & Self.readable != 0 { bits |= CURL_CSELECT_IN }
            if wanted & Self.writable != 0 { bits |= CURL_CSELECT_OUT }
        }
        return bits
    }

    /// Something has happened on an idle connection: it has ended, or bytes came that belong to no request.
    private func endIdle(_ socket: Int32, found: UInt32) {
        guard found & ~Self.writable != 0 else { return noteChange(of: Int(socket)) }
        if unnamedHolds > 0, name(at: Int(socket)) == nil {
            // Perhaps it is not idle. It counts as such after its next transfer again.
            sockets[Int(socket)].isIdle = false
            return
        }
        end(socket)
    }

    /// libcurl finds an end only behind the last byte, so the bytes go. There is an end to them: the system accepts none
    /// after the shutdown.
    private func end(_ socket: Int32) {
        noteEnded(socket, true)
        shutdown(socket, Self.bothWays)
        withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 1) { buffer in
            while recv(socket, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT)) > 0 {}
        }
    }

    func applyChanges() {
        // What the system refuses now, out of memory or watches, is asked for again before the next wait.
        var refused: [Int32] = []
        for socket in changes {
            let index = Int(socket)
            sockets[index].isNoted = false
            let wanted = sockets[index].isIdle ? Self.readable : sockets[index].effective
            guard wanted != 0, wanted != sockets[index].registered else { continue }
            let isNew = sockets[index].registered == 0
            // The number may have passed from one socket to another without our notice: then it is the other call.
            if register(socket, wanted, isNew ? EPOLL_CTL_ADD : EPOLL_CTL_MOD)
                || register(socket, wanted, isNew ? EPOLL_CTL_MOD : EPOLL_CTL_ADD)
            {
                sockets[index].registered = wanted
            } else if errno == ENOMEM || errno == ENOSPC {
                sockets[index].isNoted = true
                refused.append(socket)
            }
        }
        changes.removeAll(keepingCapacity: true)
        changes += refused
    }

    private func register(_ socket: Int32, _ bits: UInt32, _ operation: Int32) -> Bool {
        var event = epoll_event()
        event.events = bits
        event.data.fd = socket
        return epoll_ctl(poll, operation, socket, &event) == 0
    }

    private func unregister(_ socket: Int32) {
        sockets[Int(socket)].registered = 0
        var event = epoll_event()
        epoll_ctl(poll, EPOLL_CTL_DEL, socket, &event)
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
    var bits: UInt32 = 0
    if action == CURL_POLL_IN || action == CURL_POLL_INOUT { bits |= EPOLLIN.rawValue }
    if action == CURL_POLL_OUT || action == CURL_POLL_INOUT { bits |= EPOLLOUT.rawValue }
    Unmanaged<SocketPoller>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.want(bits, at: socket) }
    // It may be one that looks up a name, before the connection's own: that is none of ours, and never noted as shared.
    if bits != 0, let easy, let transfer = curlew_info_pointer(easy, CURLINFO_PRIVATE) {
        Unmanaged<Transfer>.fromOpaque(transfer)._withUnsafeGuaranteedRef { $0.socket = socket }
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
