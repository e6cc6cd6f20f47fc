// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewHTTP

@Suite(.timeLimit(.minutes(1)))
struct HTTP1ResponseParserTests {
    /// A response that the parser accepts.
    struct Accepted: Sendable, CustomTestStringConvertible {
        let bytes: [UInt8]
        let method: HTTPMethod
        let events: [String]
        let content: String
        let keeps: Bool
        /// The number of bytes that do not belong to the response.
        let surplus: Int

        init(
            _ text: String, _ method: HTTPMethod = .get, _ events: String..., content: String = "", keeps: Bool = true,
            surplus: Int = 0
        ) {
            bytes = Array(text.utf8)
            self.method = method
            self.events = events
            self.content = content
            self.keeps = keeps
            self.surplus = surplus
        }

        var testDescription: String { "\(method) \(String(decoding: bytes, as: UTF8.self))" }
    }

    private static let ok = "HTTP/1.1 200 OK\r\n"
    private static let empty = "Content-Length: 0\r\n\r\n"
    private static let chunked = ok + "Transfer-Encoding: chunked\r\n\r\n"
    private static let chunkedHead = "HTTP/1.1 200 OK chunked|Transfer-Encoding: chunked"

    static let accepted: [Accepted] = statusLines + fields + framings + connections + chunks

    private static let statusLines = [
        ("HTTP/1.1 404 No such film", "HTTP/1.1 404 No such film"), ("HTTP/1.1 200 OK", "HTTP/1.1 200 OK"),
        ("HTTP/1.1 404", "HTTP/1.1 404 -"), ("HTTP/1.1 404 ", "HTTP/1.1 404 -"),
        ("HTTP/1.7 999 \u{1}caf\u{e9}\u{1}!\t", "HTTP/1.7 999 caf\u{e9} !"),
        ("HTTP/1.1 500 " + String(repeating: "x", count: 300), "HTTP/1.1 500 " + String(repeating: "x", count: 200)),
    ].map { line, start in
        Accepted(line + "\r\n" + empty, .get, start + " length(0)|Content-Length: 0", "end")
    }

    private static let fields = [
        ("X-A:b", "X-A: b"), ("X-A:  \t b \t", "X-A: b"), ("X-A:", "X-A: "), ("X-A: \t", "X-A: "),
        ("x!#$%&'*+-.^_`|~9: a:b", "x!#$%&'*+-.^_`|~9: a:b"), ("X-A: \u{fc}\u{1F600}", "X-A: \u{fc}\u{1F600}"),
        ("X-A: a\rb\u{1}c\u{7F}\r", "X-A: a b c"), ("X-A: one\r\n  two \r\n\tthree", "X-A: one two three"),
        ("X-A:\n one\r\n \r\n\t\ttwo\n ", "X-A: one two"), ("X-A: 1\r\nx-a: 2\nX-B: 3", "X-A: 1|x-a: 2|X-B: 3"),
        ("Content-Lengths: x\r\nTransfer-Encodin: y", "Content-Lengths: x|Transfer-Encodin: y"),
    ].map { lines, fields in
        Accepted(ok + lines + "\r\n" + empty, .get, "HTTP/1.1 200 OK length(0)|\(fields)|Content-Length: 0", "end")
    }

