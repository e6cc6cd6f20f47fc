// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewCurl
import CurlewHTTP
import CurlewTesting
import Foundation
import TestServers
import Testing

/// Bodies that cannot be produced, and servers that do not wait for the end of one.
@Suite(.timeLimit(.minutes(1)))
struct UploadFailureTests {
    let transport = CurlTransport()

    @Test(
        "a file that cannot be sent fails before anything is sent", arguments: ["missing", "folder", "pipe", "short"])
    func badFile(kind: String) async throws {
        let server = try MockServer()
        let folder = try TemporaryFolder()
        let path = folder.path + "/" + kind
        var body = RequestBody.file(path)
        switch kind {
        case "folder": try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        case "pipe": #expect(mkfifo(path, 0o600) == 0)
        case "short":
            body = .parts([.file(path: try folder.file(kind, "123"), offset: 1, length: 3)])
        default: break
        }
        let error = try await #require(throws: NetworkError.self) {
            try await transport.exchange(.post, server.url + "/", body: body)
        }
        #expect(error.reason == .invalidRequest)
        #expect(error.detail.contains(path))
        expectTexts(error)
        #expect(server.connectionCount == 0)
    }

    @Test("a file that becomes shorter while it is sent ends the exchange, and the server gets no complete request")
    func shrinkingFile() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.file("big", pattern(8_000_000))
        let server = try RawServer(receiveBuffer: 16_384) { connection in
            _ = try connection.readHead()
            #expect(truncate(path, 1000) == 0)
            while true { _ = try connection.read(upTo: 65_536) }
        }
        let error = try await #require(throws: NetworkError.self) {
            try await transport.exchange(.put, server.url + "/", body: .file(path))
        }
        #expect(error.reason == .encoding)
        expectTexts(error)
    }

    struct OwnError: Error {}

    @Test("an error of the producer ends the exchange and stays visible", arguments: [true, false])
    func failingStream(atOnce: Bool) async throws {
        let server = try MockServer()
        server.on(.post, "/", respond: .status(.ok))
        let body = RequestBody.stream {
            if atOnce { throw OwnError() }
            return .init(Failing(after: [Data(count: 100_000)], error: OwnError()))
        }
        let error = try await #require(throws: NetworkError.self) {
            try await transport.exchange(.post, server.url + "/", body: body)
        }
        #expect(error.reason == .encoding)
        #expect(error.underlying is OwnError)
        expectTexts(error)
        #expect(server.requestCount == 0)
    }

    @Test("a stream that breaks its promise about its length is an error", arguments: [4, 6, 0, 100_000])
    func wrongLength(produced: Int) async throws {
        let server = try MockServer()
        server.on(.post, "/", respond: .status(.ok))
        let error = try await #require(throws: NetworkError.self) {
            try await transport.exchange(
                .post, server.url + "/", body: .stream(length: 5) { .init(Chunked([Data(count: produced)])) },
                timeouts: Timeouts(firstByte: .seconds(5), idle: .seconds(5)))
        }
        #expect(error.reason == .encoding)
        #expect(error.detail.contains("5"))
        expectTexts(error)
        #expect(server.requestCount == 0)
    }

    @Test("bytes beyond the declared length are an error also when they come late", arguments: [10, 1])
    func lateSurplus(length: Int) async throws {
        let server = try MockServer()
        server.on(.post, "/", respond: .status(.ok))
        let chunks = [Data(count: length), Data(count: 7)]
        let error = try await #require(throws: NetworkError.self) {
            try await transport.exchange(
                .post, server.url + "/", body: .stream(length: Int64(length)) { .init(Chunked(chunks)) },
                timeouts: Timeouts(firstByte: .seconds(5), idle: .seconds(5)))
        }
        #expect(error.reason == .encoding)
        #expect(server.requestCount == 0)
    }

    @Test(
        "a stream of the declared length arrives complete, in whatever chunks",
        arguments: [[10], [9, 1], [1, 9], [4, 0, 6]])
    func exactLength(sizes: [Int]) async throws {
        let server = try MockServer()
        server.on(.post, "/") { .text("\($0.text.utf8.count)") }
        let chunks = sizes.map { Data(count: $0) }
        let response = try await transport.exchange(
            .post, server.url + "/", body: .stream(length: 10) { .init(Chunked(chunks)) })
        #expect(try await response.text() == "10")
    }

    @Test("a response that comes before the body is complete is given to the caller")
    func earlyAnswer() async throws {
        let server = try RawServer(receiveBuffer: 16_384) { connection in
            _ = try connection.readHead()
            try connection.write("HTTP/1.1 413 Content Too Large\r\nContent-Length: 4\r\nConnection: close\r\n\r\nstop")
            connection.waitUntilClosed()
        }
        let produced = Locked(0)
        let body = RequestBody.stream {
            .init(
                AsyncStream {
                    produced.withLock { $0 += 1 }
                    return Data(count: 16_384)
                })
        }
        let response = try await transport.exchange(.post, server.url + "/", body: body)
        #expect(response.status.code == 413)
        #expect(try await response.text() == "stop")
        // The producer is stopped with the exchange.
        let after = produced.withLock { $0 }
        #expect(await eventually { produced.withLock { $0 } <= after + 2 })
    }

    @Test("a producer is asked for the next chunk only when the previous one has left")
    func uploadBackPressure() async throws {
        let mayRead = Signal()
        let server = try RawServer(receiveBuffer: 16_384) { connection in
            _ = try connection.readHead()
            mayRead.block()
            _ = try connection.read(10_000_000)
            try connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            connection.waitUntilClosed()
        }
        let produced = Locked(0)
        let body = RequestBody.stream(length: 10_000_000) {
            .init(
                AsyncStream {
                    produced.withLock { produced in
                        guard produced < 100 else { return nil }
                        produced += 1
                        return Data(count: 100_000)
                    }
                })
        }
        let task = Task { try await transport.exchange(.put, server.url + "/", body: body) }
        // What the two socket buffers hold has left; then nothing more is asked for.
        var last = -1
        while last != produced.withLock({ $0 }) || last == 0 {
            last = produced.withLock { $0 }
            try await SystemTime().sleep(for: .milliseconds(50))
        }
        #expect(last < 100)
        mayRead.fire()
        #expect(try await task.value.status == .ok)
        #expect(produced.withLock { $0 } == 100)
    }
}

/// Chunks, then an error.
struct Failing: AsyncSequence, Sendable {
    let after: [Data]
    let error: any Error

    func makeAsyncIterator() -> Iterator { Iterator(rest: after[...], error: error) }

    struct Iterator: AsyncIteratorProtocol {
        var rest: ArraySlice<Data>
        let error: any Error

        mutating func next() async throws -> Data? {
            guard let chunk = rest.popFirst() else { throw error }
            return chunk
        }
    }
}
