// SPDX-License-Identifier: MIT

import CurlewFoundation
import CurlewHTTP

/// The format and the size of an image, read from the first structures of its file. Nothing is decoded.
///
/// Reading takes time in proportion to the number of structures before the size, which is limited, and never depends on
/// what a file claims.
struct ImageHeader: Hashable, Sendable {
    /// The maximum number of segments before the size of a JPEG file.
    private static let maximumSegments = 10_000

    let mediaType: MediaType
    /// At least 1.
    let width: Int
    /// At least 1.
    let height: Int

    /// Reads the header of a PNG, JPEG, GIF or WebP file. Returns nil for other content, or without a size.
    init?(_ data: Data) {
        let bytes = ImageBytes(bytes: data)
        guard let found = Self.png(bytes) ?? Self.jpeg(bytes) ?? Self.gif(bytes) ?? Self.webP(bytes) else { return nil }
        self = found
    }

    /// Returns nil for a size without pixels.
    private init?(_ subtype: String, _ width: UInt32?, _ height: UInt32?) {
        guard let width, let height, width > 0, height > 0, max(width, height) <= 0x7FFF_FFFF else { return nil }
        mediaType = MediaType(type: "image", subtype: subtype)
        self.width = Int(width)
        self.height = Int(height)
    }

    var pixels: Int64 { Int64(width) * Int64(height) }

    private static func png(_ bytes: ImageBytes) -> ImageHeader? {
        guard bytes[0] == 0x89, bytes.holds("PNG\r\n\u{1A}\n", at: 1), bytes.number(at: 8, 4) == 13,
            bytes.holds("IHDR", at: 12)
        else { return nil }
        return ImageHeader("png", bytes.number(at: 16, 4), bytes.number(at: 20, 4))
    }

    private static func gif(_ bytes: ImageBytes) -> ImageHeader? {
        guard bytes.holds("GIF87a", at: 0) || bytes.holds("GIF89a", at: 0) else { return nil }
        return ImageHeader("gif", bytes.number(at: 6, 2, isLittle: true), bytes.number(at: 8, 2, isLittle: true))
    }

    /// RFC 9649: a simple lossy or lossless file, or an extended one with the size of its canvas.
    private static func webP(_ bytes: ImageBytes) -> ImageHeader? {
        guard bytes.holds("RIFF", at: 0), bytes.holds("WEBP", at: 8) else { return nil }
        if bytes.holds("VP8 ", at: 12) {
            // A key frame begins with three bytes, whose first bit is 0, and a start code.
            guard let tag = bytes[20], tag & 1 == 0, bytes.number(at: 23, 3) == 0x9D012A else { return nil }
            let width = bytes.number(at: 26, 2, isLittle: true).map { $0 & 0x3FFF }
            let height = bytes.number(at: 28, 2, isLittle: true).map { $0 & 0x3FFF }
            return ImageHeader("webp", width, height)
        }
        if bytes.holds("VP8L", at: 12) {
            guard bytes[20] == 0x2F, let bits = bytes.number(at: 21, 4, isLittle: true) else { return nil }
            return ImageHeader("webp", bits & 0x3FFF + 1, (bits >> 14) & 0x3FFF + 1)
        }
        guard bytes.holds("VP8X", at: 12) else { return nil }
        let width = bytes.number(at: 24, 3, isLittle: true).map { $0 + 1 }
        return ImageHeader("webp", width, bytes.number(at: 27, 3, isLittle: true).map { $0 + 1 })
    }

    /// ITU-T T.81: segments up to the first start of a frame.
    private static func jpeg(_ bytes: ImageBytes) -> ImageHeader? {
        guard bytes[0] == 0xFF, bytes[1] == 0xD8, bytes[2] == 0xFF else { return nil }
        var position = 2
        for _ in 0..<maximumSegments {
            guard bytes[position] == 0xFF else { return nil }
            // Any number of fill bytes may stand before a marker.
            while bytes[position] == 0xFF { position += 1 }
            guard let marker = bytes[position] else { return nil }
            position += 1
            switch marker {
            case 0x01, 0xD0...0xD7: continue
            case 0x00, 0xD8...0xDA: return nil
            case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
                return ImageHeader("jpeg", bytes.number(at: position + 5, 2), bytes.number(at: position + 3, 2))
            default:
                guard let length = bytes.number(at: position, 2), length >= 2 else { return nil }
                position += Int(length)
            }
        }
        return nil
    }
}

/// The bytes of a file, read at positions that may lie outside: then the result is nil.
private struct ImageBytes {
    let bytes: Data

    subscript(position: Int) -> UInt8? {
        position < bytes.count ? bytes[bytes.startIndex + position] : nil
    }

    /// Returns whether the bytes at `position` are those of an ASCII text.
    func holds(_ text: String, at position: Int) -> Bool {
        bytes.dropFirst(position).starts(with: text.utf8)
    }

    /// Returns the number of `width` bytes at `position`, at most four; the first byte is the most significant one
    /// unless `isLittle`.
    func number(at position: Int, _ width: Int, isLittle: Bool = false) -> UInt32? {
        let found = bytes.dropFirst(position).prefix(width)
        guard found.count == width else { return nil }
        return (isLittle ? Data(found.reversed()) : found).reduce(0) { $0 << 8 | UInt32($1) }
    }
}
