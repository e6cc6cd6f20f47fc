// SPDX-License-Identifier: MIT

import Foundation

/// The few socket calls that the servers need.
enum Sockets {
    static func freePort() throws -> UInt16 {
        let descriptor = try open()
        defer { close(descriptor) }
        return try bind(descriptor)
    }

    /// A listening socket on a port that was free.
    static func listening() throws -> (descriptor: Int32, port: UInt16) {
        let descriptor = try open()
        let port = try bind(descriptor)
        guard listen(descriptor, 64) == 0 else { throw Failure("cannot listen") }
        return (descriptor, port)
    }

    static func answers(_ port: UInt16) -> Bool {
        guard let descriptor = try? open() else { return false }
        defer { close(descriptor) }
        return withAddress(port) { connect(descriptor, $0, $1) } == 0
    }

    private static func open() throws -> Int32 {
        #if os(Linux)
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { throw Failure("no socket") }
        return descriptor
    }

    private static func bind(_ descriptor: Int32) throws -> UInt16 {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withAddress(0) { Foundation.bind(descriptor, $0, $1) } == 0
        let isNamed = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) } == 0
        }
        guard isBound, isNamed else { throw Failure("no free port") }
        return UInt16(bigEndian: address.sin_port)
    }

    private static func withAddress(_ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }
}
