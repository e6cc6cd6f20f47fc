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
