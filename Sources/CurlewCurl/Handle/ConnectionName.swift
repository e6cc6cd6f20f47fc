// SPDX-License-Identifier: MIT

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

    /// Creates the name of an open socket's connection. Needs two system calls. Returns nil if the socket is not
    /// connected, or uses neither IPv4 nor IPv6.
    init?(of socket: Int32) {
        let (local, remote) = (
            AddressText { curlew_local_address(socket, $0, $1) }, AddressText { curlew_peer_address(socket, $0, $1) }
        )
        guard remote.port > 0 else { return nil }
        self.init(local.text, local.port, remote.text, remote.port)
    }
}

/// An IP address in the format that libcurl reports, and a port. The address is empty for other families.
struct AddressText {
    private(set) var text = [CChar](repeating: 0, count: 64)
    private(set) var port: Int32 = 0
    var string: String { text.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" } }

    /// Creates a text with a function that writes at most the given number of bytes and returns the port.
    init(_ write: (UnsafeMutablePointer<CChar>, Int) -> Int32) {
        port = write(&text, 64)
    }
}
#endif
