// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewTesting

@Suite(.timeLimit(.minutes(1)))
struct HTTP1RequestParserRefusalTests {
    @Test(
        "A malformed request line is refused",
        arguments: [
            ("GET / HTTP/1.1 \r\n", .badRequestLine), ("GET  / HTTP/1.1\r\n", .badRequestLine),
            ("GET /\r\n", .badRequestLine), (" GET / HTTP/1.1\r\n", .badRequestLine),
            ("GET /a b HTTP/1.1\r\n", .badRequestLine), ("GET /é HTTP/1.1\r\n", .badRequestLine),
            ("GET /\u{0} HTTP/1.1\r\n", .badRequestLine), ("G(T / HTTP/1.1\r\n", .badRequestLine),
            ("GET\t/ HTTP/1.1\r\n", .badRequestLine), ("GET a HTTP/1.1\r\n", .badRequestLine),
            ("GET / http/1.1\r\n", .badRequestLine), ("GET / HTTP/1.10\r\n", .badRequestLine),
            ("GET / HTTP/11\r\n", .badRequestLine), ("GET / HTTP/2.0\r\n", .unsupportedVersion),
            ("GET / HTTP/0.9\r\n", .unsupportedVersion), ("GET / HTTP/1.1\n", .bareLineFeed), ("\n", .bareLineFeed),
            ("GET /\rx HTTP/1.1\r\n", .badRequestLine), ("\u{16}\u{3}\u{1}\r\n", .badRequestLine),
        ] as [(String, HTTP1ParseError)])
    func requestLines(text: String, error: HTTP1ParseError) {
        #expect(ParserRun(text).error == error)
    }

    @Test(
        "A field that servers may read differently is refused",
        arguments: [
            ("Host: x\r\nX : y\r\n", .badFieldName), ("Host: x\r\n: y\r\n", .badFieldName),
            ("Host: x\r\nXy\r\n", .badFieldName), ("Host: x\r\nX\tY: z\r\n", .badFieldName),
            ("Host: x\r\nX(y): z\r\n", .badFieldName), ("Host: x\r\nX: a\r\n b\r\n", .foldedField),
            ("Host: x\r\nX: a\r\n\tb\r\n", .foldedField), (" Host: x\r\n", .foldedField),
            ("Host: x\r\nX: a\u{0}b\r\n", .badFieldValue), ("Host: x\r\nX: a\rb\r\n", .badFieldValue),
            ("Host: x\nX: y\r\n", .bareLineFeed), ("Host: x\r\nX: y\r\r\n", .badFieldValue),
            ("", .badHost), ("Host: x\r\nhost: x\r\n", .badHost),
        ] as [(String, HTTP1ParseError)])
    func fields(text: String, error: HTTP1ParseError) {
        #expect(ParserRun("GET / HTTP/1.1\r\n\(text)\r\n").error == error)
    }

    @Test(
        "A length that can be read in two ways is refused (RFC 9112 §6.3)",
        arguments: [
            ("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", .ambiguousLength),
            ("Transfer-Encoding: chunked\r\ncontent-length: 0\r\n", .ambiguousLength),
            ("Content-Length: 5\r\nContent-Length: 6\r\n", .badContentLength),
            ("Content-Length: 5\r\nContent-Length: 5\r\n", .badContentLength),
            ("Content-Length: 5, 5\r\n", .badContentLength), ("Content-Length: +5\r\n", .badContentLength),
            ("Content-Length: -5\r\n", .badContentLength), ("Content-Length: 0x5\r\n", .badContentLength),
            ("Content-Length: 5 5\r\n", .badContentLength), ("Content-Length:\r\n", .badContentLength),
            ("Content-Length: 5.0\r\n", .badContentLength), ("Content-Length: ٥\r\n", .badContentLength),
            ("Content-Length: 99999999999999999999\r\n", .badContentLength),
            ("Content-Length: 9223372036854775807\r\n", .bodyTooLarge),
            ("Transfer-Encoding: gzip, chunked\r\n", .unsupportedTransferCoding),
            ("Transfer-Encoding: chunked, chunked\r\n", .unsupportedTransferCoding),
            ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", .unsupportedTransferCoding),
            ("Transfer-Encoding: xchunked\r\n", .unsupportedTransferCoding),
            ("Transfer-Encoding:\r\n", .unsupportedTransferCoding),
        ] as [(String, HTTP1ParseError)])
    func lengths(text: String, error: HTTP1ParseError) {
        let run = ParserRun("POST / HTTP/1.1\r\nHost: x\r\n\(text)\r\nhello")
        #expect(run.error == error)
        #expect(run.requests.isEmpty)
    }

