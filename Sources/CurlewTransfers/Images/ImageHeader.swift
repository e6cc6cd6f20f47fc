// SPDX-License-Identifier: MIT

import CurlewFoundation
import CurlewHTTP

/// The format and the size of an image, read from the first structures of its file. Nothing is decoded.
///
/// The size is that of the image as it is shown: turned as its metadata say. Reading takes time in proportion to the
/// number of structures before the size, which is limited, and never depends on what a file claims.
struct ImageHeader: Hashable, Sendable {
    let mediaType: MediaType
    /// At least 1.
    let width: Int
    /// At least 1.
    let height: Int

    /// Reads the header of a PNG, JPEG, GIF, WebP, AVIF or HEIC file. Returns nil for other content, and for a file
    /// whose size cannot be found.
    init?(_ data: Data) {
        let bytes = ImageBytes(data)
        guard let found = Self.png(bytes) ?? Self.jpeg(bytes) ?? Self.gif(bytes) ?? Self.webP(bytes) ?? Self.iso(bytes)
        else { return nil }
        self = found
    }

    /// Returns nil for a size without pixels, or one that no `Int32` can hold.
    init?(_ subtype: String, _ width: UInt32?, _ height: UInt32?, isTurned: Bool = false) {
        guard let width, let height, (1...0x7FFF_FFFF).contains(width), (1...0x7FFF_FFFF).contains(height) else {
            return nil
        }
        mediaType = MediaType(type: "image", subtype: subtype)
        self.width = Int(isTurned ? height : width)
        self.height = Int(isTurned ? width : height)
    }

    /// The number of pixels.
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
}

extension ImageHeader {
    /// The maximum number of segments before the size of a JPEG file.
    private static let mostSegments = 10_000
    /// The maximum number of tags of which the orientation is searched.
    private static let mostTags = 1000

    /// ITU-T T.81: segments up to the first start of a frame. The orientation is in a segment with Exif data before it.
    fileprivate static func jpeg(_ bytes: ImageBytes) -> ImageHeader? {
        guard bytes[0] == 0xFF, bytes[1] == 0xD8, bytes[2] == 0xFF else { return nil }
        var position = 2
        var isTurned: Bool?
        for _ in 0..<mostSegments {
            guard bytes[position] == 0xFF else { return nil }
            // Any number of fill bytes may stand before a marker.
            while bytes[position] == 0xFF { position += 1 }
            guard let marker = bytes[position] else { return nil }
            position += 1
            switch marker {
            case 0x01, 0xD0...0xD7: continue
            case 0x00, 0xD8...0xDA: return nil
            default: break
            }
            guard let length = bytes.number(at: position, 2), length >= 2 else { return nil }
            if (0xC0...0xCF).contains(marker), ![0xC4, 0xC8, 0xCC].contains(marker) {
                return ImageHeader(
                    "jpeg", bytes.number(at: position + 5, 2), bytes.number(at: position + 3, 2),
                    isTurned: isTurned ?? false)
            }
            if marker == 0xE1, isTurned == nil, bytes.holds("Exif\0\0", at: position + 2),
                let exif = bytes[min(position + 8, position + Int(length))..<(position + Int(length))]
            {
                isTurned = Self.isTurned(exif)
            }
            position += Int(length)
        }
        return nil
    }

    /// Returns whether the orientation in Exif data exchanges width and height: a value from 5 to 8.
    private static func isTurned(_ exif: ImageBytes) -> Bool {
        let isLittle = exif.holds("II", at: 0)
        guard isLittle || exif.holds("MM", at: 0), exif.number(at: 2, 2, isLittle: isLittle) == 42,
            let start = exif.number(at: 4, 4, isLittle: isLittle).flatMap({ Int(exactly: $0) }), start < exif.count,
            let count = exif.number(at: start, 2, isLittle: isLittle)
        else { return false }
        for index in 0..<min(Int(count), mostTags) {
            let entry = start + 2 + index * 12
            guard let tag = exif.number(at: entry, 2, isLittle: isLittle) else { return false }
            guard tag == 0x0112 else { continue }
            // A short number (type 3) stands in the entry itself.
            guard exif.number(at: entry + 2, 2, isLittle: isLittle) == 3,
                let orientation = exif.number(at: entry + 8, 2, isLittle: isLittle)
            else { return false }
            return (5...8).contains(orientation)
        }
        return false
    }
}
