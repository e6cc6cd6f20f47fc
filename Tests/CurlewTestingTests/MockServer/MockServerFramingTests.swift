// SPDX-License-Identifier: MIT

import CurlewHTTP
import CurlewTesting
import Testing

/// Framing that is wrong, and bytes that come slowly.
@Suite(.timeLimit(.minutes(1)))
struct MockServerFramingTests {
    private static let request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

    @Test(
        "Wrong framing is on the wire as given, and the connection closes",
        arguments: [
            (.contentLength(["9"]), "Content-Length: 9\r\n\r\nhello"),
            (.contentLength(["5", "6"]), "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello"),
            (.contentLength(["-1"]), "Content-Length: -1\r\n\r\nhello"),
            (.transferEncoding("gzip"), "Transfer-Encoding: gzip\r\n\r\nhello"),
            (
                .chunked(contentLength: ["2"]),
                "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
            ),
            (.chunkSize("xyz"), "Transfer-Encoding: chunked\r\n\r\nxyz\r\nhello\r\n0\r\n\r\n"),
            (.unendedChunks, "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"),
            (.untilClose, "Content-Type: text/plain; charset=utf-8\r\n\r\nhello"),
        ] as [(MockResponse.Framing, String)])
    func framing(framing: MockResponse.Framing, end: String) throws {
        let server = try MockServer()
        server.enqueue(.text("hello").framed(as: framing))
        let (text, ending) = try RawClient(port: server.port).send(Self.request).readToEnd()
        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(text.hasSuffix("\r\n" + end))
        #expect(!text.contains("Connection:"))
        #expect(ending == .orderly)
    }

    @Test("A dripping response sends its head in pieces too", arguments: [false, true])
    func drippingHead(isRaw: Bool) throws {
        let server = try MockServer()
        let whole = MockResponse.text("abc").closing()
        let raw = MockResponse.malformedHead("HTTP/1.1 299 Odd\r\n\r\n")
        server.enqueue((isRaw ? raw : whole).dripping(bytesPerChunk: 1, every: .milliseconds(1), from: .head))
        let start = ContinuousClock.now
        let (text, ending) = try RawClient(port: server.port).send(Self.request).readToEnd()
        #expect(text.hasPrefix(isRaw ? "HTTP/1.1 299 Odd\r\n\r\n" : "HTTP/1.1 200 OK\r\n"))
        #expect(isRaw || text.hasSuffix("\r\n\r\nabc"))
        #expect(ContinuousClock.now - start >= .milliseconds(text.utf8.count))
        #expect(ending == .orderly)
    }

    @Test("A description names what was replaced")
    func description() {
        #expect(MockResponse.text("x").framed(as: .untilClose).description == "200 OK, framed as untilClose")
        #expect(MockResponse.text("x").early().description == "200 OK, early")
    }
}
