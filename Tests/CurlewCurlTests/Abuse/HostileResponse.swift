// SPDX-License-Identifier: MIT

/// What a hostile server writes instead of a response of HTTP/1.1, and how the call must end.
///
/// In `text` each scalar is a byte, `$T` is the token of the request, of twelve bytes, and `poison` belongs to no
/// request.
struct HostileResponse: Sendable, CustomStringConvertible {
    /// What the server does when it has written the text.
    enum Ending: Sendable, Hashable {
        /// It reads the next request, or holds the response back until there is one.
        case keep, hold
        case close, reset, endOutput
        /// It writes this until the client has gone.
        case flood(String)
    }

    enum Outcome: Sendable, Hashable {
        /// A response with the token, and with the token as its body or with none.
        case own, empty
        /// A response with the token, and something else as its body.
        case odd
        /// Bytes of no request or of another one.
        case wrong(String)
        case failed(NetworkError.Reason)

        static let refused = Outcome.failed(.badResponse)
        static let lost = Outcome.failed(.connectionLost(.requestMayHaveArrived))
        static let largeHead = Outcome.failed(.limitExceeded(.responseHeaders))
        static let largeBody = Outcome.failed(.limitExceeded(.responseBody))
        static let lateHead = Outcome.failed(.timedOut(.firstByte))
        static let lateBody = Outcome.failed(.timedOut(.idle))
    }

    let description: String
    let method: HTTPMethod
    let text: String
    let ending: Ending
    let expected: [Outcome]
    /// Whether the connection carries the next request.
    let isKept: Bool

    init(
        _ description: String, _ text: String, _ expected: Outcome..., then ending: Ending = .keep,
        method: HTTPMethod = .get, closes: Bool = false
    ) {
        (self.description, self.method, self.text, self.ending) = (description, method, text, ending)
        self.expected = expected
        isKept = !closes && ending == .keep && [.own, .empty].contains(expected.first)
    }

    func bytes(_ token: String) -> Data {
        Data(
            text.replacingOccurrences(of: "$T", with: token).unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
    }

    func allows(_ outcome: Outcome) -> Bool {
        if case .wrong = outcome { return false }
        return expected.contains(outcome)
    }

    /// It takes time or many bytes, and is rare in a crowd.
    var isHeavy: Bool {
        if case .flood = ending { return true }
        return ending == .hold || text.utf8.count > 10_000
    }

    static let all: [HostileResponse] = [
        badLengths, lengths, bodies, badCodings, codings, badChunks, chunks, earlyEnds, trailers, badStatusLines,
        statusLines, fields, heads, cutHeads, interims, withoutContent, surplus, openEnds, connections, protocols,
        contentCodings, silences,
    ].flatMap(\.self)
}

/// A response with the token, these fields and this body.
private func ok(_ fields: String..., status: String = "HTTP/1.1 200 OK", body: String = "$T") -> String {
    "\(status)\r\nX-Id: $T\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n" + body
}

private func chunked(_ body: String, _ coding: String = "Transfer-Encoding: chunked") -> String {
    ok(coding, body: body)
}

private let length = "Content-Length: 12"
private let wholeChunks = "c\r\n$T\r\n0\r\n\r\n"
/// What would be a response if it were taken for one.
private let poison = "HTTP/1.1 200 OK\r\nX-Id: poison\r\nContent-Length: 6\r\n\r\npoison"

extension HostileResponse {
    private static let badLengths: [Self] =
        [
            "+12", "-12", "0x0c", "1 2", "12.0", "12 bytes", "12;", "", "1e1", "a", "\u{b}12", "\u{a0}12", "\"12\"",
            "12, 13", "9223372036854775808", "99999999999999999999", "1\r2",
        ].map { Self("a length of \($0.debugDescription)", ok("Content-Length: \($0)"), .refused) }

    private static let lengths: [Self] = [
        Self("leading zeros", ok("Content-Length: 00012"), .own),
        Self("the same length twice", ok(length, length), .own),
        Self("a list of the same length", ok("Content-Length: 12, 12"), .own),
        Self("lengths that differ", ok(length, "Content-Length: 13"), .refused),
        Self("a folded length", ok("Content-Length:\r\n 12"), .refused),
        Self("a length that goes on in the next line", ok("Content-Length: 1\r\n 2"), .refused),
        Self("a space before the colon", ok("Content-Length : 12"), .refused),
        Self("a tab before the colon", ok("Content-Length\t: 12"), .refused),
        Self("NUL before the colon", ok("Content-Length\0: 12"), .refused),
        Self("a length behind a blank", "HTTP/1.1 200 OK\r\n Content-Length: 12\r\nX-Id: $T\r\n\r\n$T", .refused),
        Self("a length beyond all limits", ok("Content-Length: 9223372036854775807"), .largeBody),
    ]

