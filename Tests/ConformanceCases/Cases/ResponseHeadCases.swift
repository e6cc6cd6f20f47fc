// SPDX-License-Identifier: MIT

import CurlewCookies
import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewTesting

/// Cases for status lines, response fields, interim responses and trailers.
enum ResponseHeadCases {
    static let all = statusLines + fields + oddFields + interim + withoutBody

    private static let statusLines = [
        ("HTTP/1.1 200 OK", 200, HTTPVersion.http1_1), ("HTTP/1.0 404 Not Found", 404, .http1_0),
        ("HTTP/1.1 204", 204, .http1_1), ("HTTP/1.1 299 ", 299, .http1_1),
        ("HTTP/1.1 503 Sérvice Ünavailable", 503, .http1_1), ("HTTP/1.1 799 Odd", 799, .http1_1),
    ].map { line, code, version in
        ConformanceCase("the status line \"\(line)\" is read", .responseHeads, rule: "RFC 9112 §4") { trial in
            let server = try trial.server(answering: .lines(line, "Content-Length: 0"))
            let response = try await trial.exchange(.get, server.url + "/")
            try trial.equal(response.status.code, code, "the status")
            try trial.equal(response.version, version, "the version")
        }
    }

    private static let fields = [
        ConformanceCase(
            "fields keep their order, spelling and repetitions, and Set-Cookie is never joined", .responseHeads,
            .message,
            rule: "RFC 9110 §5.3"
        ) { trial in
            var headers: HTTPHeaders = ["Set-Cookie": "a=1, 2; Path=/", "x-Odd-Case": "1"]
            for (name, value): (HTTPField.Name, String) in [("SET-COOKIE", "b=2"), ("X-List", "a"), ("x-list", "b")] {
                headers.append(name, value)
            }
            let server = try trial.server(answering: .status(.ok, headers: headers))
            let received = try await trial.exchange(.get, server.url + "/").headers
            let own = received.filter { $0.name != .contentLength }
            try trial.equal(
                own.map(\.name.text), ["Set-Cookie", "x-Odd-Case", "SET-COOKIE", "X-List", "x-list"], "the names")
            try trial.equal(received[values: .setCookie], ["a=1, 2; Path=/", "b=2"], "Set-Cookie")
            try trial.equal(received["X-List"], "a, b", "X-List")
        },
        ConformanceCase(
            "bytes of a field that are not UTF-8 are read as Latin-1", .responseHeads, rule: "RFC 9110 §5.5"
        ) { trial in
            let start = Data("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Name: caf".utf8)
            let server = try trial.server(answering: .raw(start + [0xE9, 0xFF] + Data("\r\n\r\n".utf8)))
            try trial.equal(
                try await trial.exchange(.get, server.url + "/").headers["X-Name"], "café\u{FF}", "X-Name")
        },
    ]

    private static let oddFields = [
        ("without a space", "X-A:b", "b"), ("with space around its value", "X-A:   b \t", "b"),
        ("without a value", "X-A:", ""), ("with a colon in its value", "X-A: a:b", "a:b"),
        ("of UTF-8", "X-A: ünï", "ünï"), ("folded over several lines", "X-A: one\r\n  two\r\n\tthree", "one two three"),
    ].map { what, line, value in
        ConformanceCase("a field line \(what) is read", .responseHeads, rule: "RFC 9112 §5") { trial in
            let server = try trial.server(answering: .lines("HTTP/1.1 200 OK", line, "Content-Length: 2", body: "ok"))
            let response = try await trial.exchange(.get, server.url + "/")
            try trial.equal(response.headers["X-A"], value, "X-A")
            try trial.equal(response.headers.count, 2, "the number of fields")
            try await trial.expectText(response, "ok")
        }
    }

    private static let interim =
        [[100], [103], [102, 103, 103]].map { codes in
            let names = codes.map(String.init).joined(separator: ", ")
            return ConformanceCase(
                "\(names) before the final response \(codes.count == 1 ? "is" : "are") passed over", .responseHeads,
                rule: "RFC 9110 §15.2"
            ) { trial in
                let server = try trial.server()
                var answer = MockResponse.text("final")
                for code in codes { answer = answer.after(HTTPStatus(code), headers: [.link: "</a.css>; rel=preload"]) }
                server.on(.get, "/", respond: answer)
                for _ in 0..<2 {
                    let response = try await trial.exchange(.get, server.url + "/")
                    try trial.equal(response.status, .ok, "the status")
                    try trial.equal(response.headers[.link], nil, "Link")
                    try await trial.expectText(response, "final")
                }
                try trial.equal(server.connectionCount, 1, "the number of connections")
            }
        } + [
            ConformanceCase(
                "trailers end the body and change nothing in the head", .responseHeads, rule: "RFC 9110 §6.5"
            ) { trial in
                let server = try trial.server()
                server.on(
                    .get, "/", respond: .chunks(["one", "two"]).with(trailers: ["X-Sum": "6", "Content-Type": "a/b"]))
                for _ in 0..<2 {
                    let response = try await trial.exchange(.get, server.url + "/")
                    try trial.equal(response.headers["X-Sum"], nil, "X-Sum in the head")
                    try trial.equal(
                        response.headers[values: .contentType].count, 1, "the number of Content-Type fields")
                    try await trial.expectText(response, "onetwo")
                }
                try trial.equal(server.connectionCount, 1, "the number of connections")
            }
        ]

    private static let withoutBody = [204, 304].map { code in
        ConformanceCase(
            "\(code) has no body, whatever its head says", .responseHeads, rule: "RFC 9112 §6.3"
        ) { trial in
            var headers: HTTPHeaders = [.eTag: "\"1\""]
            if code == 304 { headers[.contentLength] = "99999" }
            let server = try trial.server()
            server.on(.get, "/", respond: .status(HTTPStatus(code), headers: headers))
            for streaming in [false, true] {
                let response = try await trial.exchange(.get, server.url + "/") { $0.streaming = streaming }
                try trial.equal(response.status.code, code, "the status")
                try trial.equal(response.headers[.eTag], "\"1\"", "ETag")
                try trial.equal(try await response.chunksJoined(), Data(), "the body")
            }
            try trial.equal(server.connectionCount, 1, "the number of connections")
        }
    }
}

extension MockResponse {
    /// Returns a response that consists of these lines with CR LF endings, an empty line, and the body.
    static func lines(_ lines: String..., body: String = "") -> MockResponse {
        .raw(Data((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8))
    }
}
