// SPDX-License-Identifier: MIT

import CurlewFoundation
import CurlewHTTP
import CurlewTesting
import Testing

@testable import CurlewTransfers

/// HEIC and AVIF files whose boxes are built by ISO/IEC 14496-12 and 23008-12, without pixels.
@Suite(.timeLimit(.minutes(1)))
struct ImageBoxTests {
    /// How the length of a box is written.
    enum Length: CaseIterable, Sendable {
        case short, long, toTheEnd
    }

    private static func four(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    private static func two(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xFF)] }

    private static func box(_ name: String, _ content: [UInt8], _ length: Length = .short) -> [UInt8] {
        switch length {
        case .short: four(UInt32(content.count + 8)) + Array(name.utf8) + content
        case .long: four(1) + Array(name.utf8) + four(0) + four(UInt32(content.count + 16)) + content
        case .toTheEnd: four(0) + Array(name.utf8) + content
        }
    }

    /// A property of the primary item.
    enum Property: Sendable {
        case extent(UInt32, UInt32), rotation(UInt8), mirror(UInt8), aperture([UInt32]), other

        var bytes: [UInt8] {
            switch self {
            case .extent(let width, let height): box("ispe", four(0) + four(width) + four(height))
            case .rotation(let angle): box("irot", [angle])
            case .mirror(let axis): box("imir", [axis])
            case .aperture(let numbers): box("clap", numbers.flatMap { four($0) })
            case .other: box("free", [1, 2, 3])
            }
        }
    }

    /// A file whose primary item has the properties in this order. Another item, with another size, comes first.
    private static func file(
        _ properties: [Property], brands: [String] = ["mif1", "heic"], item: UInt32 = 7, isWide: Bool = false,
        hasWideIndexes: Bool = false, length: Length = .short, extra: [UInt8] = []
    ) -> Data {
        let all = [Property.extent(999, 999)] + properties
        let version: UInt8 = isWide ? 1 : 0
        func id(_ value: UInt32) -> [UInt8] { isWide ? four(value) : two(UInt16(value)) }
        func index(_ value: Int) -> [UInt8] { hasWideIndexes ? two(0x8000 | UInt16(value)) : [0x80 | UInt8(value)] }
        let entries =
            id(1) + [1] + index(1) + id(item) + [UInt8(properties.count)] + (2..<2 + properties.count).flatMap(index)
        let ipma = box("ipma", [version, 0, 0, hasWideIndexes ? 1 : 0] + four(2) + entries)
        let iprp = box("iprp", box("ipco", all.flatMap(\.bytes)) + ipma)
        let pitm = box("pitm", [version, 0, 0, 0] + id(item))
        let type = box("ftyp", Array((brands[0] + "\0\0\0\0" + brands.joined()).utf8))
        return Data(type + extra + box("meta", four(0) + pitm + iprp, length))
    }

    private static func size(_ data: Data) -> [Int]? { ImageHeader(data).map { [$0.width, $0.height] } }

    @Test("A mirror axis keeps the size, a quarter turn exchanges it, in any order and number")
    func orientations() {
        let extent = Property.extent(4032, 3024)
        for axis in [UInt8(0), 1] {
            #expect(Self.size(Self.file([extent, .mirror(axis)])) == [4032, 3024])
        }
        for angle in UInt8(0)...3 {
            let turned = angle % 2 == 1 ? [3024, 4032] : [4032, 3024]
            for order in [[extent, .rotation(angle)], [.rotation(angle), extent]] {
                #expect(Self.size(Self.file(order)) == turned)
            }
            #expect(Self.size(Self.file([extent, .mirror(1), .rotation(angle)])) == turned)
            #expect(Self.size(Self.file([extent, .rotation(angle), .other, .mirror(0)])) == turned)
            // The six bits before the angle are reserved, and mean nothing.
            #expect(Self.size(Self.file([extent, .rotation(angle | 0xFC)])) == turned)
            #expect(Self.size(Self.file([extent, .rotation(angle), .rotation(1)])) == turned.reversed())
        }
    }

    @Test("Every version of the boxes, every form of their lengths, and both formats")
    func forms() {
        let properties = [Property.other, .extent(640, 480), .rotation(3)]
        for isWide in [false, true] {
            for hasWideIndexes in [false, true] {
                for length in Length.allCases {
                    for brands in [["heic", "mif1"], ["avif", "mif1", "miaf"], ["mif1", "avif"]] {
                        let data = Self.file(
                            properties, brands: brands, item: isWide ? 70_000 : 7, isWide: isWide,
                            hasWideIndexes: hasWideIndexes, length: length,
                            extra: Self.box("free", [UInt8](repeating: 0, count: 100), length == .long ? .long : .short)
                        )
                        #expect(Self.size(data) == [480, 640])
                        let type = brands.contains("avif") ? "image/avif" : "image/heic"
                        #expect(ImageHeader(data)?.mediaType.essence == type)
                    }
                }
            }
        }
    }

    @Test("A clean aperture is the size, in the orientation at its place; one that cannot be is ignored")
    func apertures() {
        let extent = Property.extent(100, 60)
        let offsets: [UInt32] = [0, 1, 0, 1]
        #expect(Self.size(Self.file([extent, .aperture([80, 1, 50, 1] + offsets)])) == [80, 50])
        #expect(Self.size(Self.file([extent, .aperture([160, 2, 100, 2] + offsets), .rotation(1)])) == [50, 80])
        #expect(Self.size(Self.file([extent, .rotation(1), .aperture([50, 1, 80, 1] + offsets)])) == [50, 80])
        for numbers: [UInt32] in [
            [80, 0, 50, 1], [0, 1, 50, 1], [101, 1, 50, 1], [80, 1, 61, 1], [81, 2, 50, 1], [80, 1],
            [.max, 1, .max, 1],
        ] {
            #expect(Self.size(Self.file([extent, .aperture(numbers)])) == [100, 60], "\(numbers)")
        }
    }

    @Test("Files without a size, or with an impossible one, are no images")
    func malformed() {
        for properties: [Property] in [
            [], [.rotation(1)], [.extent(0, 5)], [.extent(5, 0)], [.extent(0x8000_0000, 1)], [.extent(1, .max)],
        ] {
            #expect(Self.size(Self.file(properties)) == nil)
        }
        #expect(Self.size(Self.file([.extent(6, 4)], brands: ["isom"])) == nil)
    }

    @Test("Generated damage never traps: it costs the size, or leaves one that has pixels", arguments: 1...30)
    func damage(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<60 {
            let properties = (0..<Int.random(in: 1...6, using: &random)).map { _ -> Property in
                switch Int.random(in: 0..<5, using: &random) {
                case 0: .rotation(UInt8.random(in: 0...255, using: &random))
                case 1: .mirror(UInt8.random(in: 0...255, using: &random))
                case 2: .aperture((0..<8).map { _ in UInt32.random(in: 0...300, using: &random) })
                case 3: .other
                default:
                    .extent(UInt32.random(in: 0...4000, using: &random), UInt32.random(in: 0...4000, using: &random))
                }
            }
            var bytes = Self.file(
                properties, isWide: Bool.random(using: &random), hasWideIndexes: Bool.random(using: &random),
                length: Length.allCases[Int.random(in: 0..<3, using: &random)])
            // Lengths, counts and indexes: every byte of the structure is a candidate.
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                let values: [UInt8] = [0, 1, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &random)]
                bytes[place] = values[Int.random(in: 0..<values.count, using: &random)]
            }
            if Bool.random(using: &random) { bytes = bytes.prefix(Int.random(in: 0...bytes.count, using: &random)) }
            guard let size = Self.size(bytes) else { continue }
            #expect(size.allSatisfy { (1...Int(Int32.max)).contains($0) }, "seed \(seed)")
        }
    }
}
