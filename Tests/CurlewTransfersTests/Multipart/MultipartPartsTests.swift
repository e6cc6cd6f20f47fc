// SPDX-License-Identifier: MIT

import CurlewTransfers
import Testing

@Suite(.timeLimit(.minutes(1)))
struct MultipartPartsTests {
    static let type = MediaType("multipart/mixed; boundary=b")
    static let first =
        "--b\r\nContent-Disposition: form-data; name=\"a\"; filename=\"/x/süß.txt\"\r\n"
        + "Content-Type: text/plain\r\n\r\nfirst"
    static let second = "\r\n--b\r\nX: 2\r\n\r\nsecond"
    static let last = "\r\n--b--\r\n"

    static func body(_ source: ChunkSource, limit: Int64 = 1 << 20) -> ResponseBody {
        ResponseBody(source, limit: limit, length: nil)
    }

    static func parts(_ source: ChunkSource, limit: Int64 = 1 << 20) throws -> MultipartForm.Parts {
        try MultipartForm.Parts(body(source, limit: limit), type: type)
    }

    static func text(_ part: MultipartForm.Parts.Part?) async throws -> String {
        String(decoding: try await part?.body.collect() ?? Data(), as: UTF8.self)
    }

    @Test("Parts are read with their fields and content, however they arrive", arguments: [1, 2, 7, 1000])
    func reading(size: Int) async throws {
        let text = Array((Self.first + Self.second + Self.last).utf8)
        let chunks = stride(from: 0, to: text.count, by: size).map { Data(text[$0..<min($0 + size, text.count)]) }
        var iterator = try Self.parts(ChunkSource(chunks)).makeAsyncIterator()
        let first = try #require(try await iterator.next())
        #expect(first.name == "a")
        #expect(first.fileName == "süß.txt")
        #expect(first.mediaType == MediaType("text/plain"))
        #expect(try await Self.text(first) == "first")
        let second = try #require(try await iterator.next())
        #expect(second.name == nil && second.fileName == nil && second.mediaType == nil)
        #expect(second.headers == ["X": "2"])
        #expect(try await Self.text(second) == "second")
        for _ in 0..<2 { #expect(try await iterator.next() == nil) }
    }

    @Test("A malformed or repeated disposition names nothing")
    func dispositions() async throws {
        let text =
            "--b\r\nContent-Disposition: form-data; name=\"a\r\n\r\n\r\n--b\r\nContent-Disposition: form-data; "
            + "name=a\r\nContent-Disposition: form-data; name=b\r\n\r\n\r\n--b--"
        var names: [String?] = []
        for try await part in try Self.parts(ChunkSource([text])) { names.append(part.name) }
        #expect(names == [nil, nil])
    }

    @Test("No chunk is pulled before it is needed")
    func backPressure() async throws {
        let source = ChunkSource(["--b\r\n\r", "\n1", "2", "3\r", "\n--b\r\n\r\n", "x\r\n--b--"])
        var iterator = try Self.parts(source).makeAsyncIterator()
        #expect(source.pulls == 0)
        let part = try #require(try await iterator.next())
        #expect(source.pulls == 2)
        var chunks = part.body.makeAsyncIterator()
        for (text, pulls) in [("1", 2), ("2", 3), ("3", 4)] {
            #expect(try await chunks.next() == Data(text.utf8))
            #expect(source.pulls == pulls)
        }
        #expect(try await chunks.next() == nil)
        #expect(source.pulls == 5)
        _ = try await iterator.next()
        #expect(source.pulls == 5)
    }

    @Test("The unread remainder of a part is skipped, and cannot be read later")
    func skipping() async throws {
        let long = String(repeating: "x", count: 1000)
        let source = ChunkSource(["--b\r\n\r\n", long, long, Self.second, Self.last])
        var iterator = try Self.parts(source).makeAsyncIterator()
        let first = try #require(try await iterator.next())
        var chunks = first.body.makeAsyncIterator()
        #expect(try await chunks.next()?.count == 1000)
        let second = try await iterator.next()
        #expect(await failureReason { try await chunks.next() } == .invalidRequest)
        #expect(try await Self.text(second) == "second")
        #expect(try await iterator.next() == nil)
    }

    @Test("A part beyond a limit of its own leaves the next ones readable")
    func partLimit() async throws {
        var iterator = try Self.parts(ChunkSource([Self.first, Self.second, Self.last])).makeAsyncIterator()
        let first = try #require(try await iterator.next())
        #expect(await failureReason { try await first.body.collect(upTo: 4) } == .limitExceeded(.responseBody))
        #expect(try await Self.text(iterator.next()) == "second")
    }

    @Test("The limit of the response bounds all parts, read or skipped", arguments: [true, false])
    func bodyLimit(isRead: Bool) async throws {
        let source = ChunkSource([Self.first, Self.second, Self.last])
        let error = await #expect(throws: NetworkError.self) {
            for try await part in try Self.parts(source, limit: 120) where isRead { _ = try await Self.text(part) }
        }
        #expect(error?.reason == .limitExceeded(.responseBody))
        #expect(source.wasCancelled)
    }

    @Test("A body that ends early is an error, for its part and again for the sequence")
    func truncation() async throws {
        let text = Array((Self.first + Self.second + "\r\n--b--").utf8)
        for length in 0..<text.count {
            let source = ChunkSource([Data(text.prefix(length))])
            var iterator = try Self.parts(source).makeAsyncIterator()
            var errors: [NetworkError] = []
            for _ in 0..<5 {
                do {
                    guard let part = try await iterator.next() else { break }
                    _ = try await Self.text(part)
                } catch {
                    errors.append(NetworkError(error))
                }
            }
            #expect(errors.count >= 3 && errors.allSatisfy { $0.reason == .badResponse }, "\(length) bytes")
            #expect(source.wasCancelled)
        }
    }