    private static let bodies: [Self] = [
        Self("a body that ends early", ok("Content-Length: 13"), .lost, then: .close),
        Self("a body that is reset", ok("Content-Length: 13"), .lost, then: .reset),
        Self("a body that ends early in one direction", ok("Content-Length: 13"), .lost, then: .endOutput),
        Self("a body until the end of the connection", ok(), .own, then: .close),
        Self("a body until the end of one direction", ok(), .own, then: .endOutput),
        Self("a body until a reset", ok(), .lost, then: .reset),
        Self("an endless body", ok(), .largeBody, then: .flood("poison")),
        Self("endless chunks", chunked(""), .largeBody, then: .flood("6\r\npoison\r\n")),
    ]

    private static let badCodings: [Self] =
        [
            "chunked, chunked", "gzip, chunked", "chunked, gzip", "identity", "chunked, identity", "xchunked",
            "\"chunked\"", "chunked;q=1", "\u{b}chunked", "", "chun ked", "chunked\r\nTransfer-Encoding: identity",
            "\r\n chunked", "chunked\r\n , identity", "chunked\r",
        ].map { Self("a coding of \($0.debugDescription)", chunked(wholeChunks, "Transfer-Encoding: \($0)"), .refused) }

    private static let codings: [Self] = [
        Self("a coding in other letters", chunked(wholeChunks, "TRANSFER-ENCODING: CHUNKED"), .own),
        Self(
            "a coding and a length", ok("Content-Length: 3", "Transfer-Encoding: chunked", body: wholeChunks), .own,
            closes: true),
        Self("a length and an unknown coding", ok(length, "Transfer-Encoding: x"), .refused),
        Self("a space before the colon of a coding", ok(length, "Transfer-Encoding : chunked"), .refused),
        Self(
            "a coding behind a blank",
            "HTTP/1.1 200 OK\r\n Transfer-Encoding: chunked\r\nX-Id: $T\r\n\r\n\(wholeChunks)", .refused),
        Self(
            "chunks of HTTP/1.0", ok("Transfer-Encoding: chunked", status: "HTTP/1.0 200 OK", body: wholeChunks),
            .refused),
    ]

    private static let badChunks: [Self] =
        [
            "0xc", "+c", "-c", " c", "c_", "0_c", "", "g", "c c", "c,", "c\u{b}", "\u{ff}", "ffffffffffffffff",
            "1000000000000000c",
        ].map { Self("a chunk's size of \($0.debugDescription)", chunked("\($0)\r\n$T\r\n0\r\n\r\n"), .refused) }

    private static let chunks: [Self] = [
        Self("a size with zeros before it", chunked("00000C\r\n$T\r\n000\r\n\r\n"), .own),
        Self("extensions of a chunk", chunked("c;a=\"b;c\" ;d\r\n$T\r\n0;e\r\n\r\n"), .own),
        Self("an extension without an end", chunked("c;"), .refused, .largeHead, then: .flood("extension")),
        Self("a size without an end", chunked(""), .refused, .largeHead, then: .flood("0")),
        Self("a chunk that is larger than its size", chunked("b\r\n$T\r\n0\r\n\r\n"), .refused),
        Self("a chunk without CRLF behind it", chunked("c\r\n$T0\r\n\r\n"), .refused),
        Self("a chunk with other bytes behind it", chunked("c\r\n$T,,0\r\n\r\n"), .refused),
        Self("a chunk with LF behind it", chunked("c\r\n$T\n0\r\n\r\n"), .refused),
        Self("a size with LF behind it", chunked("c\n$T\r\n0\r\n\r\n"), .refused),
        Self("an extension with LF in it", chunked("c;\n$T\r\n0\r\n\r\n"), .refused),
        Self("a size with CR behind it", chunked("c\r$T\r\n0\r\n\r\n"), .refused),
    ]

