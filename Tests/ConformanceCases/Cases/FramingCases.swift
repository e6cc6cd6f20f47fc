// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewTesting

/// Cases for correct and incorrect declarations of the end of a body.
enum FramingCases {
    static let all = bad + broken + odd

    /// Cases with ambiguous or invalid responses. No part of such a response may be returned as if it were complete.
    private static let bad: [ConformanceCase] =
        [
            ("Content-Length below zero", .contentLength(["-5"])),
            ("Content-Length that is no number", .contentLength(["five"])),
            ("Content-Length beyond all numbers", .contentLength(["99999999999999999999999"])),
            ("two Content-Lengths that differ", .contentLength(["5", "6"])),
            ("a list of Content-Lengths that differ", .contentLength(["5, 6"])),
            ("a size of a chunk that is no number", .chunkSize("xyz")),
            ("a size of a chunk beyond all numbers", .chunkSize("fffffffffffffffff")),
            ("a size of a chunk that is too small", .chunkSize("3")),
        ].map { (what: String, framing: MockResponse.Framing) in
            fails(
                "\(what) is a bad response", .text("hello").framed(as: framing), .badResponse,
                rule: "RFC 9112 §6.3, §7.1")
        }
        + [
            ("no HTTP at all", "hello, this is HTTP/0.9\n"), ("another protocol", "SSH-2.0-OpenSSH_9.2\r\n"),
            ("a status that is no number", "HTTP/1.1 abc OK\r\n\r\n"),
            ("an unknown version", "HTTP/9.9 200 OK\r\n\r\n"),
            ("NUL in a field", "HTTP/1.1 200 OK\r\nX-Nul: a\0b\r\nContent-Length: 0\r\n\r\n"),
        ].map { what, text in
            fails(
                "a response with \(what) is a bad response", .raw(Data(text.utf8)), .badResponse,
                rule: "RFC 9112 §2.2, §4")
        }

    /// Cases with responses that end before they are complete.
    private static let broken: [ConformanceCase] =
        [
            (
                "a body that is shorter than its Content-Length",
                MockResponse.text("hello").framed(as: .contentLength(["9"]))
            ),
            ("no chunk at all", .raw(Data("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8))),
            ("chunks without the last one", .text("hello").framed(as: .unendedChunks)),
            ("no byte at all", .raw(Data())),
            ("half a status line", .raw(Data("HTTP/1.1".utf8))),
            ("a head without its end", .raw(Data("HTTP/1.1 200 OK\r\nContent-Le".utf8))),
            ("an interim answer only", .raw(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8))),
            ("half a chunk", .raw(Data("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab".utf8))),
            (
                "a last chunk without its end",
                .raw(Data("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n".utf8))
            ),
        ].map { what, response in
            fails(
                "a response of \(what) is a lost connection", response, .connectionLost(.requestMayHaveArrived),
                rule: "RFC 9112 §8")
        }

    private static let odd = [
        ConformanceCase(
            "chunks count more than a Content-Length beside them, and the connection is not used again", .framing,
            rule: "RFC 9112 §6.3, rule 3"
        ) { trial in
            let server = try trial.server(
                answering: .text("hello").framed(as: .chunked(contentLength: ["2"])), .text("next"))
            // Refusing the response is also correct; reading two bytes of it is not.
            do {
                try await trial.expectText(trial.exchange(.get, server.url + "/"), "hello")
            } catch let error as NetworkError {
                try trial.equal(error.reason, .badResponse, "the reason")
            }
            try await trial.expectText(trial.exchange(.get, server.url + "/"), "next")
            try trial.equal(server.connectionCount, 2, "the number of connections")
        },
        ConformanceCase(
            "more body than declared is not read, and is no response to the next request", .framing,
            rule: "RFC 9112 §6.3, rule 6"
        ) { trial in
            let surplus = "okHTTP/1.1 200 OK\r\nX-Evil: 1\r\nContent-Length: 0\r\n\r\n"
            let server = try trial.server()
            server.on(.get, "/", respond: .text(surplus).framed(as: .contentLength(["2"])))
            for _ in 0..<3 {
                let response = try await trial.exchange(.get, server.url + "/")
                try trial.equal(response.headers["X-Evil"], nil, "X-Evil")
                try await trial.expectText(response, "ok")
            }
            try trial.equal(server.connectionCount, 3, "the number of connections")
        },
        ConformanceCase(
            "the same Content-Length twice is one, or a bad response", .framing, rule: "RFC 9110 §8.6"
        ) { trial in
            let server = try trial.server(answering: .text("hello").framed(as: .contentLength(["5", "5"])))
            do {
                try await trial.expectText(trial.exchange(.get, server.url + "/"), "hello")
            } catch let error as NetworkError {
                try trial.equal(error.reason, .badResponse, "the reason")
            }
        },
    ]

    /// Creates a case that expects that the exchange fails with `reason`. The case reads the body at once and as a
    /// stream, because these take different paths through a transport, and both must detect the error.
    private static func fails(
        _ name: String, _ response: MockResponse, _ reason: NetworkError.Reason, rule: String
    ) -> ConformanceCase {
        ConformanceCase(name, .framing, rule: rule) { trial in
            let server = try trial.server()
            for streaming in [false, true] {
                // On a reused connection, the transport would repeat the request after an empty response.
                let transport = try trial.transport()
                server.enqueue(response, .text("good"))
                try await trial.expectFailure(reason) {
                    let response = try await trial.exchange(.get, server.url + "/", over: transport) {
                        $0.streaming = streaming
                    }
                    _ = try await response.data()
                }
                try await trial.expectText(trial.exchange(.get, server.url + "/", over: transport), "good")
            }
        }
    }
}
