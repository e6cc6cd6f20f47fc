// SPDX-License-Identifier: MIT

import Testing

@Suite(.timeLimit(.minutes(1)))
struct ResponseBodyLinesTests {
    private func body(_ source: ChunkSource, limit: Int64 = .max) -> ResponseBody {
        ResponseBody(source, limit: limit, length: nil)
    }

    @Test(
        "Lines end with LF or CR LF, however the body is divided",
        arguments: [
            ("", []), ("\n", [""]), ("\r\n", [""]), ("a", ["a"]), ("a\n", ["a"]), ("a\nb\r\nc", ["a", "b", "c"]),
            ("\n\na\n\n", ["", "", "a", ""]), ("a\rb\n\rc\r", ["a\rb", "\rc"]),
            ("\u{FEFF}é\n\u{FEFF}🦜", ["é", "\u{FEFF}🦜"]),
            ("\u{FEFF}\n", [""]), (" a \t\n", [" a \t"]),
        ] as [(String, [String])])
    func lines(_ text: String, _ expected: [String]) async throws {
        let bytes = Data(text.utf8)
        for first in 0...bytes.count {
            for second in first...bytes.count {
                let chunks = [bytes[..<first], bytes[first..<second], bytes[second...]].filter { !$0.isEmpty }
                var lines: [String] = []
                for try await line in body(ChunkSource(chunks)).lines { lines.append(line) }
                // As bytes: equal strings may differ in them.
                #expect(lines.map { Array($0.utf8) } == expected.map { Array($0.utf8) }, "\(first) \(second)")
            }
        }
    }

    @Test("Invalid UTF-8 becomes U+FFFD")
    func invalidText() async throws {
        var lines = body(ChunkSource([Data([0x61, 0xFF, 0x0A, 0xC3])])).lines.makeAsyncIterator()
        #expect(try await lines.next() == "a\u{FFFD}")
        #expect(try await lines.next() == "\u{FFFD}")
        #expect(try await lines.next() == nil)
    }

    @Test("A line beyond the limit ends the transfer, after the lines before it", arguments: [1, 3, 100])
    func lineLimit(_ size: Int) async throws {
        let bytes = Data("12345\n123456\n1\n".utf8)
        let chunks = stride(from: 0, to: bytes.count, by: size).map { bytes[$0..<min($0 + size, bytes.count)] }
        let source = ChunkSource(chunks)
        var lines = body(source).lines(upTo: 5).makeAsyncIterator()
        #expect(try await lines.next() == "12345")
        let error = await #expect(throws: NetworkError.self) { try await lines.next() }
        #expect(error?.reason == .limitExceeded(.responseBody))
        #expect(error?.detail == "Line 2 of the response has more than 5 bytes.")
        #expect(source.wasCancelled)
        #expect(try await lines.next() == nil)
    }

    @Test("The default limit of a line is 1 MiB")
    func defaultLimit() async throws {
        let longest = Data(repeating: 0x61, count: 1 << 20)
        var lines = body(ChunkSource([longest, Data("\n".utf8), longest, longest])).lines.makeAsyncIterator()
        #expect(try await lines.next()?.utf8.count == 1 << 20)
        await #expect(throws: NetworkError.self) { try await lines.next() }
    }

    @Test("A body that breaks off has the complete lines before, and then its error")
    func brokenLines() async throws {
        let lost = NetworkError(.connectionLost(.requestMayHaveArrived))
        var lines = body(ChunkSource(["a\nb"], error: lost)).lines.makeAsyncIterator()
        #expect(try await lines.next() == "a")
        await #expect(throws: lost) { try await lines.next() }
        #expect(try await lines.next() == nil)
    }

    @Test("The limit of the body applies to its lines and bytes")
    func bodyLimit() async throws {
        await #expect(throws: NetworkError.self) {
            for try await _ in body(ChunkSource(["a\n", "b\n"]), limit: 3).lines {}
        }
        await #expect(throws: NetworkError.self) {
            for try await _ in body(ChunkSource(["a\n", "b\n"]), limit: 3).bytes {}
        }
    }

    @Test("A chunk is requested only when the lines or bytes before it were read")
    func backPressure() async throws {
        let source = ChunkSource(["a\nb\n", "c\n"])
        var lines = body(source).lines.makeAsyncIterator()
        _ = try await lines.next()
        _ = try await lines.next()
        #expect(source.pulls == 1)
        let other = ChunkSource(["ab", "c"])
        var bytes = body(other).bytes.makeAsyncIterator()
        _ = try await bytes.next()
        _ = try await bytes.next()
        #expect(other.pulls == 1)
        _ = try await bytes.next()
        #expect(other.pulls == 2)
    }

    @Test("Bytes arrive in order, over empty chunks")
    func bytes() async throws {
        let chunks = [Data(), Data([1, 2]), Data(), Data(), Data([3]), Data((4...255).map { UInt8($0) }), Data()]
        var bytes: [UInt8] = []
        for try await byte in body(ChunkSource(chunks)).bytes { bytes.append(byte) }
        #expect(bytes == Array(1...255))
        var none = ResponseBody(Data()).bytes.makeAsyncIterator()
        #expect(try await none.next() == nil)
        #expect(try await none.next() == nil)
    }

    @Test("Bytes throw the error of the body once")
    func brokenBytes() async throws {
        let lost = NetworkError(.connectionLost(.requestMayHaveArrived))
        var bytes = body(ChunkSource(["a"], error: lost)).bytes.makeAsyncIterator()
        #expect(try await bytes.next() == 0x61)
        await #expect(throws: lost) { try await bytes.next() }
        #expect(try await bytes.next() == nil)
    }

    @Test("On an actor, bytes and lines are read too")
    @MainActor
    func actor() async throws {
        var count = 0
        for try await _ in body(ChunkSource(["ab", "c"])).bytes { count += 1 }
        for try await _ in body(ChunkSource(["ab\n", "c"])).lines { count += 1 }
        #expect(count == 5)
    }

    @Test("A body is read once")
    func once() async throws {
        let body = ResponseBody(Data("a\nb".utf8))
        for try await _ in body.lines {}
        await #expect(throws: NetworkError.self) { for try await _ in body.lines {} }
        await #expect(throws: NetworkError.self) { for try await _ in body.bytes {} }
    }
}
