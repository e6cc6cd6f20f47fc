// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewTesting

/// Cases for connections that are kept alive, stale, or refused.
enum ConnectionCases {
    static let all = kept + stale

    private static let mayHaveArrived = NetworkError.Reason.connectionLost(.requestMayHaveArrived)

    private static let kept = [
        ConformanceCase("a connection is used again", .connections, rule: "RFC 9112 §9.3") { trial in
            let server = try trial.server()
            server.on(nil, "/", respond: .text("ok"))
            for method: HTTPMethod in [.get, .head, .delete, .get] {
                _ = try await trial.exchange(method, server.url + "/").data()
            }
            try trial.equal(server.connectionCount, 1, "the number of connections")
        },
        ConformanceCase("a request with a body uses a connection again", .connections, rule: "RFC 9112 §9.3") { trial in
            let server = try trial.server()
            server.on(nil, "/", respond: .text("ok"))
            for method: HTTPMethod in [.get, .post, .head, .put, .get] {
                let body: RequestBody = method == .post || method == .put ? .bytes(Data("x".utf8)) : .empty
                _ = try await trial.exchange(method, server.url + "/", body: body).data()
            }
            try trial.equal(server.connectionCount, 1, "the number of connections")
        },
        ConformanceCase(
            "nothing of one message is left for the next on its connection", .connections, rule: "RFC 9112 §9.3"
        ) { trial in
            let server = try trial.server()
            server.on(nil, "/", respond: .text("ok"))
            for index in 0..<3 {
                let stream = RequestBody.stream { .init(Produced([Data("s".utf8)])) }
                _ = try await trial.exchange(.post, server.url + "/", headers: ["X-Once": "1"], body: stream).data()
                _ = try await trial.exchange("PURGE", server.url + "/", headers: ["X-Purge": "\(index)"]).data()
                _ = try await trial.exchange(.get, server.url + "/").data()
            }
            for request in server.requests where request.method == .get {
                try trial.expect(request.body.isEmpty, "a GET has the body of the POST before it")
                for name: HTTPField.Name in ["X-Once", "X-Purge", .transferEncoding, .contentLength] {
                    try trial.equal(request.headers[name], nil, "\(name) of a GET")
                }
            }
        },
        ConformanceCase("a connection whose server says close is not used again", .connections, rule: "RFC 9112 §9.6") {
            trial in
            let server = try trial.server()
            server.on(.get, "/", respond: .text("ok").closing())
            for _ in 0..<3 { try await trial.expectText(trial.exchange(.get, server.url + "/"), "ok") }
            try trial.equal(server.connectionCount, 3, "the number of connections")
        },
        ConformanceCase("an error of the server leaves the connection usable", .connections, rule: "RFC 9112 §9.3") {
            trial in
            let server = try trial.server(
                answering: .status(.internalServerError), .text("gone", status: .gone), .text("ok"))
            for code in [500, 410, 200] {
                let response = try await trial.exchange(.get, server.url + "/")
                try trial.equal(response.status.code, code, "the status")
                _ = try await response.data()
            }
            try trial.equal(server.connectionCount, 1, "the number of connections")
        },
        ConformanceCase(
            "a port without a listener is unreachable", .connections, rule: "NetworkError.Reason.unreachable"
        ) { trial in
            let server = try trial.server()
            server.stop()
            try await trial.expectFailure(.unreachable) { _ = try await trial.exchange(.get, server.url + "/") }
        },
        ConformanceCase(
            "a host that does not exist is unreachable", .connections, rule: "RFC 6761 §6.4"
        ) { trial in
            try await trial.expectFailure(.unreachable) {
                _ = try await trial.exchange(.get, "http://no-such-host.invalid/")
            }
        },
    ]