    private static let earlyEnds: [Self] =
        [
            "", "c", "c\r", "c\r\n", "c\r\n$T", "c\r\n$T\r\n", "c\r\n$T\r\n0", "c\r\n$T\r\n0\r\n",
            "c\r\n$T\r\n0\r\nX-A: b\r\n",
        ].map { Self("an end behind \($0.debugDescription)", chunked($0), .lost, then: .close) }

    private static let trailers: [Self] = [
        Self(
            "trailers that name framing",
            chunked("c\r\n$T\r\n0\r\nContent-Length: 3\r\nTransfer-Encoding: x\r\n\r\n"), .own),
        Self("trailers with another token", chunked("c\r\n$T\r\n0\r\nX-Id: poison\r\n\r\n"), .own),
        Self("a trailer without a colon", chunked("c\r\n$T\r\n0\r\npoison\r\n\r\n"), .own, .refused),
        Self("endless trailers", chunked("c\r\n$T\r\n0\r\n"), .largeHead, then: .flood("X-A: b\r\n")),
        Self("an endless trailer", chunked("c\r\n$T\r\n0\r\nX-A: "), .largeHead, then: .flood("poison")),
    ]

    private static let badStatusLines: [Self] =
        [
            "HTTP/1.1 20 OK", "HTTP/1.1 2000 OK", "HTTP/1.1 099 OK", "HTTP/1.1 -20 OK", "HTTP/1.1 2x0 OK",
            "HTTP/1.1 abc", "HTTP/1.1200 OK", "HTTP/1.1  200 OK", "HTTP/1.1\t200 OK", "HTTP/1.1 200\tOK", "HTTP/1.1",
            "HTTP/1.1 ", "HTTP/1.10 200 OK", "HTTP/11 200 OK", "HTTP/1,1 200 OK", "http/1.1 200 OK", "HTTP/0.9 200 OK",
            "HTTP/2 200 OK", "HTTP/2.0 200 OK", "HTTP/3.0 200 OK", "HTTP /1.1 200 OK", " HTTP/1.1 200 OK",
            "\r\nHTTP/1.1 200 OK", "ICY 200 OK", "HTTPS/1.1 200 OK", "HTTP/1.1 200 O\0K", "HTTP/1.1 200 O\rK",
            "\u{ef}\u{bb}\u{bf}HTTP/1.1 200 OK", "200 OK", "GET / HTTP/1.1",
        ].map { Self("\($0.debugDescription)", ok(length, status: $0), .refused) }

    private static let statusLines: [Self] = [
        Self("no reason", ok(length, status: "HTTP/1.1 200"), .own),
        Self("an unknown status", ok(length, status: "HTTP/1.1 999 \u{e4}\u{ff}"), .own),
        Self("a later version", ok(length, status: "HTTP/1.2 200 OK"), .own, .refused),
    ]

    private static let fields: [Self] = [
        Self("lines that end with LF", "HTTP/1.1 200 OK\nX-Id: $T\n\(length)\n\n$T", .own),
        Self("lines that end with CR", "HTTP/1.1 200 OK\rX-Id: $T\r\(length)\r\r$T", .refused, .lost, then: .close),
        Self("a folded field", ok("X-A: b\r\n c\r\n\td", length), .own),
        Self("a line without a colon", ok("poison", length), .own, .refused),
        Self("a field without a name", ok(": poison", length), .own, .refused),
        Self("a name with a space", ok("X A: b", length), .own, .refused),
        Self("a name that is not ASCII", ok("X-\u{e4}: b", length), .own, .refused),
        Self("a value that is not ASCII", ok("X-A: \u{e4}\u{ff}\u{80}", length), .own),
        Self("NUL in a value", ok("X-A: b\0c", length), .refused),
        Self("NUL in a name", ok("X-\0A: b", length), .refused),
        Self("CR in a value", ok("X-A: b\rX-Id: poison", length), .own, .refused),
        Self("a line of blanks", ok("X-A: b\r\n   ", length), .own, .refused),
    ]