    @Test("Chunked content in HTTP/1.0 is refused")
    func chunkedInOldVersion() {
        #expect(ParserRun("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n").error == .ambiguousLength)
    }

    @Test(
        "A malformed chunk is refused",
        arguments: [
            "\r\n", "g\r\n", "-1\r\n", "+1\r\n", "0x1\r\n", " 1\r\n", "1 \r\na\r\n", "1 x\r\na\r\n", ";x\r\n",
            "1\r\nab\r\n", "1\r\na\n", "1\r\na0\r\n\r\n", "ffffffffffffffff\r\n", "10000000000000000\r\n",
            "0000000000000001\r\na\r\n", "1;\u{0}\r\na\r\n", "2\r\nab\rX",
        ])
    func chunks(text: String) {
        let run = ParserRun("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + text)
        #expect(run.error == .badChunk)
        #expect(run.requests.first?.ended == false)
    }

    @Test(
        "Chunk framing with bare LF, and bad trailers, are refused",
        arguments: [
            ("1\na\r\n", .bareLineFeed), ("0\r\n\n", .bareLineFeed), ("0\r\nX : y\r\n\r\n", .badFieldName),
            ("0\r\n folded\r\n\r\n", .foldedField), ("0\r\nX: \u{1}\r\n\r\n", .badFieldValue),
        ] as [(String, HTTP1ParseError)])
    func chunkLines(text: String, error: HTTP1ParseError) {
        let run = ParserRun("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + text)
        #expect(run.error == error)
    }

    @Test("Limits hold on both sides of their edge")
    func limits() {
        var limits = HTTP1RequestParser.Limits()
        limits.headBytes = 40
        limits.fields = 3
        limits.bodyBytes = 4
        limits.chunkLineBytes = 8
        func error(_ text: String) -> HTTP1ParseError? { ParserRun(text, limits: limits).error }

        let start = "GET / HTTP/1.1\r\nHost: x\r\n"  // 25 bytes, 13 of 40 left before the empty line
        #expect(error(start + "A: 78901234\r\n\r\n") == nil)
        #expect(error(start + "A: 789012345\r\n\r\n") == .headTooLarge)
        #expect(error(String(repeating: "a", count: 40)) == nil)
        #expect(error(String(repeating: "a", count: 41)) == .headTooLarge)
        #expect(error(String(repeating: "\r\n", count: 21)) == .headTooLarge)
        limits.headBytes = 1000
        #expect(error(start + "A:\r\nB:\r\n\r\n") == nil)
        #expect(error(start + "A:\r\nB:\r\nC:\r\n\r\n") == .tooManyFields)
        #expect(error(start + "Content-Length: 4\r\n\r\nabcd") == nil)
        #expect(error(start + "Content-Length: 5\r\n\r\n") == .bodyTooLarge)
        let chunked = start + "Transfer-Encoding: chunked\r\n\r\n"
        #expect(error(chunked + "2\r\nab\r\n2\r\ncd\r\n0\r\n\r\n") == nil)
        #expect(error(chunked + "2\r\nab\r\n3\r\n") == .bodyTooLarge)
        #expect(error(chunked + "2;3456\r\nab\r\n") == nil)
        #expect(error(chunked + "2;34567\r\nab\r\n") == .badChunk)
        #expect(error(chunked + "0\r\nA:\r\nB:\r\nC:\r\nD:\r\n\r\n") == .tooManyFields)
    }

    @Test("Each error names its status and says what is wrong", arguments: HTTP1ParseError.allCases)
    func errors(error: HTTP1ParseError) {
        #expect(error.status.isClientError || error.status.isServerError)
        #expect(!error.description.isEmpty)
    }
}
