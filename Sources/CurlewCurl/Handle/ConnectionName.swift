// SPDX-License-Identifier: MIT

import CurlewFoundation

#if os(Linux)
import CCurl

/// The identity of an open connection: the addresses and ports of both ends.
struct ConnectionName: Hashable {
    private let ends: UInt64
    private let addresses: UInt64

    /// Creates the name of the connection between two ends. Returns nil if there are no ports, as with a Unix domain
    /// socket.
    init?(
        _ local: UnsafePointer<CChar>?, _ localPort: Int32, _ remote: UnsafePointer<CChar>?, _ remotePort: Int32
    ) {
        guard localPort > 0 else { return nil }
        ends = UInt64(UInt32(bitPattern: localPort)) << 32 | UInt64(UInt32(bitPattern: remotePort))
        // FNV-1a is sufficient: a machine has few addresses, and a collision would only end two calls with an error.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for text in [local, remote] {
            var next = text
            while let byte = next?.pointee, byte != 0 {
                hash = (hash ^ UInt64(UInt8(bitPattern: byte))) &* 0x100_0000_01b3
                next = next?.successor()
            }
            hash = (hash ^ 0xFF) &* 0x100_0000_01b3
        }
        addresses = hash
    }

    /// Creates the name of the connection that libcurl currently uses for `easy`. Returns nil if there is none.
    init?(of easy: EasyHandle) {
        let handle = easy.pointer
        self.init(
            curlew_info_string(handle, CURLINFO_LOCAL_IP), Int32(curlew_info_long(handle, CURLINFO_LOCAL_PORT)),
            curlew_info_string(handle, CURLINFO_PRIMARY_IP), Int32(curlew_info_long(handle, CURLINFO_PRIMARY_PORT)))
    }

    /// Creates the name of an open socket's connection. Needs two system calls. Returns nil if the socket is not
    /// connected, or uses neither IPv4 nor IPv6.
    init?(of socket: Int32) {
        var (local, remote) = (SocketEnd(), SocketEnd())
        guard local.read(of: socket, getsockname), remote.read(of: socket, getpeername) else { return nil }
        self.init(local.text, Int32(local.port), remote.text, Int32(remote.port))
    }
}

/// One end of a socket, in the format that libcurl reports.
private struct SocketEnd {
    var text: [CChar] = []
    var port: UInt16 = 0

    /// Reads the address and port of one end, with `getsockname` or `getpeername` as `name`. Returns false if the call
    /// fails or the family is neither IPv4 nor IPv6.
    mutating func read(
        of socket: Int32, _ name: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> Bool {
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let code = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { name(socket, $0, &length) }
        }
        let family = Int32(address.sin6_family)
        guard code == 0, family == AF_INET || family == AF_INET6 else { return false }
        // The port has the same offset in both families.
        port = UInt16(bigEndian: address.sin6_port)
        let offset =
            family == AF_INET6
            ? MemoryLayout.offset(of: \sockaddr_in6.sin6_addr) : MemoryLayout.offset(of: \sockaddr_in.sin_addr)
        text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        return withUnsafeBytes(of: address) { bytes in
            inet_ntop(family, bytes.baseAddress?.advanced(by: offset ?? 0), &text, socklen_t(text.count)) != nil
        }
    }
}
#endif