    private static let heads: [Self] = [
        Self("more fields than the limit", ok(String(repeating: "X-A: b\r\n", count: 200) + length), .largeHead),
        Self(
            "a field larger than the limit", ok("X-A: " + String(repeating: "b", count: 20_000), length), .largeHead),
        Self("endless fields", "HTTP/1.1 200 OK\r\n", .largeHead, then: .flood("X-A: b\r\n")),
        Self("an endless field", "HTTP/1.1 200 OK\r\nX-A: ", .largeHead, then: .flood("poison")),
        Self("an endless name", "HTTP/1.1 200 OK\r\n", .largeHead, .refused, then: .flood("poison")),
        Self("an endless reason", "HTTP/1.1 200 ", .largeHead, then: .flood("poison")),
        Self("an endless fold", "HTTP/1.1 200 OK\r\nX-A: b\r\n", .largeHead, then: .flood(" \r\n")),
        Self("endless empty lines", "", .refused, then: .flood("\r\n")),
        Self("endless zeros", "", .refused, .largeHead, then: .flood("\0")),
    ]

    private static let cutHeads: [Self] = [
        "H", "HTTP/1.1", "HTTP/1.1 200 OK\r", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nX-Id: $T\r\n\r",
    ].flatMap { start in
        [Ending.close, .reset].map { Self("\($0) behind \(start.debugDescription)", start, .lost, then: $0) }
    }

    private static let interims: [Self] = [
        Self(
            "interim responses",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nX-Id: poison\r\n\r\nHTTP/1.1 199 Odd\r\n\r\n"
                + ok(length), .own),
        Self(
            "an interim response with a length", "HTTP/1.1 103 Early Hints\r\nContent-Length: 500\r\n\r\n" + ok(length),
            .own, closes: true),
        Self(
            "an interim response with chunks",
            "HTTP/1.1 100 Continue\r\nTransfer-Encoding: chunked\r\n\r\n" + ok(length), .own, .refused,
            closes: true),
        Self("an interim response and the end", "HTTP/1.1 100 Continue\r\n\r\n", .lost, then: .close),
        Self("endless interim responses", "", .largeHead, then: .flood("HTTP/1.1 100 Continue\r\n\r\n")),
        Self(
            "an upgrade that was not asked for",
            "HTTP/1.1 101 Switching Protocols\r\nX-Id: $T\r\nConnection: upgrade\r\nUpgrade: poison\r\n\r\n" + poison,
            .refused),
        Self("an upgrade to nothing", "HTTP/1.1 101 Switching Protocols\r\n\r\n" + ok(length), .refused),
    ]

    private static let (noContent, notModified) = ("HTTP/1.1 204 No Content", "HTTP/1.1 304 Not Modified")

    private static let withoutContent: [Self] = [
        Self("204 with content", ok("Content-Length: 6", status: noContent, body: "poison"), .empty, closes: true),
        Self(
            "204 with chunks", ok("Transfer-Encoding: chunked", status: noContent, body: "6\r\npoison\r\n0\r\n\r\n"),
            .empty, .refused, closes: true),
        Self("204 with a response behind it", ok(status: noContent, body: poison), .empty, closes: true),
        Self("204 with lengths that differ", ok(length, "Content-Length: 6", status: noContent, body: ""), .refused),
        Self("205 with content", ok(length, status: "HTTP/1.1 205 Reset Content"), .own),
        Self("304 with content", ok("Content-Length: 6", status: notModified, body: "poison"), .empty, closes: true),
        Self("304 with a length", ok("Content-Length: 6", status: notModified, body: ""), .empty),
        Self("HEAD with content", ok("Content-Length: 6", body: "poison"), .empty, method: .head, closes: true),
        Self("HEAD with chunks", chunked("6\r\npoison\r\n0\r\n\r\n"), .empty, method: .head, closes: true),
        Self("HEAD with a length", ok("Content-Length: 6", body: ""), .empty, method: .head),
        Self("HEAD with lengths that differ", ok(length, "Content-Length: 6", body: ""), .refused, method: .head),
        Self(
            "HEAD with a length beyond all numbers", ok("Content-Length: 99999999999999999999", body: ""), .refused,
            method: .head),
        Self("HEAD without an end", ok(body: ""), .empty, method: .head),
    ]

