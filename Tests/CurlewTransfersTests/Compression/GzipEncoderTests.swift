// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewTesting
import TestServers
import Testing

@testable import CurlewTransfers

/// Bytes that compress well, but are no mere repetition.
func prose(_ count: Int) -> Data {
    var random = SeededGenerator(seed: 7)
    var text = ""
    let words = ["name ", "value ", "null, "]
    while text.utf8.count < count {
        text += words[Int.random(in: 0..<3, using: &random)]
        text += "{\"id\":\(Int.random(in: 0..<1000, using: &random))},"
    }
    return Data(text.utf8.prefix(count))
}

/// What Python decodes from the compressed bytes.
func pythonDecoded(_ coded: [Data]) async throws -> [Data] {
    try await onThread {
        let folder = try TemporaryFolder()
        let paths = try coded.enumerated().map { try folder.file("\($0.offset)", $0.element) }
        let script = """
            import gzip, struct, sys
            for path in sys.argv[1:]:
                data = gzip.decompress(open(path, "rb").read())
                sys.stdout.buffer.write(struct.pack(">I", len(data)) + data)
            """
        var output = try Program.run(Program.python(), ["-c", script] + paths)
        var result: [Data] = []
        while output.count >= 4 {
            let length = output.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            result.append(Data(output.dropFirst(4).prefix(length)))
            output = output.dropFirst(4 + length)
        }
        return result
    }
}

@Suite(.timeLimit(.minutes(1)))
struct GzipEncoderTests {
    private static func chunks(_ data: Data, of size: Int) -> [Data] {
        stride(from: 0, to: data.count, by: size).map { Data(data[$0..<min($0 + size, data.count)]) }
    }

    private static func collect(_ body: RequestBody) async throws -> [Data] {
        var all: [Data] = []
        for try await chunk in try body.chunks() { all.append(chunk) }
        return all
    }

    @Test("Python decodes what a stream of any chunk size becomes")
    func chunkSizes() async throws {
        var random = SeededGenerator(seed: 11)
        let noise = Data((0..<300_000).map { _ in UInt8.random(in: 0...255, using: &random) })
        var inputs: [Data] = []
        var coded: [Data] = []
        for (data, sizes) in [
            (prose(20_000), [1, 2, 3, 7, 100, 4096, 20_000]), (noise, [1021, 65_536, 300_000]),
            (prose(600_000), [65_536, 600_000]), (Data(), [1]), (Data([1]), [1]),
        ] {
            for size in sizes {
                for flushing in [false, true] {
                    let pieces = Self.chunks(data, of: size)
                    let body = RequestBody.stream(replay: .always) { RequestBody.Chunks(AsyncStream(pieces)) }
                    let whole = try await Self.collect(body.compressedWhileSending(flushing: flushing))
                    inputs.append(data)
                    coded.append(whole.reduce(into: Data()) { $0 += $1 })
                }
            }
        }
        #expect(try await pythonDecoded(coded) == inputs)
    }

    @Test("Bytes in memory are compressed at once, the same each time, and only if they become smaller")
    func atOnce() async throws {
        let sizes = [1, 10, 1024, GzipEncoder.piece - 1, GzipEncoder.piece, GzipEncoder.piece + 1, 600_000]
        var coded: [Data] = []
        var inputs: [Data] = []
        for data in sizes.map(prose) {
            let result = try await GzipEncoder.compressed(data)
            #expect(try await GzipEncoder.compressed(data) == result)
            guard let result else {
                #expect(data.count <= 10)
                continue
            }
            // A slice has other indices.
            #expect(try await GzipEncoder.compressed(Data([0, 1, 2]) + data).map { $0.count > 0 } == true)
            #expect(try await GzipEncoder.compressed((Data([0, 1, 2]) + data).dropFirst(3)) == result)
            #expect(result.count < data.count)
            inputs.append(data)
            coded.append(result)
        }
        #expect(coded.count == 5)
        #expect(try await pythonDecoded(coded) == inputs)
        var random = SeededGenerator(seed: 3)
        let noise = Data((0..<600_000).map { _ in UInt8.random(in: 0...255, using: &random) })
        #expect(try await GzipEncoder.compressed(noise) == nil)
        #expect(try await GzipEncoder.compressed(Data()) == nil)
    }

    @Test("A stream passes on each chunk before the next one exists")
    func flushes() async throws {
        let (stream, source) = AsyncStream.makeStream(of: Data.self)
        let body = RequestBody.stream { RequestBody.Chunks(stream) }.compressedWhileSending(flushing: true)
        var iterator = try body.chunks().makeAsyncIterator()
        var coded = Data()
        for number in 0..<20 {
            source.yield(Data("line \(number)\n".utf8))
            let chunk = try #require(try await iterator.next())
            // The end of a block: an empty stored block.
            #expect(chunk.suffix(4) == Data([0, 0, 0xFF, 0xFF]))
            coded += chunk
        }
        source.finish()
        while let chunk = try await iterator.next() { coded += chunk }
        #expect(try await iterator.next() == nil)
        let text = (0..<20).map { "line \($0)\n" }.joined()
        #expect(try await pythonDecoded([coded]) == [Data(text.utf8)])
    }

    @Test("A large stream and a large chunk are compressed in bounded pieces, one input at a time")
    func memory() async throws {
        let chunk = prose(1 << 20)
        let produced = Locked(0)
        let body = RequestBody.stream(replay: .always) {
            produced.withLock { $0 = 0 }
            return RequestBody.Chunks(
                AsyncStream {
                    produced.withLock { count in
                        count += 1
                        return count <= 32 ? chunk : nil
                    }
                })
        }
        .compressedWhileSending(flushing: false)
        var iterator = try body.chunks().makeAsyncIterator()
        var largest = 0
        var total = 0
        while let piece = try await iterator.next() {
            largest = max(largest, piece.count)
            total += piece.count
            // Compression of this text is at least threefold, so this bounds how far the input runs ahead.
            #expect(produced.withLock { $0 } <= 2 + total / (chunk.count / 64))
        }
        #expect(produced.withLock { $0 } == 33)
        #expect(largest <= GzipEncoder.piece)
        #expect(total > 1 << 20 && total < 16 << 20)
    }

    @Test("Errors of the stream end the compressed stream")
    func failure() async throws {
        struct Broken: Error {}
        let body = RequestBody.stream {
            RequestBody.Chunks(AsyncThrowingStream { $0.finish(throwing: Broken()) })
        }
        .compressedWhileSending(flushing: true)
        await #expect(throws: Broken.self) { _ = try await Self.collect(body) }
        #expect(body.length == nil && !body.canReplay)
    }
}

extension AsyncStream where Element: Sendable {
    fileprivate init(_ elements: [Element]) {
        self.init { continuation in
            for element in elements { continuation.yield(element) }
            continuation.finish()
        }
    }
}
