// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewStreams

/// The gzip coding (RFC 1952) of content that is produced in pieces. A client can decode each piece as soon as it has
/// arrived.
struct GzipPieces {
    private let deflate: DeflateCompression
    private var checksum = CRC32()
    private var count: UInt32 = 0
    /// The header, until it is sent.
    private var header = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF])

    init() throws(NetworkError) {
        deflate = try DeflateCompression(PerMessageDeflate(), role: .server)
    }

    /// Returns the next piece. The compression of messages removes the end of the last block; gzip needs it.
    mutating func add(_ piece: Data) throws -> Data {
        guard !piece.isEmpty else { return Data() }
        checksum.update(piece)
        count &+= UInt32(truncatingIfNeeded: piece.count)
        defer { header = Data() }
        return try header + deflate.compress(piece) + [0x00, 0x00, 0xFF, 0xFF]
    }

    /// Returns the end: an empty last block, the checksum and the length.
    func end() -> Data {
        let numbers = [checksum.value, count].flatMap { number in (0..<4).map { UInt8(number >> (8 * $0) & 0xFF) } }
        return header + [0x03, 0x00] + numbers
    }
}

/// The CRC-32 checksum that PNG, gzip and Ethernet use (ISO 3309).
package struct CRC32 {
    private var register: UInt32 = 0xFFFF_FFFF

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
    }

    package init() {}

    package init(_ bytes: some Sequence<UInt8>) {
        update(bytes)
    }

    package mutating func update(_ bytes: some Sequence<UInt8>) {
        let table = Self.table
        var register = register
        for byte in bytes { register = table[Int((register ^ UInt32(byte)) & 0xFF)] ^ (register >> 8) }
        self.register = register
    }

    package var value: UInt32 { ~register }
}