    /// How the content ends (RFC 9112 §6.3).
    private static let framings = [
        Accepted(
            ok + "Content-Length: 5\r\n\r\nhelloHTTP/1.1", .get, "HTTP/1.1 200 OK length(5)|Content-Length: 5", "end",
            content: "hello", surplus: 8),
        Accepted(
            ok + "content-LENGTH:\t005,5 , 5\r\nContent-Length: 5\n\nhello", .get,
            "HTTP/1.1 200 OK length(5)|content-LENGTH: 005,5 , 5|Content-Length: 5", "end", content: "hello"),
        Accepted(ok + "\r\nhello", .get, "HTTP/1.1 200 OK untilClose", "end", content: "hello", keeps: false),
        Accepted(
            ok + "Content-Length: 2\r\ntransfer-encoding: Chunked\t\r\n\r\n5\r\nhello\r\n0\r\n\r\nok", .get,
            "HTTP/1.1 200 OK chunked|Content-Length: 2|transfer-encoding: Chunked", "end", content: "hello",
            keeps: false, surplus: 2),
        Accepted(
            ok + "Content-Length: 5\r\n\r\nhello", .head, "HTTP/1.1 200 OK none|Content-Length: 5", "end", surplus: 5),
        Accepted(chunked + "0\r\n\r\n", .head, "HTTP/1.1 200 OK none|Transfer-Encoding: chunked", "end", surplus: 5),
        Accepted(
            "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\nH", .get,
            "HTTP/1.1 304 Not Modified none|Content-Length: 5", "end", surplus: 1),
        Accepted("HTTP/1.1 204 No Content\r\n\r\nH", .get, "HTTP/1.1 204 No Content none", "end", surplus: 1),
        Accepted(
            "HTTP/1.1 204\r\nContent-Length: 1\r\n\r\nH", .get, "HTTP/1.1 204 - none|Content-Length: 1", "end",
            keeps: false, surplus: 1),
        Accepted(
            "HTTP/1.1 205\r\nContent-Length: 1\r\n\r\nH", .get, "HTTP/1.1 205 - length(1)|Content-Length: 1", "end",
            content: "H"),
        Accepted(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nraw", .get,
            "HTTP/1.1 101 Switching Protocols switched|Upgrade: x", "end", keeps: false, surplus: 3),
        Accepted(
            ok + "Content-Length: 3\r\n\r\nraw", .connect, "HTTP/1.1 200 OK switched|Content-Length: 3", "end",
            keeps: false, surplus: 3),
        Accepted(
            "HTTP/1.1 407\r\nContent-Length: 3\r\n\r\nraw", .connect, "HTTP/1.1 407 - length(3)|Content-Length: 3",
            "end", content: "raw"),
        Accepted(
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n" + ok + empty, .get,
            "100", "103|Link: a", "HTTP/1.1 200 OK length(0)|Content-Length: 0", "end"),
        Accepted(
            "HTTP/1.1 103\r\nContent-Length: x\r\n\r\n" + ok + empty, .get, "103|Content-Length: x",
            "HTTP/1.1 200 OK length(0)|Content-Length: 0", "end", keeps: false),
    ]

    /// Whether the connection is kept (RFC 9112 §9.3).
    private static let connections = [
        ("1.1", "keep-alive", true), ("1.1", "close", false), ("1.1", " x ,\t,CLOSE,", false), ("1.1", "closed", true),
        ("1.1", "Keep-Alive, close", false), ("1.0", "x", false), ("1.0", "Keep-Alive", true),
        ("1.0", "x, KEEP-ALIVE", true), ("1.0", "keep-alive, close", false), ("1.9", "x", true),
    ].map { version, options, keeps in
        let value = options.trimmingCharacters(in: .whitespaces)
        return Accepted(
            "HTTP/\(version) 200\r\nConnection: \(options)\r\n" + empty, .get,
            "HTTP/\(version) 200 - length(0)|Connection: \(value)|Content-Length: 0", "end", keeps: keeps)
    }

    private static let chunks = [
        Accepted(
            chunked
                + "4;a=\"b\";c\r\nWiki\r\n00B \t; x\r\n\r\nis \r\nfine\r\n1  \r\n!\r\n0;l\r\nX-Sum: 7\n"
                + "X-A: a\r\n b\r\n\r\n",
            .get, chunkedHead, "end|X-Sum: 7|X-A: a b", content: "Wiki\r\nis \r\nfine!"),
        Accepted(chunked + "000000000000000\r\n\n", .get, chunkedHead, "end"),
        Accepted(
            chunked + "0\r\nContent-Length: 5\r\nTransfer-Encoding: x\r\nConnection: close\r\n\r\nhello", .get,
            chunkedHead, "end|Content-Length: 5|Transfer-Encoding: x|Connection: close", surplus: 5),
    ]

    @Test("A valid response is read, and all of it", arguments: accepted)
    func accepts(response: Accepted) {
        let run = ResponseRun(response.bytes, method: response.method)
        #expect(run.error == nil)
        #expect(run.events == response.events)
        #expect(String(decoding: run.content, as: UTF8.self) == response.content)
        #expect(run.keepsConnection == response.keeps)
        #expect(run.consumed == response.bytes.count - response.surplus)
        expectEqualSplits(response.bytes, response.method)
    }