    private static let surplus: [Self] =
        [
            poison, poison + poison, "HTTP/1.1 200 OK\r\nX-Id: poi", "\r\n", "\r\n" + poison, "\0", "poison",
            "0\r\n\r\n" + poison,
            "HTTP/1.1 100 Continue\r\n\r\n",
            "HTTP/1.1 408 Request Timeout\r\nX-Id: poison\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nX-Id: poison\r\nContent-Length: 9000\r\n\r\n"
                + String(repeating: "poison, ", count: 1125),
        ].flatMap { more in
            let name = "\(more.prefix(30).debugDescription) of \(more.utf8.count) bytes behind "
            return [
                Self(name + "a body", ok(length) + more, .own, closes: true),
                Self(name + "chunks", chunked(wholeChunks + more), .own, closes: true),
            ]
        }

    private static let openEnds: [Self] =
        ["close", "CLOSE", "keep-alive, close", "close, keep-alive", "x, close ,y"].map {
            Self("an open connection in spite of \"\($0)\"", ok(length, "Connection: \($0)"), .own, closes: true)
        }

    private static let connections: [Self] = [
        Self("a response behind the end", ok(length, "Connection: close") + poison, .own, closes: true),
        Self("HTTP/1.0", ok(length, status: "HTTP/1.0 200 OK"), .own, closes: true),
        Self("HTTP/1.0 that stays", ok(length, "Connection: keep-alive", status: "HTTP/1.0 200 OK"), .own),
        Self(
            "an end in spite of keep-alive",
            ok(length, "Connection: keep-alive", "Keep-Alive: timeout=600, max=100"), .own, then: .close),
        Self("an end of one direction behind a response", ok(length), .own, then: .endOutput),
        Self("a reset behind a response", ok(length), .own, .lost, then: .reset),
        Self("a reset behind chunks", chunked(wholeChunks), .own, .lost, then: .reset),
    ]

    private static let protocols: [Self] =
        [
            "HTTP/2's preface": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP/2's settings": "\0\0\0\u{4}\0\0\0\0\0",
            "an alert of TLS": "\u{15}\u{3}\u{1}\0\u{2}\u{2}\u{50}", "SSH": "SSH-2.0-OpenSSH_9.2\r\n",
            "SMTP": "220 mail ESMTP\r\n",
            "FTP": "220-poison\r\n", "Redis": "-ERR unknown command\r\n", "a frame of WebSocket": "\u{81}\u{6}poison",
            "HTTP/0.9": "<html>$T</html>",
        ].sorted { $0.key < $1.key }.flatMap { name, text in
            [Ending.keep, .close].map { Self("\(name), \($0)", text, .refused, then: $0) }
        }

    private static let contentCodings: [Self] = {
        let gzip = "Content-Encoding: gzip"
        func response(_ bytes: Data, _ coding: String = gzip) -> String {
            ok(
                coding, "Content-Length: \(bytes.count)",
                body: String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) })))
        }
        let text = Data("poison".utf8)
        return [
            Self("gzip with a wrong checksum", response(Deflated.gzip(text, checksum: 0)), .refused),
            Self("gzip with a bit turned", response(Deflated.gzip(text, turning: 3)), .refused),
            Self("gzip that ends early", response(Deflated.gzip(text).dropLast(3)), .refused),
            Self("gzip's head alone", response(Deflated.gzip(text).prefix(10)), .refused),
            Self("gzip that is none", ok(gzip, length), .refused),
            Self("a small body that grows", response(Deflated.bomb(of: 4 << 20)), .largeBody),
            Self(
                "more codings than five", response(text, "Content-Encoding: gzip, gzip, gzip, gzip, gzip, gzip"),
                .refused),
            Self("an unknown coding", ok("Content-Encoding: poison", length), .own),
        ]
    }()

    private static let silences: [Self] = [
        Self("no response", "", .lateHead, then: .hold),
        Self("half a head", "HTTP/1.1 200 OK\r\nX-", .lateHead, then: .hold),
        Self("an interim response and silence", "HTTP/1.1 100 Continue\r\n\r\n", .lateHead, then: .hold),
        Self("half a body", ok("Content-Length: 18"), .lateBody, .lateHead, then: .hold),
        Self("half a chunk", chunked("c\r\n"), .lateBody, .lateHead, then: .hold),
        Self("no last chunk", chunked("c\r\n$T\r\n"), .lateBody, .lateHead, then: .hold),
        Self("a body without an end", ok(), .lateBody, .lateHead, then: .hold),
        Self("no response and an end", "", .lost, then: .close),
        Self("no response and a reset", "", .lost, then: .reset),
        Self("no response and an end of one direction", "", .lost, then: .endOutput),
    ]
}
