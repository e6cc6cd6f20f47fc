// SPDX-License-Identifier: MIT

import CurlewCookies
import Testing

/// Response heads, written byte by byte by the server.
@Suite(.timeLimit(.minutes(1)))
struct ResponseHeadTests {
    let transport = CurlTransport()

    private func answer(_ response: MockResponse, _ method: HTTPMethod = .get) async throws -> HTTPResponse {
        let server = try MockServer.answering(response)
        return try await transport.exchange(method, server.url + "/")
    }

    @Test(
        "Odd field lines are read as RFC 9112 says",
        arguments: [
            ("X-A:b", "b"), ("X-A:   b \t", "b"), ("X-A:", ""), ("X-A:   ", ""), ("X-A: a:b", "a:b"),
            ("X-A: ünï", "ünï"), ("X-A: one\r\n  two\r\n\tthree", "one two three"),
            ("X-A: a\rb", "a b"), ("X-A: a\u{1}b", "a b"), ("x-a: b", "b"),
        ])
    func oddFields(line: String, value: String) async throws {
        let response = try await answer(.lines("HTTP/1.1 200 OK", line, "Content-Length: 2", body: "ok"))
        #expect(response.headers["X-A"] == value)
        #expect(response.headers.count == 2)
        #expect(response.headers.allSatisfy { $0.name.isValid })
        #expect(try await response.text() == "ok")
    }

    @Test("A folded field that determines the length of the body is a bad response", arguments: [false, true])
    func foldedFraming(streams: Bool) async throws {
        for lines in ["Transfer-Encoding:\r\n chunked", "Content-Length:\r\n 5", "content-length: 5\r\n\t5"] {
            let server = try MockServer.answering(.lines("HTTP/1.1 200 OK", lines, body: "5\r\nhello\r\n0\r\n\r\n"))
            let error = try await #require(throws: NetworkError.self, "\(lines)") {
                try await transport.exchange(.get, server.url + "/") { $0.streaming = streams }.data()
            }
            #expect(error.reason == .badResponse, "\(error)")
        }
    }

    @Test("A head exactly at the limits passes", arguments: [true, false])
    func atLimit(count: Bool) async throws {
        let lines = ["HTTP/1.1 200 OK", "Content-Length: 0", "A: 1", "B: 2"]
        let bytes = lines.reduce(2) { $0 + $1.utf8.count + 2 }
        for over in [0, 1] {
            let server = try MockServer.answering(.raw(Data((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)))
            let limits = count ? Limits(headerCount: 3 - over) : Limits(headerBytes: bytes - over)
            let result = await outcome(
                Task { [transport] in try await transport.exchange(.get, server.url + "/", limits: limits) })
            #expect(result.reason == (over == 0 ? nil : .limitExceeded(.responseHeaders)))
        }
    }

    @Test("Limits may be the largest numbers that there are")
    func largestLimits() async throws {
        let server = try MockServer.always(.text("hello"))
        let limits = Limits(headerBytes: .max, headerCount: .max, responseBody: .max)
        #expect(try await transport.exchange(.get, server.url + "/", limits: limits).text() == "hello")
    }

    @Test(
        "The reason phrase is that of the server, bounded, and none if there is none",
        arguments: [
            ("HTTP/1.1 404 No such film", "No such film"), ("HTTP/1.1 404 Not Found", "Not Found"),
            ("HTTP/1.1 404 ", nil),
            ("HTTP/1.1 404", nil), ("HTTP/1.0 404  Gone away ", "Gone away"), ("HTTP/1.1 404 a\u{1}b", "a b"),
            ("HTTP/1.1 404 caf\u{e9}", "caf\u{e9}"),
            ("HTTP/1.1 404 " + String(repeating: "x", count: 900), String(repeating: "x", count: 200)),
        ] as [(String, String?)])
    func words(line: String, expected: String?) async throws {
        let server = try MockServer.answering(.raw(Data((line + "\r\nContent-Length: 0\r\n\r\n").utf8)))
        let response = try await transport.exchange(.get, server.url + "/")
        #expect(response.status == .notFound)
        #expect(response.reasonPhrase == expected)
    }

    @Test("A reason phrase is never that of an interim or an earlier response")
    func wordsOfEach() async throws {
        let server = try MockServer()
        let head = "HTTP/1.1 103 Early words\r\n\r\nHTTP/1.1 200 Own words\r\nContent-Length: 0\r\n\r\n"
        server.enqueue(.raw(Data(head.utf8)))
        server.enqueue(.raw(Data("HTTP/1.1 103 Early words\r\n\r\nHTTP/1.1 200\r\nContent-Length: 0\r\n\r\n".utf8)))
        #expect(try await transport.exchange(.get, server.url + "/").reasonPhrase == "Own words")
        #expect(try await transport.exchange(.get, server.url + "/").reasonPhrase == nil)
    }
}