    static let refused: [(String, HTTP1ResponseError)] =
        [
            "HTTP/1.1 20", "HTTP/1.1 2000 OK", "HTTP/1.1 099 OK", "HTTP/1.1  200 OK", "HTTP/1.1\t200 OK",
            " HTTP/1.1 200",
            "HTTP/2.0 200 OK", "HTTP/1.10 200 OK", "HTTP/11 200 OK", "http/1.1 200 OK", "HTTP/1.1 -20 OK", "ICY 200 OK",
            "HTTP/1.1 200\tOK", "HTTP/1.1 200 O\rK", "HTTP/1.1 200 \0", "HTTP/1.1 200\r", "\r\nHTTP/1.1 200 OK", "\0",
        ].map { ($0 + "\r\n" + empty, .badStatusLine) }
        + [
            "X-A : b", "X-A\t: b", "X-A", ": b", "X A: b", "X\u{1}A: b", "X-\u{fc}: b", "X-A: a\0b", "X(: b",
            "\rX-A: b",
            "Content-Length : 0", "Transfer-Encoding\t: chunked", "X-A: b\r\n: c", "\r", "\u{1}\r\n X-A: b",
            "X-A: a\0\r\n b",
        ].map { (ok + $0 + "\r\n" + empty, .badField) }
        + [" X-A: b", "\tContent-Length: 0", " "].map { (ok + $0 + "\r\n" + empty, .badField) }
        + [
            "Content-Length:\r\n 0", "Transfer-Encoding: chunked\n\t", "Connection: close,\r\n x",
            "Connection: clo\rse",
            "Connection: close\u{1}",
        ].map { (ok + $0 + "\r\n\r\n", .badFraming) }
        + [
            "", "+5", "-5", "five", "5 5", "5, 6", "5,", ",5", "5;", "0x5", "5.0", "5\u{1}", "5\r", "\"5\"",
            "9223372036854775808", "99999999999999999999999", "5\r\nContent-Length: 6", "5\r\nContent-Length:",
            "\u{665}",
        ].map { (ok + "Content-Length: \($0)\r\n\r\nhello!", .badContentLength) }
        + [
            "", "identity", "gzip", "gzip, chunked", "chunked, gzip", "chunked, chunked", "chunked,", "chunked;q=1",
            "xchunked", "chunked\r", "\u{b}chunked", "\"chunked\"", "chunked\r\nTransfer-Encoding: chunked",
            "chunked\r\nTransfer-Encoding: identity", "identity\r\nTransfer-Encoding: chunked",
        ].map { (ok + "Transfer-Encoding: \($0)\r\n\r\n0\r\n\r\n", .badTransferCoding) }
        + [("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", .badTransferCoding)]
        + [
            "x\r\n", "\r\n", ";a\r\n", " 1\r\na\r\n", "-1\r\n", "+1\r\na\r\n", "0x1\r\na\r\n", "1\na\r\n",
            "1\r\r\na\r\n",
            "1\r\nab\r\n", "1\r\na\n", "1\r\na\r\r", "1\r\na0\r\n", "1 1\r\na\r\n", "1;a\rb\r\na\r\n", "1;\0\r\na\r\n",
            "0000000000000001\r\na\r\n", "fffffffffffffffff\r\n", "0\n\n", "1;" + String(repeating: "x", count: 4096),
        ].map { (chunked + $0, .badChunk) }
        + ["X-A : b", " X-A: b", "X-A", "X-A: a\0"].map { (chunked + "0\r\n" + $0 + "\r\n\r\n", .badField) }
        + [
            "", "H", "HTTP/1.1", ok, ok + "X-A: b", ok + "X-A: b\r", ok + "X-A: b\r\n", ok + "\r",
            "HTTP/1.1 100 Continue\r\n\r\n", ok + "Content-Length: 6\r\n\r\nhello", chunked, chunked + "5\r\nhello",
            chunked + "5\r\nhello\r", chunked + "5\r\nhello\r\n", chunked + "0", chunked + "0\r\n",
            chunked + "0\r\nX-A: b\r\n", chunked + "0\r\n\r",
        ].map { ($0, .endedEarly) }

    @Test("An invalid response is refused", arguments: refused)
    func refuses(text: String, error: HTTP1ResponseError) {
        let run = ResponseRun(text)
        #expect(run.error == error, "\(run)")
        #expect(!run.keepsConnection)
        expectEqualSplits(Array(text.utf8), .get)
    }

    private func expectEqualSplits(_ bytes: [UInt8], _ method: HTTPMethod) {
        let whole = ResponseRun(bytes, method: method)
        for cut in bytes.indices.prefix(400) {
            #expect(ResponseRun(bytes, cuts: [cut], method: method) == whole, "cut at \(cut)")
        }
        #expect(ResponseRun(bytes, cuts: Array(bytes.indices), method: method) == whole, "byte by byte")
    }

