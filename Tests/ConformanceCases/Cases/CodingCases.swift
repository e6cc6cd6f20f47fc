// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewTesting

/// Cases for content codings.
enum CodingCases {
    static let all = decoded + kept + broken

    private static let text = Data(String(repeating: "text to encode, ", count: 20_000).utf8)

    private static let decoders: [(String, @Sendable (Data) -> Data)] = [
        ("gzip", { Deflated.gzip($0) }), ("x-gzip", { Deflated.gzip($0) }), ("GZIP", { Deflated.gzip($0) }),
        ("deflate", { Deflated.zlib($0) }), ("deflate, gzip", { Deflated.gzip(Deflated.zlib($0)) }),
        ("gzip, gzip, gzip, gzip, gzip", { bytes in (0..<5).reduce(bytes) { coded, _ in Deflated.gzip(coded) } }),
    ]

    private static let decoded = decoders.map { coding, encode in
        ConformanceCase(
            "a body in \(coding) is given decoded, and its head no longer speaks of it", .codings, rule: "RFC 9110 §8.4"
        ) { trial in
            let server = try trial.server()
            for bytes in [text.prefix(300), text] {
                server.enqueue(
                    MockResponse(
                        headers: [.contentEncoding: coding, .contentType: "text/plain"], body: .data(encode(bytes))))
                let response = try await trial.exchange(.get, server.url + "/")
                try trial.equal(response.headers[.contentEncoding], nil, "Content-Encoding")
                try trial.equal(response.headers[.contentLength], nil, "Content-Length")
                try trial.equal(response.headers[.contentType], "text/plain", "Content-Type")
                try trial.equal(try await response.data(), Data(bytes), "the body")
            }
        }
    }

    private static let kept = [
        ConformanceCase("a raw body is given unchanged", .codings, rule: "RequestOptions.skipsContentDecoding") {
            trial in
            let bytes = Deflated.gzip(text)
            let server = try trial.server(
                answering: MockResponse(headers: [.contentEncoding: "gzip"], body: .data(bytes)))
            let response = try await trial.exchange(.get, server.url + "/") { $0.skipsContentDecoding = true }
            try trial.equal(response.headers[.contentEncoding], "gzip", "Content-Encoding")
            try trial.equal(response.headers[.contentLength], "\(bytes.count)", "Content-Length")
            try trial.equal(try await response.data(), bytes, "the body")
        },
        ConformanceCase("identity is no coding", .codings, rule: "RFC 9110 §8.4.1") { trial in
            let server = try trial.server(
                answering: .text("plain").with(headers: [.contentEncoding: "identity"]))
            try await trial.expectText(trial.exchange(.get, server.url + "/"), "plain")
        },
        ConformanceCase(
            "an unknown coding is delivered unchanged", .codings, rule: "RFC 9110 §8.4"
        ) { trial in
            for coding in ["rot13", "gzip, rot13", "rot13, gzip"] {
                let server = try trial.server(
                    answering: MockResponse(headers: [.contentEncoding: coding], body: .data(Data("grkg".utf8))))
                let response = try await trial.exchange(.get, server.url + "/")
                try trial.equal(response.headers[.contentEncoding], coding, "Content-Encoding")
                try trial.equal(response.headers[.contentLength], "4", "Content-Length")
                try trial.equal(try await response.data(), Data("grkg".utf8), "the body")
            }
        },
        ConformanceCase("no body needs no coding", .codings, rule: "RFC 9110 §8.4") { trial in
            let server = try trial.server(
                answering: MockResponse(headers: [.contentEncoding: "gzip"]),
                .status(.noContent, headers: [.contentEncoding: "gzip"]))
            for _ in 0..<2 {
                try trial.equal(try await trial.exchange(.get, server.url + "/").data(), Data(), "the body")
            }
        },
    ]

    private static let broken = [
        ("that is none", "gzip", Data("this is no gzip".utf8)),
        ("with a wrong checksum", "gzip", Deflated.gzip(text, checksum: 0)),
        ("with a bit turned", "gzip", Deflated.gzip(text, turning: 5)),
        ("that is cut off", "gzip", Deflated.gzip(text).dropLast(9)),
        ("that lacks a part of its checksum", "gzip", Deflated.gzip(text).dropLast(1)),
        (
            "stacked six times", "gzip, gzip, gzip, gzip, gzip, gzip",
            (0..<6).reduce(text) { coded, _ in Deflated.gzip(coded) }
        ),
    ].map { what, coding, bytes in
        ConformanceCase("a coding \(what) is a bad response", .codings, rule: "RFC 9110 §8.4") { trial in
            let server = try trial.server(
                answering: MockResponse(headers: [.contentEncoding: coding], body: .data(bytes)), .text("next"))
            try await trial.expectFailure(.badResponse) {
                _ = try await trial.exchange(.get, server.url + "/").data()
            }
            try await trial.expectText(trial.exchange(.get, server.url + "/"), "next")
        }
    }
}