    @Test("The error of the transport is the error of the part")
    func transportFailure() async throws {
        let lost = NetworkError(.connectionLost(.requestMayHaveArrived))
        var iterator = try Self.parts(ChunkSource([Self.first], error: lost)).makeAsyncIterator()
        let part = try await iterator.next()
        #expect(await failureReason { try await Self.text(part) } == lost.reason)
        #expect(await failureReason { try await iterator.next() } == lost.reason)
    }

    @Test(
        "A malformed body and one beyond the limits cancels the transfer",
        arguments: [
            "--b\r\nno field\r\n\r\n", "--bx", "--b\r\nA: \(String(repeating: "x", count: 20_000))\r\n\r\n",
            String(repeating: "--b\r\n\r\n\r\n", count: 1001) + "--b--", String(repeating: "x", count: 70_000),
        ])
    func malformed(text: String) async throws {
        let source = ChunkSource([text])
        let error = await #expect(throws: NetworkError.self) { for try await _ in try Self.parts(source) {} }
        #expect(error?.reason == .badResponse)
        #expect(error?.hint != nil)
        #expect(source.wasCancelled)
    }

    @Test("Limits can be raised")
    func limits() async throws {
        let head = "--b\r\nA: \(String(repeating: "x", count: 20_000))\r\n\r\n"
        let text = head + String(repeating: "\r\n--b\r\n\r\n", count: 2000) + "\r\n--b--"
        let parts = try MultipartForm.Parts(
            Self.body(ChunkSource([text])), type: Self.type, maximumParts: 2001, maximumHead: 30_000)
        var count = 0
        for try await _ in parts { count += 1 }
        #expect(count == 2001)
    }

    @Test(
        "A response that is not multipart, or has no boundary, has no parts",
        arguments: [
            nil, "text/plain", "multipart/mixed", "multipart/mixed; boundary=\"\"", "multipart/mixed; boundary=\"b \"",
        ])
    func otherTypes(type: String?) {
        var response = HTTPResponse()
        response.headers[.contentType] = type
        #expect(thrownReason { try response.parts() } == .badResponse)
    }

    @Test("Bytes after the last part are read up to 64 KiB, so that the connection is reused")
    func epilogue() async throws {
        let more = Data(repeating: 0x20, count: 10_000)
        for (count, isLong) in [(3, false), (30, true)] {
            let source = ChunkSource([Data("--b--".utf8)] + Array(repeating: more, count: count))
            for try await _ in try Self.parts(source) {}
            #expect((source.pulls < count) == isLong)
            #expect(source.wasCancelled)
        }
    }

    @Test("A part may be multipart")
    func nesting() async throws {
        let text =
            "--b\r\nContent-Type: multipart/mixed; boundary=\"c/2\"\r\n\r\n--c/2\r\n\r\n1\r\n--c/2\r\n\r\n2\r\n--c/2--"
            + Self.second + Self.last
        var found: [String] = []
        for try await part in try MultipartForm.Parts(
            Self.body(ChunkSource(text.utf8.map { Data([$0]) })), type: MediaType("multipart/mixed; boundary=b"))
        {
            if part.mediaType?.type == "multipart" {
                for try await inner in try MultipartForm.Parts(part.body, type: part.mediaType) {
                    found.append(try await Self.text(inner))
                }
            } else {
                found.append(try await Self.text(part))
            }
        }
        #expect(found == ["1", "2", "second"])
    }

    @Test("Parts can be iterated once")
    func twice() async throws {
        let parts = try Self.parts(ChunkSource([Self.first, Self.last]))
        for try await _ in parts {}
        #expect(await failureReason { for try await _ in parts {} } == .invalidRequest)
    }

    @Test("Two tasks do not share the bytes: the second one throws")
    func twoTasks() async throws {
        let source = ChunkSource([Data("--b\r\n\r\n".utf8)], waitsAtEnd: true)
        var iterator = try Self.parts(source).makeAsyncIterator()
        let part = try #require(try await iterator.next())
        let waiting = Task { try await part.body.collect() }
        try await yieldUntil { source.pulls == 2 }
        #expect(await failureReason { try await iterator.next() } == .invalidRequest)
        waiting.cancel()
        let outcome = await waiting.result
        #expect(throws: (any Error).self) { try outcome.get() }
        #expect(source.wasCancelled)
    }

    @Test(
        "A cancelled task ends the transfer, wherever it waits", arguments: ["", "--b", "--b\r\n\r\n", "--b\r\n\r\nx"])
    func cancellation(text: String) async throws {
        let source = ChunkSource([Data(text.utf8)], waitsAtEnd: true)
        let parts = try Self.parts(source)
        let task = Task { for try await part in parts { _ = try await part.body.collect() } }
        try await yieldUntil { source.pulls == 2 }
        task.cancel()
        let outcome = await task.result
        let error = #expect(throws: (any Error).self) { try outcome.get() }
        #expect(error.map { NetworkError($0).reason } == .cancelled)
        #expect(source.wasCancelled)
    }

    @Test("The transfer ends when the last of sequence, iterator and parts is released")
    func release() async throws {
        let source = ChunkSource([Self.first, Self.second, Self.last])
        try await {
            var iterator: MultipartForm.Parts.Iterator? = try Self.parts(source).makeAsyncIterator()
            let part = try await iterator?.next()
            iterator = nil
            #expect(!source.wasCancelled)
            #expect(try await Self.text(part) == "first")
        }()
        #expect(source.wasCancelled)
    }
}
