// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP
#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// Handles and sockets, made and counted on the agent's thread.
extension CurlAgent {
    /// A handle from the store, or a new one; nil when libcurl has no memory left.
    func takeHandle() -> EasyHandle? {
        if let easy = idleHandles.popLast() { return easy }
        guard let easy = EasyHandle(configuration: configuration, proxies: proxies) else { return nil }
        // Connections outlive the handle that opened them, but not the agent's thread, which keeps the agent alive.
        let context = Unmanaged.passUnretained(self).toOpaque()
        let codes = [
            easy.isGuarded
                ? curlew_set_open_socket_callback(easy.pointer, openWatchedSocket)
                : curlew_set_open_socket_callback(easy.pointer, openSocket),
            curlew_set_close_socket_callback(easy.pointer, closeSocket),
            curlew_set_pointer(easy.pointer, CURLOPT_OPENSOCKETDATA, context),
            curlew_set_pointer(easy.pointer, CURLOPT_CLOSESOCKETDATA, context),
        ]
        guard codes.allSatisfy({ $0 == CURLE_OK }), easy.share(sessions) else { return nil }
        gauges.handles += 1
        return easy
    }

    /// The number of transfers has changed.
    ///
    /// libcurl's limit for idle connections counts those in use as well. So it follows the most transfers of the last
    /// ten seconds: connections that many calls use in turn are not closed between two of them.
    func noteActive() {
        gauges.active = transfers.count
        guard peak.note(transfers.count, at: turnStart), let multi else { return }
        curlew_multi_set_long(multi, CURLMOPT_MAXCONNECTS, min(configuration.pool.idle, 1 << 20) + peak.value)
    }

    /// Counts the open connections anew, once a second or when nothing is left to do: libcurl tells of each connection
    /// that ends, but not of each attempt.
    func recount() {
        guard mayHaveLostSockets, transfers.isEmpty || turnStart >= nextRecount, let pump else { return }
        mayHaveLostSockets = false
        nextRecount = turnStart + 1_000_000_000
        gauges.connections -= pump.forgetLost()
    }

    /// A transfer over HTTP/1.1 has ended well: its connection is idle, unless libcurl has closed it.
    func noteIdleConnection(of transfer: Transfer) {
        guard transfer.head.version != .http2, let socket = transfer.socket else { return }
        pump?.noteIdle(socket)
    }

    /// The reader of a transfer over HTTP/1.1 is behind, or goes on. Over HTTP/2 the connection serves others too, and the
    /// protocol holds back the one stream.
    func holdConnection(of transfer: Transfer, _ isHeld: Bool) {
        guard let pump, transfer.head.version != .http2 else { return }
        if transfer.socket.map(pump.isOpen) != true, isHeld {
            transfer.socket = transfer.easy.flatMap(ConnectionName.init(of:)).flatMap(pump.socket)
        }
        if transfer.holdsUnnamed || (isHeld && transfer.socket == nil) {
            guard transfer.holdsUnnamed != isHeld else { return }
            transfer.holdsUnnamed = isHeld
            pump.holdUnnamed(isHeld)
        } else if let socket = transfer.socket {
            pump.hold(socket, isHeld)
        }
    }

    /// A transfer is late. Its connection goes with it if nothing at all comes on that.
    func giveUpConnection(of transfer: Transfer, at now: Int64) {
        // What we hold back ourselves says nothing about the server.
        guard let pump, !transfer.isHeld, let connection = transfer.easy.flatMap(ConnectionName.init(of:)) else {
            return
        }
        pump.giveUp(
            connection, lateSince: transfer.clock.lastActivity, isAlone: transfer.place?.running == 1, at: now)
    }

    /// Keeps a handle for later, unless there are enough.
    func putBack(_ easy: EasyHandle) {
        guard idleHandles.count < max(Self.idleHandleLimit, peak.value) else {
            gauges.handles -= 1
            return
        }
        idleHandles.append(easy)
    }
}

/// The largest of the numbers of late, in steps of 64: it rises at once and falls every ten seconds.
struct RecentPeak {
    private(set) var value = 0
    private var largest = 0
    private var nextFall: Int64 = 0

    /// True if the value has changed. `now` is in nanoseconds.
    mutating func note(_ count: Int, at now: Int64) -> Bool {
        largest = max(largest, count)
        let isDue = now >= nextFall
        guard count > value || isDue else { return false }
        let former = value
        value = (largest + 63) / 64 * 64
        if isDue {
            largest = count
            nextFall = now + 10_000_000_000
        }
        return value != former
    }
}

/// Makes sockets that a started program does not inherit; libcurl 7.88 does not see to that itself. The context is the
/// agent.
func openSocket(
    _ context: UnsafeMutableRawPointer?, _ purpose: curlsocktype, _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let context, let address = address?.pointee else { return -1 }
    return makeSocket(address, for: Unmanaged<CurlAgent>.fromOpaque(context))
}

/// The same where the configuration restricts addresses, or somebody wants to hear of them. The context is the transfer.
///
/// What libcurl hands over is what it connects to next. Whoever looked the name up before, or will again, plays no part.
func openWatchedSocket(
    _ context: UnsafeMutableRawPointer?, _ purpose: curlsocktype, _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let context, let address else { return -1 }
    return Unmanaged<Transfer>.fromOpaque(context)._withUnsafeGuaranteedRef { transfer in
        let target = IPAddress(address)
        guard transfer.easy?.isGuarded != true || transfer.mayConnect(to: target) else { return -1 }
        let port = UnsafePointer(address).port
        transfer.noteTrying(target.map { ConnectionInfo.place("\($0)", port) } ?? transfer.unixSocket)
        return makeSocket(address.pointee, for: Unmanaged.passUnretained(transfer.agent))
    }
}

private func makeSocket(_ address: curl_sockaddr, for agent: Unmanaged<CurlAgent>) -> curl_socket_t {
    let descriptor = socket(address.family, address.socktype | Int32(SOCK_CLOEXEC.rawValue), address.protocol)
    if descriptor >= 0 {
        agent._withUnsafeGuaranteedRef {
            $0.gauges.connections += $0.pump?.opened(descriptor) ?? false ? 0 : 1
            $0.gauges.connectionsOpened += 1
            $0.book.opened(descriptor)
        }
    }
    return descriptor
}

private func closeSocket(_ context: UnsafeMutableRawPointer?, _ descriptor: curl_socket_t) -> Int32 {
    if let context {
        Unmanaged<CurlAgent>.fromOpaque(context)._withUnsafeGuaranteedRef {
            $0.gauges.connections -= 1
            $0.pump?.closed(descriptor)
            $0.book.forget(descriptor)
        }
    }
    return close(descriptor)
}
#endif
