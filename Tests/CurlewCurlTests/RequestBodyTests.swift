// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewCurl
import CurlewHTTP
import CurlewTesting
import Foundation
import TestServers
import Testing

/// Methods and bodies, as the server sees them.
@Suite(.timeLimit(.minutes(1)))
struct RequestBodyTests {
    let transport = CurlTransport()

    @Test(
        "a method without a body is sent as it is; a length of zero only where content has a meaning",
        arguments: [
            ("GET", nil), ("HEAD", nil), ("DELETE", nil), ("OPTIONS", nil), ("TRACE", nil), ("PROPFIND", nil),
            ("get", nil), ("POST", "0"), ("PUT", "0"), ("PATCH", "0"),
        ] as [(String, String?)])
    func withoutBody(method: String, length: String?) async throws {
        let server = try MockServer()
        server.enqueue(.status(.noContent))
        let response = try await transport.exchange(HTTPMethod(rawValue: method), server.url + "/thing?q=1")
        #expect(response.status == .noContent)
        let request = try #require(server.requests.first)
        #expect(request.method.rawValue == method)
        #expect(request.target == "/thing?q=1")
        #expect(request.headers[.contentLength] == length)
        #expect(!request.headers.contains(.transferEncoding))
        #expect(request.body.isEmpty)
    }

    @Test("bytes arrive with their length", arguments: ["POST", "PUT", "PATCH", "DELETE", "GET", "QUERY", "LOCK"])
    func bytes(method: String) async throws {
        let server = try MockServer()
        server.enqueue(.text("ok"))
        let body = RequestBody.bytes(Data("hello".utf8))
        let response = try await transport.exchange(HTTPMethod(rawValue: method), server.url + "/", body: body)
        #expect(try await response.text() == "ok")
        let request = try #require(server.requests.first)
        #expect(request.method.rawValue == method)
        #expect(request.headers[values: .contentLength] == ["5"])
        #expect(!request.headers.contains(.expect))
        #expect(request.text == "hello")
    }

    @Test(
        "a body of any size arrives complete, from bytes, file, parts and streams",
        arguments: BodySource.allCases, [0, 1, 65_535, 65_536, 65_537, 400_000])
    func sizes(source: BodySource, size: Int) async throws {
        let server = try MockServer()
        server.on(.post, "/", respond: .status(.noContent))
        let folder = try TemporaryFolder()
        let body = try source.body(of: size, in: folder)
        let response = try await transport.exchange(.post, server.url + "/", body: body)
        #expect(response.status == .noContent)
        let request = try #require(server.requests.first)
        #expect(server.requestCount == 1)
        #expect(request.body == pattern(size))
        #expect(request.headers[.contentLength] == (source == .chunkedStream ? nil : "\(size)"))
        #expect(request.headers[.transferEncoding] == (source == .chunkedStream ? "chunked" : nil))
    }

    @Test("a HEAD with a body is refused: libcurl would wait for content that never comes")
    func headWithBody() async throws {
        let server = try MockServer()
        server.on(.get, "/", respond: .text("never sent"))
        let error = try await #require(throws: NetworkError.self) {
            try await transport.exchange(
                .head, server.url + "/", body: .bytes(Data("x".utf8)), timeouts: Timeouts(idle: .seconds(1)))
        }
        #expect(error.reason == .invalidRequest)
        expectTexts(error)
        #expect(server.requestCount == 0)
    }
}

/// The kinds of body recipe, all giving the same bytes.
enum BodySource: CaseIterable, Sendable {
    case bytes, file, parts, stream, chunkedStream

    func body(of size: Int, in folder: TemporaryFolder) throws -> RequestBody {
        let bytes = pattern(size)
        switch self {
        case .bytes: return .bytes(bytes)
        case .file: return .file(try folder.file("body", bytes))
        case .parts:
            // The middle is a range of a file whose other bytes must not be sent.
            let (start, end) = (size / 3, size * 2 / 3)
            let path = try folder.file("part", Data("before".utf8) + bytes[start..<end] + Data("after".utf8))
            return .parts([
                .bytes(bytes[..<start]), .file(path: path, offset: 6, length: Int64(end - start)),
                .bytes(Data()), .bytes(bytes[end...]),
            ])
        case .stream: return .stream(length: Int64(size)) { .init(Chunked(bytes, by: 10_000)) }
        case .chunkedStream: return .stream { .init(Chunked(bytes, by: 10_000)) }
        }
    }
}

/// An asynchronous sequence of ready chunks, with an empty one among them.
struct Chunked: AsyncSequence, Sendable {
    var chunks: [Data]

    init(_ chunks: [Data]) {
        self.chunks = chunks
    }

    init(_ bytes: Data, by count: Int) {
        chunks = stride(from: 0, to: bytes.count, by: count).map { bytes[$0..<Swift.min($0 + count, bytes.count)] }
        chunks.insert(Data(), at: chunks.count / 2)
    }

    func makeAsyncIterator() -> Iterator { Iterator(rest: chunks[...]) }

    struct Iterator: AsyncIteratorProtocol {
        var rest: ArraySlice<Data>

        mutating func next() async throws -> Data? { rest.popFirst() }
    }
}
