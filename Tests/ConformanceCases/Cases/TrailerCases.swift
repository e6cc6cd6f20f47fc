// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewTesting

/// Cases for the trailer fields of requests and responses.
enum TrailerCases {
    static let all =
        [false, true].map { isLarge in
            let size = isLarge ? "a long body" : "a body"
            return ConformanceCase(
                "the trailers of \(size) are there when it has been read", .responseHeads, rule: "RFC 9110 §6.5"
            ) { trial in
                let server = try trial.server()
                let body = isLarge ? MockResponse.generated(bytes: 2_000_000, chunked: true) : .chunks(["one", "two"])
                server.on(.get, "/", respond: body.with(trailers: ["X-Sum": "6"]))
                for streaming in [false, true] {
                    let response = try await trial.exchange(.get, server.url + "/") { $0.streaming = streaming }
                    try trial.equal(try await response.data().count, isLarge ? 2_000_000 : 6, "the number of bytes")
                    try trial.equal(response.body.trailers["X-Sum"], "6", "X-Sum behind the body")
                }
            }
        } + [
            ConformanceCase(
                "trailers of a request follow its chunks, announced in its head", .requests, rule: "RFC 9110 §6.6.2"
            ) { trial in
                let server = try trial.server()
                server.on(.post, "/", respond: .status(.ok))
                let body = RequestBody.stream { .init(Produced([Data("one".utf8), Data("two".utf8)])) }
                    .trailing("X-Sum") { ["X-Sum": "6"] }
                _ = try await trial.exchange(.post, server.url + "/", body: body)
                let request = try trial.only(server)
                try trial.equal(request.headers["Trailer"], "X-Sum", "Trailer")
                try trial.equal(request.trailers["X-Sum"], "6", "X-Sum behind the body")
                try trial.equal(request.body, Data("onetwo".utf8), "the body")
            },
            ConformanceCase(
                "a trailer of a request that belongs into the head is refused", .requests, rule: "RFC 9110 §6.5.1"
            ) { trial in
                let server = try trial.server()
                let body = RequestBody.stream { .init(Produced([Data("one".utf8)])) }
                    .trailing("Content-Type") { ["Content-Type": "a/b"] }
                try await trial.expectFailure(.invalidRequest) {
                    _ = try await trial.exchange(.post, server.url + "/", body: body)
                }
                try trial.equal(server.requestCount, 0, "the number of requests")
            },
        ]
}
