// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewTesting

@Suite(.timeLimit(.minutes(1)))
struct HTTP1RequestParserTests {
    @Test("A request without content is a head and an end")
    func plainGet() throws {
        var parser = HTTP1RequestParser()
        #expect(parser.isIdle)
        parser.receive(Array("GET /a?b=c HTTP/1.1\r\nHost: x\r\nAccept:\t a, b \t\r\nX-Empty:\r\n\r\n".utf8))
        #expect(!parser.isIdle)
        guard case .head(let head) = try parser.next() else {
            Issue.record("no head")
            return
        }
        #expect(head.method == .get)
        #expect(head.target == "/a?b=c")
        #expect(head.version == .http1_1)
        #expect(head.headers.map(\.description) == ["Host: x", "Accept: a, b", "X-Empty: "])
        #expect(head.framing == .length(0))
        #expect(try parser.next() == .end)
        #expect(try parser.next() == nil)
        #expect(parser.isIdle)
    }

    @Test("Content of a known length ends there, and the next request follows")
    func pipelined() {
        let run = ParserRun(
            """
            POST /one HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello\
            \r\nPUT /two HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n\
            GET /three HTTP/1.0\r\n\r\n
            """)
        #expect(run.error == nil)
        #expect(run.requests.map(\.head.target) == ["/one", "/two", "/three"])
        #expect(run.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["hello", "abc", ""])
        #expect(run.requests.map(\.ended) == [true, true, true])
    }

    @Test("Chunks lose their extensions, trailers stay apart (RFC 9112 §7.1)")
    func chunked() {
        let run = ParserRun(
            """
            POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n\
            4;name=value\r\nWiki\r\n00B ; q="a;b"\r\n\r\nis \r\nfine\r\n0;last\r\nChecksum: 7\r\nchecksum: 8\r\n\r\n
            """)
        #expect(run.error == nil)
        #expect(run.requests.first.map { String(decoding: $0.body, as: UTF8.self) } == "Wiki\r\nis \r\nfine")
        #expect(run.requests.first?.trailers?[values: "Checksum"] == ["7", "8"])
        #expect(run.requests.first?.ended == true)
    }

    @Test(
        "A connection is kept or closed as RFC 9112 §9.3 says",
        arguments: [
            ("1.1", "", true), ("1.1", "Connection: close\r\n", false), ("1.1", "connection: x, CLOSE\r\n", false),
            ("1.1", "Connection: keep-alive\r\n", true), ("1.0", "", false),
            ("1.0", "Connection: Keep-Alive\r\n", true),
            ("1.0", "Connection: keep-alive, close\r\n", false),
        ])
    func keepAlive(version: String, field: String, expected: Bool) {
        let run = ParserRun("GET / HTTP/\(version)\r\nHost: x\r\n\(field)\r\n")
        #expect(run.requests.first?.head.keepAlive == expected)
    }

    @Test(
        "Expect: 100-continue is visible in the head",
        arguments: [
            ("1.1", "Expect: 100-Continue\r\nContent-Length: 3\r\n", true), ("1.1", "Content-Length: 3\r\n", false),
            ("1.1", "Expect: 100-continue\r\n", false), ("1.0", "Expect: 100-continue\r\nContent-Length: 3\r\n", false),
            ("1.1", "Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n", true),
        ])
    func expectContinue(version: String, fields: String, expected: Bool) {
        let run = ParserRun("POST / HTTP/\(version)\r\nHost: x\r\n\(fields)\r\n")
        #expect(run.requests.first?.head.expectsContinue == expected)
    }

    @Test(
        "Every form of request target is taken (RFC 9112 §3.2)",
        arguments: [
            ("GET /where?q=now", "/where?q=now"), ("GET http://www.example.org/x", "http://www.example.org/x"),
            ("CONNECT www.example.com:80", "www.example.com:80"), ("OPTIONS *", "*"),
        ])
    func targets(start: String, target: String) {
        #expect(ParserRun("\(start) HTTP/1.1\r\nHost: x\r\n\r\n").requests.first?.head.target == target)
    }

    @Test("Field values that are not UTF-8 are repaired")
    func latin1() {
        let run = ParserRun([Array("GET / HTTP/1.1\r\nHost: x\r\nX: a".utf8) + [0xE9] + Array("b\r\n\r\n".utf8)])
        #expect(run.requests.first?.head.headers["X"] == "a\u{FFFD}b")
    }

    @Test("Body bytes are handed out as they arrive")
    func streaming() throws {
        var parser = HTTP1RequestParser()
        parser.receive(Data("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\nab".utf8))
        _ = try parser.next()
        #expect(try parser.next() == .body(Data("ab".utf8)))
        #expect(try parser.next() == nil)
        parser.receive(Data("cdefGET".utf8))
        #expect(try parser.next() == .body(Data("cdef".utf8)))
        #expect(try parser.next() == .end)
        #expect(try parser.next() == nil)
        #expect(!parser.isIdle)
    }

    @Test("After an error every call throws it again and nothing more is read")
    func sticky() {
        var parser = HTTP1RequestParser()
        parser.receive(Data("bad\r\n".utf8))
        for _ in 0..<2 {
            #expect(throws: HTTP1ParseError.badRequestLine) { try parser.next() }
            parser.receive(Data("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
        }
    }
}
