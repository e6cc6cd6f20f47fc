// SPDX-License-Identifier: MIT

package import CurlewFoundation
import CurlewHTTP
package import CurlewTesting

/// An encoder for the DEFLATE format (RFC 1951) and its wrappers. It uses no library, and can write malformed data.
package enum Deflated {
    /// Returns `bytes` in gzip format (RFC 1952) with stored blocks. To make the result invalid, pass a wrong
    /// `checksum`, or the `index` of a byte to change after the checksum has been computed.
    package static func gzip(_ bytes: Data, checksum: UInt32? = nil, turning index: Int? = nil) -> Data {
        let sum = checksum ?? crc32(bytes)
        var bytes = Data(bytes)
        if let index { bytes[index] ^= 1 }
        return header + stored(bytes) + little(sum) + little(UInt32(truncatingIfNeeded: bytes.count))
    }

    /// Returns `pieces` in gzip format, each coded so that it can be decoded when it has arrived, and the end.
    static func gzip(inPieces pieces: [Data]) -> [Data] {
        let content = Data(pieces.joined())
        let end = stored(Data()) + little(crc32(content)) + little(UInt32(truncatingIfNeeded: content.count))
        return [header] + pieces.map { stored($0, isLast: false) } + [end]
    }

    /// Returns `bytes` in zlib format (RFC 1950). In HTTP, this coding is called deflate.
    static func zlib(_ bytes: Data) -> Data {
        Data([0x78, 0x01]) + stored(bytes) + Data(little(adler32(bytes)).reversed())
    }

    /// Returns a gzip stream that decodes to more than `count` zeros, in less than a hundredth of that number of bytes.
    /// The stream has no end.
    package static func bomb(of count: Int) -> Data {
        var bits = BitWriter()
        // The header of a block that is not the last, with fixed codes (RFC 1951 §3.2.6). Then a zero, and "258 bytes
        // from 1 byte back" repeatedly.
        bits.write(0b0, 1)
        bits.write(0b01, 2)
        bits.writeCode(0b0011_0000, 8)
        for _ in 0...(count / 258) {
            bits.writeCode(0b1100_0101, 8)
            bits.writeCode(0b00000, 5)
        }
        return header + bits.bytes
    }

    private static let header = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF])

    /// Returns `bytes` in stored blocks (RFC 1951 §3.2.4), each of at most 65,535 bytes.
    private static func stored(_ bytes: Data, isLast: Bool = true) -> Data {
        var result = Data()
        var rest = bytes[...]
        repeat {
            let block = rest.prefix(65_535)
            rest = rest.dropFirst(block.count)
            result.append(rest.isEmpty && isLast ? 1 : 0)
            for length in [UInt16(block.count), ~UInt16(block.count)] {
                result += [UInt8(length & 0xFF), UInt8(length >> 8)]
            }
            result += block
        } while !rest.isEmpty
        return result
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
    }

    /// The CRC-32 checksum (ISO 3309).
    private static func crc32(_ bytes: Data) -> UInt32 {
        let table = table
        return ~bytes.reduce(~UInt32(0)) { table[Int(($0 ^ UInt32($1)) & 0xFF)] ^ ($0 >> 8) }
    }

    /// The Adler-32 checksum (RFC 1950 §8.2).
    private static func adler32(_ bytes: Data) -> UInt32 {
        let (low, high) = bytes.reduce((UInt32(1), UInt32(0))) { sums, byte in
            let low = (sums.0 + UInt32(byte)) % 65_521
            return (low, (sums.1 + low) % 65_521)
        }
        return high << 16 | low
    }

    private static func little(_ number: UInt32) -> Data {
        Data((0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) })
    }
}

extension MockResponse {
    /// Returns an event stream of `events`, such as `data: a`, in gzip format. Each event can be decoded when it has
    /// arrived. If `stalls`, neither the stream nor its coding ends.
    package static func gzipEvents(_ events: [String], stalls: Bool = false) -> MockResponse {
        MockResponse.events { stream in
            let pieces = Deflated.gzip(inPieces: events.map { Data("\($0)\n\n".utf8) })
            for piece in pieces.dropLast(stalls ? 1 : 0) { try await stream.write(piece) }
            if stalls { stream.interrupt(by: .stall) }
        }
        .with(headers: [.contentEncoding: "gzip"])
    }
}

/// A writer that packs bits into bytes, starting with the least significant bit of each byte.
private struct BitWriter {
    private(set) var bytes = Data()
    private var free = 0

    mutating func write(_ value: Int, _ count: Int) {
        for bit in 0..<count { append(value >> bit & 1) }
    }

    /// Writes a Huffman code, with its most significant bit first.
    mutating func writeCode(_ value: Int, _ count: Int) {
        for bit in (0..<count).reversed() { append(value >> bit & 1) }
    }

    private mutating func append(_ bit: Int) {
        if free == 0 {
            bytes.append(0)
            free = 8
        }
        bytes[bytes.count - 1] |= UInt8(bit) << (8 - free)
        free -= 1
    }
}