    @Test("Interim responses and the head together may be as large as the limits, and so may trailers")
    func limits() {
        let head = "HTTP/1.1 103\r\nA: 1\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nB: 2\r\n\r\n"
        let trailers = "C: 3\r\nD: 4\r\n E\r\n" + String(repeating: "F: 5\r\n", count: 12) + "\r\n"
        let text = head + "0\r\n" + trailers
        #expect(head.utf8.count < trailers.utf8.count)
        for bytes in 0...trailers.utf8.count {
            let error: HTTP1ResponseError? = bytes < trailers.utf8.count ? .headTooLarge : nil
            let run = ResponseRun(text, maximumHeadBytes: bytes, maximumFields: .max)
            #expect(run.error == error)
            #expect(run.events.count == (bytes < 22 ? 0 : bytes < head.utf8.count ? 1 : 2) + (error == nil ? 1 : 0))
            let all = Array(text.utf8)
            #expect(
                ResponseRun(all, cuts: Array(all.indices), maximumHeadBytes: bytes, maximumFields: .max) == run)
        }
        for fields in 0...14 {
            let error: HTTP1ResponseError? = fields < 14 ? .tooManyFields : nil
            #expect(ResponseRun(text, maximumHeadBytes: .max, maximumFields: fields).error == error)
        }
    }

    @Test("Bytes that cannot be a response are refused before their line ends")
    func early() throws {
        for (text, error) in [
            ("S", HTTP1ResponseError.badStatusLine), ("HTTP/1.1 2x", .badStatusLine), ("\r", .badStatusLine),
            (Self.ok + " ", .badField), (Self.chunked + "x", .badChunk), (Self.chunked + "1\r\nab", .badChunk),
        ] {
            #expect(ResponseRun(text).error == error)
            #expect(ResponseRun(String(text.dropLast())).error == .endedEarly)
        }
    }

    @Test("Responses follow each other on a connection, each after its request")
    func sequence() throws {
        let bytes = Array((Self.ok + Self.empty + Self.ok + "Content-Length: 1\r\n\r\na" + "bad\r\n").utf8)
        var parser = HTTP1ResponseParser(maximumHeadBytes: 1000, maximumFields: 10)
        var offset = 0
        func next() throws(HTTP1ResponseError) -> HTTP1ResponseParser.Event {
            try bytes.withUnsafeBytes { bytes in
                Result { () throws(HTTP1ResponseError) in try parser.next(bytes, &offset, nil) }
            }.get()
        }
        func isIdle() -> Bool { parser.isBetweenResponses }
        func isKept() -> Bool { parser.keepsConnection }
        #expect(isIdle())
        for content in 0...1 {
            #expect(try next() == .incomplete)
            parser.begin(.get)
            #expect(!isIdle())
            for _ in 0...content { _ = try next() }
            #expect(!isIdle())
            #expect(try next() == .end(trailers: [:]))
            #expect(isIdle() && isKept())
        }
        parser.begin(.get)
        for _ in 0...1 {
            #expect(throws: HTTP1ResponseError.badStatusLine) { try next() }
            #expect(throws: HTTP1ResponseError.badStatusLine) { try parser.finish() }
            parser.begin(.get)
        }
        #expect(!isIdle() && !isKept())
    }

    /// A line break among these bytes, which came later than they did, is not seen.
    @Test(
        "Bytes without the end of their line are not searched again",
        arguments: ["HTTP/1.1 200 aaaa", ok + "X-A: aaaa", ok + "X-A: a\r\n aaaa", chunked + "1;aaaa"])
    func linearSearch(text: String) throws {
        var bytes = Array(text.utf8)
        var parser = HTTP1ResponseParser(maximumHeadBytes: 1000, maximumFields: 10)
        parser.begin(.get)
        var offset = 0
        func isIncomplete() throws -> Bool {
            try bytes.withUnsafeBytes { bytes in
                while true {
                    let event = try parser.next(bytes, &offset, nil)
                    guard case .head = event else { return event == .incomplete }
                }
            }
        }
        #expect(try isIncomplete())
        let start = offset
        bytes[bytes.count - 2] = 0x0A
        bytes.append(0x61)
        #expect(try isIncomplete())
        #expect(offset == start)
    }

    @Test("A connection that ends between responses has none")
    func endOfIdleConnection() {
        var parser = HTTP1ResponseParser(maximumHeadBytes: 1000, maximumFields: 10)
        #expect(throws: HTTP1ResponseError.endedEarly) { try parser.finish() }
    }

    @Test("Each error says what is wrong", arguments: HTTP1ResponseError.allCases)
    func errors(error: HTTP1ResponseError) {
        #expect(!error.description.isEmpty)
    }
}
