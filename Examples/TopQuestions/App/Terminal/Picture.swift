// SPDX-License-Identifier: MIT

#if !canImport(SwiftUI)
import Curlew

struct Pixel: Equatable {
    var red, green, blue: UInt8
}

/// What can be said of a picture in a terminal: its pixels if it is one of the simplest, else its type and size.
struct Picture: Equatable {
    /// `PNG, 1 kB`
    let about: String
    private let image: PaletteImage?

    init(_ data: Data) {
        let types: [(String, [UInt8])] = [
            ("PNG", PaletteImage.signature), ("JPEG", [0xFF, 0xD8, 0xFF]), ("GIF", Array("GIF8".utf8)),
        ]
        let type = types.first { data.starts(with: $0.1) }?.0 ?? "a picture of another type"
        about = "\(type), \((data.count + 1023) / 1024) kB"
        image = PaletteImage(png: data)
    }

    /// The picture in half blocks, two rows of pixels a line; empty if it cannot be drawn.
    func lines(columns: Int) -> [Line] {
        guard let image else { return [] }
        return stride(from: 0, to: columns, by: 2).map { row in
            var line = Line()
            for column in 0..<columns {
                let (top, bottom) = (image.sample(column, row, of: columns), image.sample(column, row + 1, of: columns))
                line.append("▀", .pixels(top: top, bottom: bottom))
            }
            return line
        }
    }
}

/// A PNG of two colours whose pixels are not compressed, as the sample server draws them. Decoding more would take a
/// library; this is enough to see what arrived.
private struct PaletteImage: Equatable {
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    private let width, height: Int
    private let palette: [UInt8]
    private let rows: [UInt8]

    init?(png: Data) {
        guard png.count <= 65_536, png.starts(with: Self.signature) else { return nil }
        var rest = Array(png.dropFirst(8))[...]
        var chunks: [String: [UInt8]] = [:]
        while rest.count >= 12 {
            let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            let name = String(decoding: rest.dropFirst(4).prefix(4), as: UTF8.self)
            guard length <= rest.count - 12 else { return nil }
            chunks[name, default: []] += rest.dropFirst(8).prefix(length)
            rest = rest.dropFirst(12 + length)
        }
        guard let head = chunks["IHDR"], head.count == 13, let palette = chunks["PLTE"], palette.count >= 6,
            let rows = Self.stored(chunks["IDAT"] ?? [])
        else { return nil }
        width = head[0..<4].reduce(0) { $0 << 8 | Int($1) }
        height = head[4..<8].reduce(0) { $0 << 8 | Int($1) }
        self.palette = palette
        self.rows = rows
        // One bit a pixel, each an index into the palette; rows that are not filtered.
        guard head[8...] == [1, 3, 0, 0, 0], (1...512).contains(width), (1...512).contains(height),
            rows.count == height * stride,
            Swift.stride(from: 0, to: rows.count, by: stride).allSatisfy({ rows[$0] == 0 })
        else { return nil }
    }

    /// The pixel in the middle of a square, where `count` of them fill a side.
    func sample(_ column: Int, _ row: Int, of count: Int) -> Pixel {
        let x = (2 * column + 1) * width / (2 * count)
        let y = (2 * row + 1) * height / (2 * count)
        guard x < width, y < height else { return Pixel(red: 0, green: 0, blue: 0) }
        let entry = 3 * Int(rows[y * stride + 1 + x / 8] >> UInt8(7 - x % 8) & 1)
        return Pixel(red: palette[entry], green: palette[entry + 1], blue: palette[entry + 2])
    }

    /// Each begins with the number of its filter.
    private var stride: Int { 1 + (width + 7) / 8 }

    /// The content of stored blocks (RFC 1951 §3.2.4) inside zlib; nil for blocks that are compressed.
    private static func stored(_ zlib: [UInt8]) -> [UInt8]? {
        var rest = zlib.dropFirst(2)
        var content: [UInt8] = []
        while rest.count >= 5 {
            let head = Array(rest.prefix(5))
            let length = Int(head[1]) | Int(head[2]) << 8
            guard head[0] <= 1, rest.count >= 5 + length else { return nil }
            content += rest.dropFirst(5).prefix(length)
            if head[0] == 1 { return content }
            rest = rest.dropFirst(5 + length)
        }
        return nil
    }
}
#endif
