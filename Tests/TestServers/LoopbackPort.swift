// SPDX-License-Identifier: MIT

import Foundation

/// Sockets on 127.0.0.1, for servers of the tests.
package enum LoopbackPort {
    package struct Failure: Error {
        let call: String
        let number: Int32
    }

    /// A listening socket on a port of the system's choice.
    package static func listen(backlog: Int32, receiveBuffer: Int32? = nil) throws -> (socket: Int32, port: Int) {
        let descriptor = try bound()
        if var size = receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        guard Foundation.listen(descriptor, backlog) == 0 else { throw failure("listen", descriptor) }
        return (descriptor, try port(of: descriptor))
    }

    /// A port without a listener: bound, so that no other program gets it, until the descriptor is closed.
    package static func refusing() throws -> (socket: Int32, port: Int) {
        let descriptor = try bound()
        return (descriptor, try port(of: descriptor))
    }

    /// A socket that has begun to connect to `port`; it does not wait for a response.
    package static func connecting(to port: Int) throws -> Int32 {
        let descriptor = try make(isBlocking: false)
        let code = withAddress(port: port) { connect(descriptor, $0, $1) }
        guard code == 0 || errno == EINPROGRESS else { throw failure("connect", descriptor) }
        return descriptor
    }

    /// A socket that is connected to `port`.
    package static func connected(to port: Int) throws -> Int32 {
        let descriptor = try make()
        guard withAddress(port: port, { connect(descriptor, $0, $1) }) == 0 else {
            throw failure("connect", descriptor)
        }
        return descriptor
    }

    /// For `send`: no signal ends the process when the peer has gone. Where that is an option of the socket, `silence`
    /// is what counts.
    static var noSignal: Int32 {
        #if canImport(Darwin)
        0
        #else
        Int32(MSG_NOSIGNAL)
        #endif
    }

    /// Writing to this socket raises no signal.
    static func silence(_ descriptor: Int32) {
        #if canImport(Darwin)
        var on: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
        #endif
    }

    /// A socket that programs started in the meantime do not inherit. Only Linux can say so in the same call.
    private static func make(isBlocking: Bool = true) throws -> Int32 {
        #if canImport(Glibc)
        let options = SOCK_CLOEXEC.rawValue | (isBlocking ? 0 : SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | options), 0)
        guard descriptor >= 0 else { throw Failure(call: "socket", number: errno) }
        #else
        let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        guard descriptor >= 0 else { throw Failure(call: "socket", number: errno) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        if !isBlocking { _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) }
        #endif
        return descriptor
    }

    private static func bound() throws -> Int32 {
        let descriptor = try make()
        guard withAddress(port: 0, { bind(descriptor, $0, $1) }) == 0 else { throw failure("bind", descriptor) }
        return descriptor
    }

    /// The port of this end of a socket; 0 for what is none of IPv4.
    package static func ownPort(of descriptor: Int32) -> Int {
        portNumber { getsockname(descriptor, $0, &$1) }
    }

    /// The port of the other end; 0 for what is not connected.
    package static func peerPort(of descriptor: Int32) -> Int {
        portNumber { getpeername(descriptor, $0, &$1) }
    }

    private static func port(of descriptor: Int32) throws -> Int {
        let port = ownPort(of: descriptor)
        guard port > 0 else { throw failure("getsockname", descriptor) }
        return port
    }

    private static func portNumber(
        _ read: (UnsafeMutablePointer<sockaddr>, inout socklen_t) -> Int32
    ) -> Int {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { read($0, &length) }
        }
        guard code == 0, Int32(address.sin_family) == AF_INET else { return 0 }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    private static func withAddress<Result>(
        port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }

    private static func failure(_ call: String, _ descriptor: Int32) -> Failure {
        defer { close(descriptor) }
        return Failure(call: call, number: errno)
    }
}
