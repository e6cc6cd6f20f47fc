// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewTesting
import CurlewURLSession
import Foundation
import TestServers
import Testing

/// Bodies in both directions.
@Suite(.timeLimit(.minutes(1)))
struct BodyTests {
    private let transport = URLSessionTransport()

    private func echo() throws -> MockServer {
        let server = try MockServer()
        server.on(nil, "/echo") { .data($0.body) }
        return server
    }

    @Test("bytes of every size go there and come back", arguments: [0, 1, 1000, 65_536, 65_537, 3_000_000])
    func bytes(count: Int) async throws {
        let server = try echo()
        let response = try await transport.exchange(.post, server.url + "/echo", body: .bytes(pattern(count)))
        #expect(try await response.data() == pattern(count))
        let request = try #require(server.requests.first)
        #expect(request.headers[.contentLength] == "\(count)")
        // Foundation adds a form's type to a body without one; not here.
        #expect(!request.headers.contains(.contentType))
    }

    @Test("a file, and a missing one before anything is sent")
    func file() async throws {
        let server = try echo()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("curlew-\(UUID().uuidString)")
        try pattern(500_000).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let response = try await transport.exchange(.put, server.url + "/echo", body: .file(file.path))
        #expect(try await response.data() == pattern(500_000))
        for path in [file.path + "-not", FileManager.default.temporaryDirectory.path] {
            let error = await transport.failure(.put, server.url + "/echo", body: .file(path))
            #expect(error?.reason == .invalidRequest)
            #expect(error?.detail.contains(path) == true)
        }
        #expect(server.requestCount == 1)
    }

    @Test("pieces of memory and of a file in one body")
    func parts() async throws {
        let server = try echo()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("curlew-\(UUID().uuidString)")
        try pattern(200_000).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let body = RequestBody.parts([
            .bytes(Data("begin".utf8)), .file(path: file.path, offset: 1000, length: 100_000), .bytes(Data("end".utf8)),
        ])
        let response = try await transport.exchange(.post, server.url + "/echo", body: body)
        let middle = MockResponse.pattern(1000..<101_000)
        #expect(try await response.data() == Data("begin".utf8) + middle + Data("end".utf8))
    }

    @Test("a stream, with and without a length", arguments: [nil, 2_000_000] as [Int64?])
    func stream(length: Int64?) async throws {
        let server = try echo()
        let body = RequestBody.stream(length: length) {
            RequestBody.Chunks(
                AsyncStream { continuation in
                    for start in stride(from: 0, to: 2_000_000, by: 100_000) {
                        continuation.yield(MockResponse.pattern(start..<(start + 100_000)))
                    }
                    continuation.finish()
                })
        }
        let response = try await transport.exchange(.post, server.url + "/echo", body: body)
        #expect(try await response.data() == pattern(2_000_000))
        #expect(response.headers[.contentLength] == "2000000")
    }

    @Test("a stream that fails, and one that is too long for its file")
    func failingStream() async throws {
        struct Broken: Error {}
        let server = try echo()
        let failing = RequestBody.stream {
            RequestBody.Chunks(AsyncThrowingStream<Data, any Error> { $0.finish(throwing: Broken()) })
        }
        let error = await transport.failure(.post, server.url + "/echo", body: failing)
        #expect(error?.reason == .encoding)
        #expect(error?.underlying is Broken)
        let small = URLSessionTransport(uploadSpool: 1000)
        let long = RequestBody.stream {
            RequestBody.Chunks(
                AsyncStream {
                    $0.yield(pattern(1001)); $0.finish()
                })
        }
        #expect(await small.failure(.post, server.url + "/echo", body: long)?.reason == .encoding)
        #expect(server.requestCount == 0)
    }

    @Test("no file is left behind by a long stream")
    func spool() async throws {
        let server = try echo()
        let folder = FileManager.default.temporaryDirectory.path
        func left() -> Int {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            return names.count { $0.hasPrefix("curlew-") && $0.hasSuffix(".body") }
        }
        let body = RequestBody.stream {
            RequestBody.Chunks(
                AsyncStream {
                    $0.yield(pattern(3_000_000)); $0.finish()
                })
        }
        for _ in 0..<3 {
            _ = try await transport.exchange(.post, server.url + "/echo", body: body).data()
        }
        // Those of tests beside this one go away too.
        #expect(await eventually { left() == 0 })
    }

    @Test("a long body is read as it comes", arguments: [false, true])
    func longBody(chunked: Bool) async throws {
        let server = try MockServer()
        server.on(.get, "/", respond: .generated(bytes: 5_000_000, chunked: chunked))
        let response = try await transport.exchange(.get, server.url + "/")
        #expect(response.body.declaredLength == (chunked ? nil : 5_000_000))
        var count = 0
        for try await chunk in response.body {
            #expect(chunk == MockResponse.pattern(count..<(count + chunk.count)))
            count += chunk.count
        }
        #expect(count == 5_000_000)
    }

    @Test("with streaming the head comes before the body")
    func headFirst() async throws {
        let server = try MockServer()
        server.enqueue(.text("later").stalled(at: .afterBytes(2)))
        let response = try await transport.exchange(.get, server.url + "/") { $0.streaming = true }
        #expect(response.status == .ok)
        var iterator = response.body.makeAsyncIterator()
        #expect(try await iterator.next() == Data("la".utf8))
        response.body.cancel()
        await #expect(throws: NetworkError.self) { try await iterator.next() }
    }

    #if !canImport(Darwin)
    @Test("a reader who stays too far behind gets an error, not all the memory")
    func reader() async throws {
        let server = try MockServer()
        server.on(.get, "/", respond: .generated(bytes: 8_000_000))
        let transport = URLSessionTransport(unreadBody: 1 << 20)
        let response = try await transport.exchange(.get, server.url + "/")
        #expect(await eventually { transport.snapshot.active == 0 })
        await #expect { try await response.data() } throws: {
            ($0 as? NetworkError)?.reason == .limitExceeded(.responseBody)
        }
    }
    #endif

    @Test("the exchange's limit holds")
    func limit() async throws {
        let server = try MockServer()
        server.on(.get, "/", respond: .generated(bytes: 200_000, chunked: true))
        let error = await transport.failure(.get, server.url + "/", limits: Limits(responseBody: 100_000))
        #expect(error?.reason == .limitExceeded(.responseBody))
        let heads = await transport.failure(.get, server.url + "/", limits: Limits(headerCount: 1))
        #expect(heads?.reason == .limitExceeded(.responseHeaders))
    }

    @Test("GET and HEAD carry no body", arguments: [HTTPMethod.get, .head])
    func refused(method: HTTPMethod) async throws {
        let error = await transport.failure(method, "http://127.0.0.1:1/", body: .bytes(Data("x".utf8)))
        #expect(error?.reason == .invalidRequest)
    }
}
