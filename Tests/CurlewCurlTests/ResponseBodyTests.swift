// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewCurl
import CurlewHTTP
import CurlewTesting
import Foundation
import TestServers
import Testing

/// Response bodies: framing, the small and the streamed way, reading once.
@Suite(.timeLimit(.minutes(1)))
struct ResponseBodyTests {
    let transport = CurlTransport()

    @Test(
        "a body arrives complete in whatever chunks it was sent", arguments: [1, 2, 7, 1000, 16_384, 65_537],
        [false, true])
    func chunked(size: Int, streaming: Bool) async throws {
        let bytes = pattern(size < 100 ? 300 : 200_000)
        let pieces = stride(from: 0, to: bytes.count, by: size).map { bytes[$0..<min($0 + size, bytes.count)] }
        let server = try MockServer()
        server.enqueue(MockResponse(body: .chunks(pieces)))
        let response = try await transport.exchange(.get, server.url + "/") { $0.streaming = streaming }
        #expect((response.body.declaredLength == nil) == streaming)
        #expect(try await response.bytes() == bytes)
    }

    @Test("a body without framing ends with the connection", arguments: [0, 10, 200_000])
    func untilClose(size: Int) async throws {
        let server = try MockServer()
        server.enqueue(.raw(Data("HTTP/1.1 200 OK\r\n\r\n".utf8) + pattern(size)))
        let response = try await transport.exchange(.get, server.url + "/")
        #expect(try await response.data() == pattern(size))
    }

    @Test(
        "up to the threshold a body comes with the response, beyond it streams",
        arguments: [4999, 5000, 5001, 0, 1], [true, false])
    func threshold(size: Int, chunked: Bool) async throws {
        let transport = CurlTransport(configuration: TransportConfiguration(smallBody: 5000))
        // The last byte comes only when the test has seen what it wants to see.
        let maySend = Signal()
        let server = try RawServer { connection in
            _ = try connection.readHead()
            let framing = chunked ? "Transfer-Encoding: chunked" : "Content-Length: \(size)"
            var body = pattern(size)
            if chunked, size > 0 { body = Data("\(String(size, radix: 16))\r\n".utf8) + body + Data("\r\n".utf8) }
            if chunked { body += Data("0\r\n\r\n".utf8) }
            try connection.write(Data("HTTP/1.1 200 OK\r\n\(framing)\r\n\r\n".utf8) + body.dropLast())
            maySend.block()
            try connection.write(body.suffix(1))
        }
        if size <= 5000 { maySend.fire() }
        let response = try await transport.exchange(.get, server.url + "/")
        maySend.fire()
        #expect(response.body.bufferedData?.count == (size <= 5000 ? size : nil))
        #expect(response.body.declaredLength == (chunked && size > 5000 ? nil : Int64(size)))
        #expect(try await response.data() == pattern(size))
    }

    @Test("with streaming asked for, the response comes with its head", arguments: [false, true])
    func streaming(chunked: Bool) async throws {
        let mayGoOn = Signal()
        let server = try RawServer { connection in
            _ = try connection.readHead()
            try connection.write(
                "HTTP/1.1 200 OK\r\n\(chunked ? "Transfer-Encoding: chunked" : "Content-Length: 3")\r\n\r\n")
            mayGoOn.block()
            try connection.write(chunked ? "3\r\nabc\r\n0\r\n\r\n" : "abc")
        }
        let response = try await transport.exchange(.get, server.url + "/") { $0.streaming = true }
        #expect(response.status == .ok)
        #expect(response.body.declaredLength == (chunked ? nil : 3))
        mayGoOn.fire()
        #expect(try await response.text() == "abc")
    }

    @Test("chunks are given as they come, never empty, and in order")
    func immediacy() async throws {
        let mayGoOn = [Signal(), Signal(), Signal()]
        let server = try RawServer { connection in
            _ = try connection.readHead()
            try connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            for signal in mayGoOn {
                try connection.write("2\r\nhi\r\n")
                signal.block()
            }
            try connection.write("0\r\n\r\n")
        }
        let response = try await transport.exchange(.get, server.url + "/") { $0.streaming = true }
        var iterator = response.body.makeAsyncIterator()
        for signal in mayGoOn {
            // Two bytes may come in two pieces, but the third piece only after the signal.
            var received = Data()
            while received.count < 2 {
                let chunk = try #require(try await iterator.next())
                #expect(!chunk.isEmpty)
                received += chunk
            }
            #expect(String(decoding: received, as: UTF8.self) == "hi")
            signal.fire()
        }
        #expect(try await iterator.next() == nil)
        #expect(try await iterator.next() == nil)
    }

    @Test("a body is read once", arguments: [10, 200_000])
    func readOnce(size: Int) async throws {
        let server = try MockServer()
        server.enqueue(.generated(bytes: size))
        let response = try await transport.exchange(.get, server.url + "/")
        #expect(try await response.data().count == size)
        let error = try await #require(throws: NetworkError.self) { try await response.data() }
        #expect(error.reason == .invalidRequest)
        expectTexts(error)
        await #expect(throws: NetworkError.self) { try await response.bytes() }
    }

    @Test(
        "a body over the limit throws, declared or not, and the transport goes on", arguments: [100, 200_000],
        [true, false])
    func overLimit(size: Int, chunked: Bool) async throws {
        let server = try MockServer()
        server.enqueue(.generated(bytes: size, chunked: chunked), .text("next"))
        let response = try await transport.exchange(
            .get, server.url + "/", limits: Limits(responseBody: Int64(size - 1)))
        let error = try await #require(throws: NetworkError.self) { try await response.data() }
        #expect(error.reason == .limitExceeded(.responseBody))
        expectTexts(error)
        #expect(try await transport.exchange(.get, server.url + "/").text() == "next")
    }

    @Test("a body exactly at the limit passes", arguments: [100, 200_000])
    func atLimit(size: Int) async throws {
        let server = try MockServer()
        server.enqueue(.generated(bytes: size))
        let response = try await transport.exchange(.get, server.url + "/", limits: Limits(responseBody: Int64(size)))
        #expect(try await response.data().count == size)
    }
}
