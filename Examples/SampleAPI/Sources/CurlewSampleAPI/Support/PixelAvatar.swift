// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting

/// A generated avatar: a symmetric pattern of five by five squares. A name always has the same avatar.
struct PixelAvatar {
    private let hash: UInt64

    init(name: String) {
        // FNV-1a, because the standard library's hashes differ between runs.
        hash = name.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    /// The avatar as a PNG of 64 by 64 pixels in two colours. The pixels are stored uncompressed (RFC 1951 §3.2.4).
    var png: Data {
        var file = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        let side = UInt32(Self.side).bigEndianBytes
        // The IHDR chunk declares one bit per pixel, used as an index into the palette.
        file.append(chunk: "IHDR", side + side + [1, 3, 0, 0, 0])
        file.append(chunk: "PLTE", [0xF4, 0xF1, 0xEA] + colour)
        file.append(chunk: "IDAT", Self.zlib(rows))
        file.append(chunk: "IEND", [])
        return file
    }

    private static let side = 64
    private static let margin = 2
    private static let cell = 12

    private var colour: [UInt8] {
        // The colour is dark enough to be visible on the light background.
        [UInt8(hash >> 40 & 0x7F), UInt8(hash >> 48 & 0x7F), UInt8(hash >> 56 & 0x7F)]
    }

    /// The bytes of the pixels. Each row begins with its filter type: 0, for no filter.
    private var rows: [UInt8] {
        (0..<Self.side).flatMap { y in
            let pixels = stride(from: 0, to: Self.side, by: 8).map { x in
                (0..<8).reduce(UInt8(0)) { byte, bit in byte << 1 | (isInk(x + bit, y) ? 1 : 0) }
            }
            return [0] + pixels
        }
    }

    private func isInk(_ x: Int, _ y: Int) -> Bool {
        let column = (x - Self.margin) / Self.cell
        let row = (y - Self.margin) / Self.cell
        guard x >= Self.margin, y >= Self.margin, column < 5, row < 5 else { return false }
        return hash >> UInt64(row * 3 + min(column, 4 - column)) & 1 == 1
    }

    private static func zlib(_ bytes: [UInt8]) -> [UInt8] {
        let length = UInt16(bytes.count)
        let header: [UInt8] = [0x78, 0x01, 0x01] + length.littleEndianBytes + (~length).littleEndianBytes
        return header + bytes + Adler32.checksum(bytes).bigEndianBytes
    }
}

extension Data {
    fileprivate mutating func append(chunk type: String, _ content: [UInt8]) {
        let body = Array(type.utf8) + content
        append(contentsOf: UInt32(content.count).bigEndianBytes)
        append(contentsOf: body)
        append(contentsOf: CRC32(body).value.bigEndianBytes)
    }
}

extension FixedWidthInteger {
    fileprivate var littleEndianBytes: [UInt8] {
        stride(from: 0, to: Self.bitWidth, by: 8).map { UInt8(truncatingIfNeeded: self >> Self($0)) }
    }

    fileprivate var bigEndianBytes: [UInt8] { littleEndianBytes.reversed() }
}
