// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewTesting

@Suite(.timeLimit(.minutes(1)))
struct HTTP1ResponseWriterTests {
    @Test("A head of a known length is written with its fields in order")
    func fixedLength() throws {
        var bytes: [UInt8] = []
        try HTTP1ResponseWriter.head(
            .ok, headers: [.contentType: "text/plain", .setCookie: "a=1", "set-cookie": "b=2"], framing: .length(5),
            into: &bytes)
        #expect(
            text(bytes)
                == "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Type: text/plain\r\nSet-Cookie: a=1\r\n"
                + "set-cookie: b=2\r\n\r\n")
    }

    @Test("Informational heads, chunks and trailers are written in the order of the calls")
    func chunked() throws {
        var bytes: [UInt8] = []
        try HTTP1ResponseWriter.informational(100, into: &bytes)
        try HTTP1ResponseWriter.informational(.earlyHints, headers: [.link: "</s.css>"], into: &bytes)
        try HTTP1ResponseWriter.head(.created, headers: [:], framing: .chunked, into: &bytes)
        HTTP1ResponseWriter.chunk("hello, chunked world".utf8, into: &bytes)
        HTTP1ResponseWriter.chunk([], into: &bytes)
        try HTTP1ResponseWriter.lastChunk(trailers: ["Checksum": "7"], into: &bytes)
        #expect(
            text(bytes)
                == "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </s.css>\r\n\r\n"
                + "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "14\r\nhello, chunked world\r\n0\r\nChecksum: 7\r\n\r\n")
    }

    @Test(
        "The reason phrase is the registry's unless one is given",
        arguments: [(404, nil, "404 Not Found"), (404, "Nope", "404 Nope"), (299, nil, "299 "), (404, "", "404 ")]
            as [(Int, String?, String)])
    func reasons(code: Int, reason: String?, expected: String) throws {
        var bytes: [UInt8] = []
        try HTTP1ResponseWriter.head(
            HTTPStatus(code), reason: reason, headers: [:], framing: .untilClose, into: &bytes)
        #expect(text(bytes) == "HTTP/1.1 \(expected)\r\n\r\n")
    }

    @Test(
        "A head that would be misread is refused, and nothing is written",
        arguments: [
            (.ok, nil, [:], .length(-1)), (.ok, nil, [.contentLength: "4"], .length(5)),
            (.ok, nil, [.contentLength: "5", "content-length": "5"], .length(5)),
            (.ok, nil, [.contentLength: "5"], .chunked), (.ok, nil, [.contentLength: "5"], .untilClose),
            (.ok, nil, [.transferEncoding: "chunked"], .length(5)), (.noContent, nil, [:], .length(0)),
            (.noContent, nil, [:], .chunked), (.notModified, nil, [:], .chunked), (100, nil, [:], .length(0)),
            (.ok, "O\r\nK", [:], .none), (99, nil, [:], .none), (1000, nil, [:], .none), (.ok, nil, ["X": "\n"], .none),
        ] as [(HTTPStatus, String?, HTTPHeaders, HTTP1ResponseWriter.Framing)])
    func refused(
        status: HTTPStatus, reason: String?, headers: HTTPHeaders, framing: HTTP1ResponseWriter.Framing
    ) {
        var bytes: [UInt8] = []
        #expect(throws: HTTP1WriteError.self) {
            try HTTP1ResponseWriter.head(status, reason: reason, headers: headers, framing: framing, into: &bytes)
        }
        #expect(bytes.isEmpty)
    }

    @Test("Fields that came unchecked are checked before they are written")
    func unchecked() {
        var headers = HTTPHeaders()
        headers.appendUnchecked(HTTPField(name: "X", value: "a\r\nInjected: 1"))
        var bytes: [UInt8] = []
        #expect(throws: HTTP1WriteError.self) {
            try HTTP1ResponseWriter.head(.ok, headers: headers, framing: .length(0), into: &bytes)
        }
        #expect(throws: HTTP1WriteError.self) {
            try HTTP1ResponseWriter.lastChunk(trailers: headers, into: &bytes)
        }
        #expect(bytes.isEmpty)
    }

    @Test("A final status is no informational head, and framing fields are no trailers")
    func misuse() {
        var bytes: [UInt8] = []
        #expect(throws: HTTP1WriteError.self) { try HTTP1ResponseWriter.informational(.ok, into: &bytes) }
        #expect(throws: HTTP1WriteError.self) {
            try HTTP1ResponseWriter.lastChunk(trailers: [.contentLength: "1"], into: &bytes)
        }
        #expect(bytes.isEmpty)
    }

    @Test("A given Content-Length that is right is not written twice; 304 may have one")
    func lengths() throws {
        var bytes: [UInt8] = []
        try HTTP1ResponseWriter.head(
            .notModified, headers: [.contentLength: "5"], framing: .length(5), into: &bytes)
        #expect(text(bytes) == "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n")
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
