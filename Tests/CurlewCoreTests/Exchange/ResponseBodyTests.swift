// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore

@Suite(.timeLimit(.minutes(1)))
struct ResponseBodyTests {
    @Test("Chunks come in order and whole; bytes at hand are one chunk, no bytes are none")
    func chunks() async throws {
        let source = ChunkSource(["a", "bc", "def"])
        var chunks: [String] = []
        for try await chunk in ResponseBody(source, limit: 100, length: nil) {
            chunks.append(String(decoding: chunk, as: UTF8.self))
        }
        #expect(chunks == ["a", "bc", "def"])

        var buffered: [Data] = []
        for try await chunk in ResponseBody(Data("xyz".utf8)) { buffered.append(chunk) }
        #expect(buffered == [Data("xyz".utf8)])
        for try await _ in ResponseBody(Data()) { Issue.record("an empty body has no chunk") }
    }

    @Test("Collecting returns all bytes", arguments: [nil, 6] as [Int64?])
    func collects(length: Int64?) async throws {
        let body = ResponseBody(ChunkSource(["a", "bc", "def"]), limit: 6, length: length)
        #expect(try await body.collect() == Data("abcdef".utf8))
    }

    @Test("A second reading throws, in whatever form the first and the second are")
    func secondReading() async throws {
        for body in [ResponseBody(Data("abc".utf8)), ResponseBody(ChunkSource(["abc"]), limit: 9, length: nil)] {
            let copy = body
            _ = try await body.collect()
            let error = await #expect(throws: NetworkError.self) { try await copy.collect() }
            #expect(error?.reason == .invalidRequest)
            #expect(error?.hint?.contains("collect()") == true)
            var iterator = copy.makeAsyncIterator()
            await #expect(throws: NetworkError.self) { try await iterator.next() }
            #expect(try await iterator.next() == nil, "after its error an iterator is at its end")
        }
    }

    @Test("A response's body is read once, as data or as text")
    func response() async throws {
        let response = HTTPResponse(body: ResponseBody(Data("abc".utf8)))
        #expect(try await response.text() == "abc")
        await #expect(throws: NetworkError.self) { try await response.data() }
    }

    @Test("Text is UTF-8, unless the server says Latin-1")
    func text() async throws {
        let latin = HTTPResponse(
            headers: [.contentType: "text/plain; charset=ISO-8859-1"], body: ResponseBody(Data([0x63, 0xE9])))
        #expect(try await latin.text() == "cé")
        let utf8 = HTTPResponse(headers: [.contentType: "text/plain"], body: ResponseBody(Data("cé€".utf8)))
        #expect(try await utf8.text() == "cé€")
    }

    @Test("The limit ends the reading and the transfer, for collecting and for iterating")
    func limit() async throws {
        let collected = ChunkSource(["abc", "def"])
        let error = await #expect(throws: NetworkError.self) {
            try await ResponseBody(collected, limit: 5, length: nil).collect()
        }
        #expect(error?.reason == .limitExceeded(.responseBody))
        #expect(collected.wasCancelled)

        let iterated = ChunkSource(["abc", "def"])
        let body = ResponseBody(iterated, limit: 5, length: nil)
        var received = 0
        await #expect(throws: NetworkError.self) { for try await chunk in body { received += chunk.count } }
        #expect(received == 3)
        #expect(iterated.wasCancelled)

        let buffered = ResponseBody(Data("abcdef".utf8), limit: 5)
        await #expect(throws: NetworkError.self) { try await buffered.collect() }
    }

    @Test("A declared length over the limit is refused before anything is read")
    func declaredLength() async {
        let source = ChunkSource(["abc"])
        let body = ResponseBody(source, limit: 5, length: 1 << 40)
        await #expect(throws: NetworkError.self) { try await body.collect() }
        #expect(source.pulls == 0)
        #expect(source.wasCancelled)
    }

    @Test("The caller may lower the limit, not raise it")
    func lowering() async throws {
        let error = await #expect(throws: NetworkError.self) {
            try await ResponseBody(Data("abcdef".utf8)).collect(upTo: 5)
        }
        #expect(error?.reason == .limitExceeded(.responseBody))
        await #expect(throws: NetworkError.self) {
            try await ResponseBody(ChunkSource(["abcdef"]), limit: 5, length: nil).collect(upTo: 100)
        }
        #expect(try await ResponseBody(Data("abcdef".utf8)).collect(upTo: 6).count == 6)
    }

    @Test("Nothing is received before a reader reads, and no more than is read")
    func backPressure() async throws {
        let source = ChunkSource(["a", "b", "c", "d"])
        let body = ResponseBody(source, limit: 100, length: nil)
        let wrapped = ResponseBody(body.map { Data(String(decoding: $0, as: UTF8.self).uppercased().utf8) })
        #expect(source.pulls == 0)
        var iterator = wrapped.makeAsyncIterator()
        #expect(source.pulls == 0)
        #expect(try await iterator.next() == Data("A".utf8))
        #expect(source.pulls == 1)
        #expect(try await iterator.next() == Data("B".utf8))
        #expect(source.pulls == 2)
    }

    @Test("An unread body ends its transfer when the last copy is released")
    func dropped() {
        let source = ChunkSource(["a"])
        var bodies = [ResponseBody(source, limit: 9, length: nil)]
        bodies.append(bodies[0])
        bodies.removeLast()
        #expect(!source.wasCancelled)
        bodies.removeAll()
        #expect(source.wasCancelled)
    }

    @Test("A wrapped body ends the transfer of the inner body when it is released")
    func droppedWrapper() {
        let source = ChunkSource(["a"])
        var body: ResponseBody? = ResponseBody(ResponseBody(source, limit: 9, length: nil))
        #expect(body?.limit == 9, "a wrapped body keeps its limit")
        #expect(!source.wasCancelled)
        body = nil
        #expect(source.wasCancelled)
    }

    @Test("Giving a body up half-way ends the transfer, through wrappers too; reading on throws")
    func cancelled() async throws {
        let source = ChunkSource(["a", "b"])
        let body = ResponseBody(source, limit: 9, length: nil).limited(to: 5)
        #expect(body.limit == 5)
        var iterator = body.makeAsyncIterator()
        #expect(try await iterator.next() == Data("a".utf8))
        body.cancel()
        #expect(source.wasCancelled)
        await #expect(throws: NetworkError.self) { try await iterator.next() }
    }

    @Test("Leaving the loop early ends the transfer")
    func earlyExit() async throws {
        let source = ChunkSource(["a", "b"])
        func readOne() async throws -> Data? {
            for try await chunk in ResponseBody(source, limit: 9, length: nil) { return chunk }
            return nil
        }
        #expect(try await readOne() == Data("a".utf8))
        #expect(source.wasCancelled)
    }

    @Test("An error of the transport reaches the reader and ends the transfer")
    func broken() async {
        let source = ChunkSource(["a"], error: NetworkError(.connectionLost(.requestMayHaveArrived)))
        let error = await #expect(throws: NetworkError.self) {
            try await ResponseBody(source, limit: 9, length: nil).collect()
        }
        #expect(error?.reason == .connectionLost(.requestMayHaveArrived))
        #expect(source.wasCancelled)
    }

    @Test("A description shows sizes, never content")
    func description() {
        #expect("\(ResponseBody(Data("secret".utf8)))" == "6 bytes")
        #expect("\(ResponseBody(ChunkSource(["x"]), limit: 9, length: nil))" == "a body of unknown length")
    }
}
