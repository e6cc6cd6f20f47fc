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
/// request and begins another costs no call at all. For the same reason a socket stays registered between requests; if
/// it stirs meanwhile, which is its end in nearly all cases, it is taken off, and libcurl finds out when it wants to use
/// it. Level-triggered, because libcurl may leave bytes unread on purpose.
///
/// On the agent's thread only.
final class SocketPump {
    private struct Socket {
        /// What libcurl waits for, as bits of `epoll`.
        var wanted: UInt32 = 0
        /// What the system has been told.
        var registered: UInt32 = 0
        /// We opened it and hear of its end. Others, such as those of a name lookup, come and go without notice.
        var isOurs = false
        /// The system's own number for one of ours, which it does not use again soon.
        var identity: UInt64 = 0
        /// It is on the list of changes.
        var isNoted = false
    }

    private let multi: UnsafeMutableRawPointer
    private let poll: Int32
    /// By descriptor: these numbers are small and used again.
    private var sockets: [Socket] = []
    private var changes: [Int32] = []
    private var shared = SharedConnections()
    private let events: UnsafeMutablePointer<epoll_event>
    private var eventCount = 0
    /// When libcurl wants to be called although nothing stirs; `Int64.max` when it does not.
    private(set) var timer = Int64.max
    /// When `lookAtSilent` has something to do, at the earliest.
    var nextLook: Int64 { shared.nextLook }

    private static let eventLimit = 256
    private static let readable = EPOLLIN.rawValue
    private static let writable = EPOLLOUT.rawValue

    /// Nil when the system has no descriptor left. Writing to `wakeUp` ends a wait. libcurl must have been taken down
    /// before the pump goes.
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
    /// True if something was due.
    ///
    /// - `beginning`: how many transfers begin. libcurl sends the requests on a shared connection one by one; where there
    ///   are several for each, the system joins them to few segments, which costs both sides less.
    func workOnTimer(at now: Int64, beginning count: Int) -> Bool {
        guard timer <= now else { return false }
        timer = .max
        var running: Int32 = 0
        let joins = shared.count > 0 && count >= 2 * shared.count
        if joins { setJoining(true) }
        curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running)
        if joins { setJoining(false) }
        return true
    }

    /// Several transfers may use this connection at a time.
    func noteShared(_ socket: Int32, at now: Int64) {
        guard sockets.indices.contains(Int(socket)), sockets[Int(socket)].isOurs else { return }
        shared.insert(socket, at: now)
    }

    /// What is written meanwhile leaves with the end of it (TCP_CORK). Other kinds of sockets refuse, which is no harm.
    private func setJoining(_ isOn: Bool) {
        var value: Int32 = isOn ? 1 : 0
        for socket in shared.sockets {
            setsockopt(socket, Int32(IPPROTO_TCP), TCP_CORK, &value, socklen_t(MemoryLayout<Int32>.size))
        }
    }

    /// Lets libcurl work on the sockets that the last wait has found.
    func workOnSockets(at now: Int64) {
        var running: Int32 = 0
        for index in 0..<eventCount {
            let event = events[index]
            let socket = event.data.fd
            let bits = action(event.events, on: socket)
            guard bits != 0 else { continue }
            shared.noteStir(socket, at: now)
            curl_multi_socket_action(multi, socket, bits, &running)
        }
        eventCount = 0
    }

    /// Lets libcurl read from shared connections that have been silent for a moment.
    func lookAtSilent(at now: Int64) {
        guard shared.nextLook <= now else { return }
        var running: Int32 = 0
        let due = shared.takeDue(at: now) { sockets[Int($0)].wanted & Self.readable != 0 }
        for socket in due { curl_multi_socket_action(multi, socket, CURL_CSELECT_IN, &running) }
    }

    /// Waits until a socket is ready, somebody writes to `wakeUp`, or `milliseconds` have passed.
    func wait(_ milliseconds: Int32) {
        applyChanges()
        eventCount = max(0, Int(epoll_wait(poll, events, Int32(Self.eventLimit), milliseconds)))
    }

    /// A socket of ours has been opened. True if its number was that of another one, whose end nobody told.
    func opened(_ socket: Int32) -> Bool {
        makeRoom(for: socket)
        let wasOurs = sockets[Int(socket)].isOurs
        sockets[Int(socket)].registered = 0
        sockets[Int(socket)].isOurs = true
        sockets[Int(socket)].identity = Self.identity(of: socket)
        if wasOurs { shared.remove(socket) }
        return wasOurs
    }

    /// A socket of ours is about to be closed, which also takes it off the system's list.
    func closed(_ socket: Int32) {
        guard sockets.indices.contains(Int(socket)) else { return }
        sockets[Int(socket)].registered = 0
        sockets[Int(socket)].wanted = 0
        sockets[Int(socket)].isOurs = false
        shared.remove(socket)
    }

    /// Forgets those that have been closed without a word, which libcurl does with attempts that came to nothing. How
    /// many these were.
    func forgetLost() -> Int {
        var count = 0
        for index in sockets.indices where sockets[index].isOurs {
            guard Self.identity(of: Int32(index)) != sockets[index].identity else { continue }
            closed(Int32(index))
            count += 1
        }
        return count
    }

    /// libcurl waits for something else at `socket` from now on.
    fileprivate func want(_ bits: UInt32, at socket: Int32) {
        guard socket >= 0 else { return }
        makeRoom(for: socket)
        let index = Int(socket)
        sockets[index].wanted = bits
        if bits == 0, !sockets[index].isOurs {
            if sockets[index].registered != 0 { unregister(socket) }
        } else if bits != 0, bits != sockets[index].registered, !sockets[index].isNoted {
            sockets[index].isNoted = true
            changes.append(socket)
        }
    }

    fileprivate func setTimer(_ milliseconds: Int) {
        timer = milliseconds < 0 ? .max : ExchangeClock.moment(after: .milliseconds(milliseconds))
    }

    /// What to tell libcurl about an event; 0 for nothing.
    private func action(_ found: UInt32, on socket: Int32) -> Int32 {
        guard sockets.indices.contains(Int(socket)) else { return 0 }
        let wanted = sockets[Int(socket)].wanted
        guard wanted != 0 else {
            // Nobody uses it, unless its change of mind has not been told yet.
            if sockets[Int(socket)].registered != 0 { unregister(socket) }
            return 0
        }
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

    private func applyChanges() {
        // What the system refuses now, out of memory or watches, is asked for again before the next wait.
        var refused: [Int32] = []
        for socket in changes {
            let index = Int(socket)
            sockets[index].isNoted = false
            let wanted = sockets[index].wanted
            guard wanted != 0, wanted != sockets[index].registered else { continue }
            let isNew = sockets[index].registered == 0
            // The number may have passed from one socket to another without our notice: then it is the other call.
            if register(socket, wanted, isNew ? EPOLL_CTL_ADD : EPOLL_CTL_MOD)
                || register(socket, wanted, isNew ? EPOLL_CTL_MOD : EPOLL_CTL_ADD)
            {
                sockets[index].registered = wanted
            } else if Self.identity(of: socket) == sockets[index].identity {
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

    /// 0 for what is not open.
    private static func identity(of descriptor: Int32) -> UInt64 {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? UInt64(status.st_ino) : 0
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
    Unmanaged<SocketPump>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.want(bits, at: socket) }
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
    Unmanaged<SocketPump>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.setTimer(milliseconds) }
    return 0
}
#endif