    private static let stale =
        ([HTTPMethod.get, .head, .delete, .put]).map { method in
            ConformanceCase(
                "\(method) on a connection that turns out to be dead is sent again", .connections,
                rule: "RFC 9110 §9.2.2, RFC 9112 §9.3.1"
            ) { trial in
                for death in [MockResponse.Interruption.close, .reset] {
                    let server = try trial.warmServer(death)
                    try await trial.expectText(trial.exchange(.get, server.url + "/warm"), "ok")
                    let body: RequestBody = method == .put ? .bytes(Data("x".utf8)) : .empty
                    let response = try await trial.exchange(method, server.url + "/", body: body)
                    try trial.equal(response.status, .ok, "the status after a \(death)")
                    try trial.equal(server.requestCount, 3, "the number of requests with a \(death)")
                }
            }
        }
        + [
            ConformanceCase(
                "POST on a connection that turns out to be dead is not sent again", .connections,
                rule: "RFC 9110 §9.2.2"
            ) { trial in
                for death in [MockResponse.Interruption.close, .reset] {
                    for body in [RequestBody.empty, .bytes(Data("x".utf8)), .bytes(Data(count: 300_000))] {
                        try await trial.expectOnce(.post, body, dyingBy: death)
                    }
                }
            },
            ConformanceCase(
                "a stream that exists once is not sent again", .connections, rule: "RequestBody.Replay.never"
            ) { trial in
                let made = Locked(0)
                let body = RequestBody.stream(length: 1) {
                    made.withLock { $0 += 1 }
                    return .init(Produced([Data("x".utf8)]))
                }
                try await trial.expectOnce(.put, body, dyingBy: .close)
                try trial.equal(made.withLock { $0 }, 1, "how often the stream was made")
            },
            ConformanceCase(
                "the route's idempotency has precedence over the method", .connections,
                rule: "RequestOptions.isIdempotent"
            ) { trial in
                let server = try trial.warmServer(.close)
                _ = try await trial.exchange(.get, server.url + "/warm").data()
                let response = try await trial.exchange(.post, server.url + "/") { $0.isIdempotent = true }
                try await trial.expectText(response, "ok")
                try trial.equal(server.requestCount, 3, "the number of requests")
                try await trial.expectOnce(.get, .empty, dyingBy: .close) { $0.isIdempotent = false }
            },
            ConformanceCase(
                "a server that closed an idle connection costs nothing, a POST included", .connections,
                rule: "RFC 9112 §9.5"
            ) { trial in
                let server = try trial.server()
                server.on(.post, "/", respond: .text("ok").closingSilently())
                for count in 1...4 {
                    let response = try await trial.exchange(.post, server.url + "/", body: .bytes(Data("x".utf8)))
                    try await trial.expectText(response, "ok")
                    try trial.equal(server.connectionCount, count, "the number of connections")
                    // The end of the connection must reach the client before the next request.
                    try await SystemTime().sleep(for: .milliseconds(30))
                }
            },
            ConformanceCase(
                "a new connection that dies is not tried again, whatever the method", .connections,
                rule: "Transport: sends once"
            ) { trial in
                for method: HTTPMethod in [.get, .post] {
                    let server = try trial.server(answering: .closeBeforeReply, .text("second"))
                    try await trial.expectFailure(mayHaveArrived) {
                        _ = try await trial.exchange(method, server.url + "/")
                    }
                    try trial.equal(server.requestCount, 1, "the number of requests")
                }
            },
        ]
}

extension ConformanceTrial {
    /// Sends a request on a connection that breaks during the exchange. Expects that the request arrives once and
    /// fails. If the transport does not reuse the connection, it receives a response instead.
    fileprivate func expectOnce(
        _ method: HTTPMethod, _ body: RequestBody, dyingBy death: MockResponse.Interruption,
        options change: (inout RequestOptions) -> Void = { _ in }
    ) async throws {
        let server = try warmServer(death)
        let transport = try transport()
        _ = try await exchange(.get, server.url + "/warm", over: transport).data()
        do {
            let response = try await exchange(
                method, server.url + "/", body: body, over: transport, options: change)
            try await expectText(response, "ok")
            try expect(server.requests.last?.exchangeIndex == 0, "the request was sent again")
        } catch let error as NetworkError {
            try equal(error.reason, .connectionLost(.requestMayHaveArrived), "the reason")
        }
        try equal(server.requestCount, 2, "the number of requests")
    }

    /// Creates a server that responds to every request, but interrupts its first connection when the second request
    /// arrives on it.
    fileprivate func warmServer(_ death: MockResponse.Interruption) throws -> MockServer {
        let server = try server()
        server.on(nil, "/*path") {
            let isDead = $0.connectionIndex == 0 && $0.exchangeIndex == 1
            return isDead ? .text("never").interrupted(by: death, at: .beforeHead) : .text("ok")
        }
        return server
    }
}
