// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewTransfers

@Suite(.timeLimit(.minutes(1)))
struct ImageHeaderTests {
    @Test("Files of Pillow have their format and their stored size", arguments: SampleImages.all)
    func samples(sample: SampleImages.Sample) throws {
        let header = try #require(ImageHeader(sample.bytes))
        #expect(header.mediaType.essence == sample.mediaType)
        #expect(header.width == sample.width && header.height == sample.height)
        // A slice has other indices.
        #expect(ImageHeader((Data([1, 2, 3]) + sample.bytes).dropFirst(3)) == header)
    }

    @Test("No part of a file is read outside of it, and a cut file has its size or none", arguments: SampleImages.all)
    func cuts(sample: SampleImages.Sample) {
        let whole = ImageHeader(sample.bytes)
        for count in 0..<sample.bytes.count {
            let header = ImageHeader(sample.bytes.prefix(count))
            #expect(header == nil || header == whole, "\(count) bytes")
        }
    }

    @Test("Changed bytes never trap, and every size has pixels", arguments: 1...40)
    func fuzz(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for sample in SampleImages.all {
            for _ in 0..<40 {
                var bytes = sample.bytes
                for _ in 0..<Int.random(in: 1...6, using: &random) {
                    let place = Int.random(in: 0..<bytes.count, using: &random)
                    let values: [UInt8] = [0, 1, 0xFF, 0x7F, UInt8.random(in: 0...255, using: &random)]
                    bytes[place] = values[Int.random(in: 0..<5, using: &random)]
                }
                guard let header = ImageHeader(bytes) else { continue }
                #expect((1...Int(Int32.max)).contains(header.width), "seed \(seed)")
                #expect((1...Int(Int32.max)).contains(header.height), "seed \(seed)")
            }
            let noise = Data(random.bytes(upTo: 300))
            _ = ImageHeader(sample.bytes.prefix(Int.random(in: 0...40, using: &random)) + noise)
        }
    }

    @Test(
        "Other content is no image",
        arguments: [
            [], [0x89], Array("\u{89}PNG\r\n\u{1A}\n".utf8), Array("GIF89a".utf8), Array("GIF89a\0\0\u{1}\0".utf8),
            Array("<svg xmlns=\"http://www.w3.org/2000/svg\"/>".utf8), Array("<!DOCTYPE html>".utf8),
            [0xFF, 0xD8, 0xFF],
            [0xFF, 0xD8, 0xFF, 0xDA, 0, 2], [0xFF, 0xD8] + [UInt8](repeating: 0xFF, count: 5000),
            [0xFF, 0xD8, 0xFF, 0xC0, 0, 8, 8, 0, 0, 0, 6, 1], [0xFF, 0xD8, 0xFF, 0xE0, 0, 1],
            Array("RIFF\0\0\0\0WEBPVP8X".utf8), Array("RIFF\0\0\0\0WEBPJUNK\0\0\0\0".utf8),
        ] as [[UInt8]])
    func others(bytes: [UInt8]) {
        #expect(ImageHeader(Data(bytes)) == nil)
    }

    @Test("Structures before the size are bounded")
    func bounds() {
        let short: [UInt8] = [0xFF, 0xE0, 0, 2]
        let frame: [UInt8] = [0xFF, 0xC2, 0, 11, 8, 0, 4, 0, 6, 1, 0, 0, 0]
        let few = [0xFF, 0xD8] + Array(repeatElement(short, count: 9_000).joined()) + frame
        #expect(ImageHeader(Data(few))?.width == 6)
        let many = [0xFF, 0xD8] + Array(repeatElement(short, count: 500_000).joined()) + frame
        #expect(ImageHeader(Data(many)) == nil)
    }
}
