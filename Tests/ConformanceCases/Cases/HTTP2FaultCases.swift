// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewTesting

/// Cases for HTTP/2 servers that refuse streams, close connections, reset streams, and send invalid frames.
enum HTTP2FaultCases {
    static let all =
        replays + breaks + early + [
            hostile("a lost stream leaves its connection to the others", rule: "RFC 9113 §5.4.2") {
                trial, transport, origin in
                _ = try await trial.exchange(.get, origin + "/ok", over: transport).data()
                try await trial.expectFailure(.connectionLost(.requestMayHaveArrived)) {
                    _ = try await trial.exchange(.get, origin + "/break", over: transport).data()
                }
                let response = try await trial.exchange(.get, origin + "/ok", over: transport)
                try await trial.expectText(response, "2")
            },
            hostile("an interim response is passed over", rule: "RFC 9113 §8.1") { trial, transport, origin in
                let response = try await trial.exchange(.get, origin + "/interim", over: transport)
                try trial.equal(response.status, .ok, "the status")
                try trial.equal(response.headers[.link], nil, "Link")
                try await trial.expectText(response, "1")
            },
            hostile("trailers end the body and change nothing in the head", rule: "RFC 9113 §8.1") {
                trial, transport, origin in
                let response = try await trial.exchange(.get, origin + "/trailers", over: transport)
                try trial.equal(response.headers["X-Sum"], nil, "X-Sum in the head")
                try await trial.expectText(response, "1")
            },
            hostile("the trailers of a body are there when it has been read", rule: "RFC 9113 §8.1") {
                trial, transport, origin in
                let response = try await trial.exchange(.get, origin + "/trailing", over: transport)
                try await trial.expectText(response, "1")
                try trial.equal(response.body.trailers["X-Sum"], "6", "X-Sum behind the body")
            },
            hostile("a silent stream runs into the limit for the head", rule: "Timeouts.firstByte") {
                trial, transport, origin in
                var timeouts = Timeouts.none
                timeouts.firstByte = .milliseconds(200)
                _ = try await trial.exchange(.get, origin + "/ok", over: transport).data()
                try await trial.expectTimeout(.firstByte, after: .milliseconds(200)) {
                    _ = try await trial.exchange(.get, origin + "/silent", timeouts: timeouts, over: transport)
                }
                try await trial.expectText(trial.exchange(.get, origin + "/ok", over: transport), "2")
            },
        ]

    private static func hostile(
        _ name: String, rule: String,
        body: @escaping @Sendable (ConformanceTrial, any Transport, String) async throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(name + ", over HTTP/2", .http2, needs: [.hostileHTTP2, .authority], rule: rule) { trial in
            // The server counts the requests for each path. Each run uses a new path, so that its first request is
            // number 1.
            let origin = try trial.address(.hostileHTTP2)
            try await body(trial, trial.trusting(), origin + "/\(UUID().uuidString)")
        }
    }

    private static let replays =
        [
            hostile("a GET whose stream was refused is sent again", rule: "RFC 9113 §8.7") { trial, transport, origin in
                let response = try await trial.exchange(.get, origin + "/refuse", over: transport)
                try trial.equal(response.version, .http2, "the version")
                try await trial.expectText(response, "2")
            }
        ]
        + ["refuse", "goaway"].map { kind in
            hostile(
                "a POST that the server did not take (\(kind)) is not sent again by the transport",
                rule: "RFC 9113 §6.8, §8.7"
            ) { trial, transport, origin in
                for body in [RequestBody.empty, .bytes(Data(count: 10))] {
                    let url = origin + "-\(body.length ?? 0)/\(kind)"
                    let error = try await trial.expectFailure(
                        .connectionLost(.requestNotSent), .connectionLost(.requestMayHaveArrived)
                    ) {
                        _ = try await trial.exchange(.post, url, body: body, over: transport)
                    }
                    try trial.expect(error.isRetryable, "the error cannot be retried: \(error)")
                    try await trial.expectText(trial.exchange(.get, url, over: transport), "2")
                }
            }
        }

    private static let early = [
        ("a response before the end of an upload is given to the caller", "early"),
        ("a response that stops an upload is given to the caller", "stop"),
    ].map { name, kind in
        hostile(name, rule: "RFC 9113 §8.1") { trial, transport, origin in
            // The stream has a length, because transports may not use HTTP/2 for streams of unknown length.
            let body = RequestBody.stream(length: 1_000_000) { .init(Produced(Data(count: 1_000_000), by: 10_000)) }
            let response = try await trial.exchange(.post, origin + "/\(kind)", body: body, over: transport)
            try trial.equal(response.status, .contentTooLarge, "the status")
            try await trial.expectText(response, "1")
        }
    }

    /// Cases in which the server ends a stream or a connection prematurely, or sends invalid frames: the exchange
    /// fails, and the next one receives its response.
    private static let breaks = [
        ("breaks its stream off", "break"), ("ends its connection inside a body", "vanish"),
        ("sends bytes that are no frames", "garbage"), ("sends a frame that is too large", "oversize"),
        ("sends a head without a status", "nostatus"), ("sends less than its content-length says", "short"),
        ("sends more than its content-length says", "surplus"), ("sends data before the head", "headless"),
    ].map { what, kind in
        hostile("a server that \(what) fails the call and no other", rule: "RFC 9113 §4.2, §5.4, §8.1.1") {
            trial, transport, origin in
            try await trial.expectFailure(.badResponse, .connectionLost(.requestMayHaveArrived)) {
                _ = try await trial.exchange(.post, origin + "/\(kind)", body: .bytes(Data("x".utf8)), over: transport)
                    .data()
            }
            try await trial.expectText(trial.exchange(.get, origin + "/\(kind)", over: transport), "2")
        }
    }
}
