// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore

@Suite(.timeLimit(.minutes(1)))
struct OutgoingBytesTests {
    @Test("Bytes arrive in order, and writers that are always ahead cost no memory", arguments: 0..<4 as Range<UInt64>)
    func memory(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let output = OutgoingBytes(capacity: 64 << 10)
        var (written, read, most) = (0, 0, 0)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 << 10, alignment: 1)
        defer { buffer.deallocate() }
        // Each byte says where it belongs. The pattern repeats, so that messages are parts of it: ThreadSanitizer makes
        // loops over bytes a hundred times slower.
        let period = 7 * 256
        let pattern = Data((0..<(period + 30_000)).map { UInt8(truncatingIfNeeded: $0 / 7) })
        for _ in 0..<5_000 {
            let size = Int.random(in: 1..<30_000, using: &random)
            if output.hasRoom {
                let start = written % period
                try output.append(pattern.subdata(in: start..<(start + size)))
                written += size
            }
            guard case .bytes(let count) = output.read(into: buffer) else { continue }
            let start = read % period
            #expect(Data(buffer[..<count]) == pattern[start..<(start + count)])
            read += count
            most = max(most, output.keptBytes)
        }
        #expect(written - read == output.count)
        #expect(written > 30 << 20)
        // The capacity, one message more, and as much again before it is moved.
        #expect(most <= 2 * (96 << 10) + (64 << 10))
    }

    @Test("The last bytes are in the buffer before it ends, and nothing after them")
    func finish() throws {
        let output = OutgoingBytes()
        try output.append(Data([1]))
        output.finish(appending: Data([2]))
        #expect(throws: NetworkError.self) { try output.append(Data([3])) }
        output.finish(appending: Data([4]))
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 8, alignment: 1)
        defer { buffer.deallocate() }
        guard case .bytes(2) = output.read(into: buffer), case .end = output.read(into: buffer) else {
            Issue.record("Not two bytes and the end.")
            return
        }
        #expect(buffer[0] == 1 && buffer[1] == 2)
    }
}
