// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewTesting

/// Cases for the limits on what a server may send.
enum LimitCases {
    static let all = bodies + heads

    private static let bodies =
        [100, 200_000].flatMap { size in
            [false, true].map { chunked in
                ConformanceCase(
                    "a body of \(size) bytes \(chunked ? "in chunks" : "with its length") over the limit ends there",
                    .limits,
                    .message, rule: "Limits.responseBody"
                ) { trial in
                    let server = try trial.server(answering: .generated(bytes: size, chunked: chunked), .text("next"))
                    try await trial.expectFailure(.limitExceeded(.responseBody)) {
                        let limits = Limits(responseBody: Int64(size - 1))
                        _ = try await trial.exchange(.get, server.url + "/", limits: limits).data()
                    }
                    try await trial.expectText(trial.exchange(.get, server.url + "/"), "next")
                }
            }
        }
        + [100, 200_000].map { size in
            ConformanceCase(
                "a body of \(size) bytes at the limit passes", .limits, .message, rule: "Limits.responseBody"
            ) {
                trial in
                let server = try trial.server(answering: .generated(bytes: size))
                let limits = Limits(responseBody: Int64(size))
                let response = try await trial.exchange(.get, server.url + "/", limits: limits)
                try trial.equal(try await response.data().count, size, "the number of bytes")
            }
        }
        + [
            ConformanceCase(
                "a small body that expands without end stops at the limit, which counts decoded bytes", .limits,
                rule: "Limits.responseBody"
            ) { trial in
                let bomb = Deflated.bomb(of: 50_000_000)
                let server = try trial.server()
                for streaming in [false, true] {
                    server.enqueue(MockResponse(headers: [.contentEncoding: "gzip"], body: .data(bomb)))
                    let received = Locked(0)
                    try await trial.expectFailure(.limitExceeded(.responseBody)) {
                        let limits = Limits(responseBody: 1_000_000)
                        let response = try await trial.exchange(.get, server.url + "/", limits: limits) {
                            $0.streaming = streaming
                        }
                        for try await chunk in response.body { received.withLock { $0 += chunk.count } }
                    }
                    try trial.expect(received.withLock { $0 } <= 1_000_000, "more was given than the limit")
                }
            }
        ]

    private static let many = HTTPHeaders(
        (0..<60).map { HTTPField(name: .init("X-\($0)"), value: String(repeating: "v", count: 100)) })

    private static let heads = [
        ("more fields than the limit", MockResponse.status(.ok, headers: many), Limits(headerCount: 50)),
        ("more bytes in its fields than the limit", .status(.ok, headers: many), Limits(headerBytes: 4096)),
        (
            "a field that is longer than the limit",
            .status(.ok, headers: ["X": String(repeating: "v", count: 150_000)]), Limits(headerBytes: 4096)
        ),
        ("more trailers than the limit", .chunks(["a"]).with(trailers: many), Limits(headerCount: 50)),
        (
            "an interim response over the limit", .text("x").after(.earlyHints, headers: many), Limits(headerCount: 50)
        ),
    ].map { what, response, limits in
        ConformanceCase("a response with \(what) ends there", .limits, rule: "Limits.headerBytes, Limits.headerCount") {
            trial in
            let server = try trial.server(answering: response, .text("next"))
            try await trial.expectFailure(.limitExceeded(.responseHeaders)) {
                _ = try await trial.exchange(.get, server.url + "/", limits: limits).data()
            }
            try await trial.expectText(trial.exchange(.get, server.url + "/"), "next")
        }
    }
}
