// SPDX-License-Identifier: MIT

import CurlewFoundation

/// The POSIX socket calls of the mock server. The sockets are non-blocking and close-on-exec, and raise no SIGPIPE.
///
/// The caller must close each descriptor that these functions return; this type keeps none.
enum LoopbackSocket {
    enum Received {
        case bytes(Int)
        /// There are no bytes to read now.
        case nothing
        /// The stream has ended, or an error has ended the connection.
        case closed
    }

    /// Opens a socket that listens on the loopback address, and returns its descriptor and its port. With port 0 the
    /// system chooses the port.
    static func openListener(
        _ family: MockServer.AddressFamily, port: Int
    ) throws(MockError) -> (Int32, port: Int) {
        let descriptor = socket(family == .ipv4 ? AF_INET : AF_INET6, stream, 0)
        guard descriptor >= 0 else { throw failure("open a socket") }
        do throws(MockError) {
            configure(descriptor)
            set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
            let bound = withLoopback(family, port: port) { bind(descriptor, $0, $1) }
            guard bound == 0 else { throw failure("bind to port \(port)") }
            guard listen(descriptor, Int32(SOMAXCONN)) == 0 else { throw failure("listen") }
            return (descriptor, try boundPort(descriptor))
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// Accepts the next connection and returns its descriptor; `nil` if none is pending.
    static func nextConnection(_ listener: Int32) -> Int32? {
        let descriptor = accept(listener, nil, nil)
        guard descriptor >= 0 else { return nil }
        configure(descriptor)
        set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        return descriptor
    }

    static func receive(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Received {
        let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
        if count > 0 { return .bytes(count) }
        return count < 0 && isTemporary(errno) ? .nothing : .closed
    }

    /// Returns whether the peer has closed its side or the connection is broken. Leaves received bytes unread.
    static func isClosed(_ descriptor: Int32) -> Bool {
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, Int32(MSG_PEEK))
        return count == 0 || (count < 0 && !isTemporary(errno))
    }

    /// Sends bytes without blocking. Returns the number of bytes sent, 0 if the send buffer is full, or `nil` if the
    /// connection is broken.
    static func transmit(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int? {
        #if canImport(Darwin)
        let flags: Int32 = 0
        #else
        let flags = Int32(MSG_NOSIGNAL)
        #endif
        let count = send(descriptor, bytes.baseAddress, bytes.count, flags)
        if count >= 0 { return count }
        return isTemporary(errno) ? 0 : nil
    }

    /// Makes the next `close` reset the connection: the peer receives RST instead of an orderly end.
    static func resetOnClose(_ descriptor: Int32) {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    /// Closes the sending side, so that the peer reads the end of the stream.
    static func finish(_ descriptor: Int32) {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Makes the descriptor close-on-exec and non-blocking, and disables SIGPIPE on systems that have a socket option
    /// for this.
    static func configure(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        #if canImport(Darwin)
        set(descriptor, SOL_SOCKET, SO_NOSIGPIPE, 1)
        #endif
    }

    private static func isTemporary(_ code: Int32) -> Bool {
        code == EAGAIN || code == EWOULDBLOCK || code == EINTR
    }

    private static func set(_ descriptor: Int32, _ level: Int32, _ name: Int32, _ value: Int32) {
        var value = value
        setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func failure(_ what: String) -> MockError {
        MockError("the mock server could not \(what): \(String(cString: strerror(errno)))")
    }

    static var stream: Int32 {
        #if os(Linux) && canImport(Glibc)
        Int32(SOCK_STREAM.rawValue)
        #else
        SOCK_STREAM
        #endif
    }
}

extension LoopbackSocket {
    /// Calls `body` with the loopback address and this port.
    static func withLoopback(
        _ family: MockServer.AddressFamily, port: Int, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        let port = in_port_t(truncatingIfNeeded: port).bigEndian
        switch family {
        case .ipv4:
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port
            address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
            return withAddress(&address, body)
        case .ipv6:
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port
            address.sin6_addr = in6addr_loopback
            return withAddress(&address, body)
        }
    }

    private static func boundPort(_ descriptor: Int32) throws(MockError) -> Int {
        // The port of an IPv4 address is at the same place.
        var address = sockaddr_in6()
        let result = withAddress(&address) { pointer, length in
            var length = length
            return getsockname(descriptor, pointer, &length)
        }
        guard result == 0 else { throw failure("read its port") }
        return Int(in_port_t(bigEndian: address.sin6_port))
    }

    private static func withAddress<Address, Result>(
        _ address: inout Address, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<Address>.size))
            }
        }
    }
}
