// SPDX-License-Identifier: MIT

import CurlewCookies
import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewTesting

/// Cases for behaviour that belongs to interceptors. If a transport implemented it too, it would be applied twice, or
/// against the configuration of the app.
enum PolicyCases {
    static let all =
        [301, 302, 303, 307, 308].map { code in
            ConformanceCase(
                "a redirect with \(code) is the response, and is not followed", .policies, .message,
                rule: "Transport: follows no redirect"
            ) { trial in
                let server = try trial.server()
                let redirect = MockResponse.text("moved", status: HTTPStatus(code)).with(headers: [.location: "/next"])
                server.on(nil, "/", respond: redirect)
                server.on(nil, "/next", respond: .text("followed"))
                for body in [RequestBody.empty, .bytes(Data("x".utf8))] {
                    let response = try await trial.exchange(
                        body.length == 0 ? .get : .post, server.url + "/", body: body)
                    try trial.equal(response.status.code, code, "the status")
                    try trial.equal(response.headers[.location], "/next", "Location")
                    try await trial.expectText(response, "moved")
                }
                try trial.equal(server.requests.map(\.path), ["/", "/"], "the paths that were asked for")
            }
        }
        + [("Basic", "Basic realm=\"x\""), ("Digest", "Digest realm=\"x\", nonce=\"1\""), ("Bearer", "Bearer")].map {
            name, challenge in
            ConformanceCase(
                "a challenge for \(name) is the response, and is not met", .policies, .message,
                rule: "Transport: answers no challenge"
            ) { trial in
                let server = try trial.server()
                server.on(
                    .get, "/", respond: .text("no", status: .unauthorized).with(headers: [.wwwAuthenticate: challenge]))
                let response = try await trial.exchange(.get, server.url + "/")
                try trial.equal(response.status, .unauthorized, "the status")
                try trial.equal(response.headers[.wwwAuthenticate], challenge, "WWW-Authenticate")
                try await trial.expectText(response, "no")
                try trial.equal(try trial.only(server).headers[.authorization], nil, "Authorization")
            }
        }
        + [
            ConformanceCase(
                "cookies are neither kept nor sent", .policies, .message, rule: "Transport: keeps no cookie"
            ) {
                trial in
                let server = try trial.server()
                server.on(.get, "/", respond: .text("ok").with(headers: ["Set-Cookie": "a=1; Path=/"]))
                for _ in 0..<2 {
                    let response = try await trial.exchange(.get, server.url + "/")
                    try trial.equal(response.headers[.setCookie], "a=1; Path=/", "Set-Cookie")
                    _ = try await response.data()
                }
                try trial.equal(server.requests.map { $0.headers[.cookie] }, [nil, nil], "Cookie")
            },
            ConformanceCase(
                "a caller's own Cookie is sent as it is", .policies, .message, rule: "Transport: keeps no cookie"
            ) {
                trial in
                let server = try trial.server()
                server.on(.get, "/", respond: .text("ok").with(headers: ["Set-Cookie": "a=1; Path=/"]))
                for _ in 0..<2 {
                    _ = try await trial.exchange(.get, server.url + "/", headers: [.cookie: "b=2"]).data()
                }
                try trial.equal(server.requests.map { $0.headers[.cookie] }, ["b=2", "b=2"], "Cookie")
            },
            ConformanceCase("nothing is answered from a cache", .policies, .message, rule: "Transport: keeps no cache")
            {
                trial in
                let server = try trial.server()
                server.on(
                    .get, "/", respond: .text("ok").with(headers: [.cacheControl: "max-age=3600", .eTag: "\"1\""]))
                for _ in 0..<3 { try await trial.expectText(trial.exchange(.get, server.url + "/"), "ok") }
                try trial.equal(server.requestCount, 3, "the number of requests")
                try trial.equal(server.requests.map { $0.headers[.ifNoneMatch] }, [nil, nil, nil], "If-None-Match")
            },
            ConformanceCase(
                "503 with Retry-After is the response, once", .policies, .message, rule: "Transport: retries nothing"
            ) {
                trial in
                let server = try trial.server()
                server.on(.get, "/", respond: .status(.serviceUnavailable, headers: [.retryAfter: "0"]))
                let response = try await trial.exchange(.get, server.url + "/")
                try trial.equal(response.status, .serviceUnavailable, "the status")
                try trial.equal(server.requestCount, 1, "the number of requests")
            },
            ConformanceCase(
                "417 is the response, and the request is not sent without its expectation", .policies,
                rule: "Transport: retries nothing"
            ) { trial in
                let server = try trial.server()
                server.on(nil, "/", respond: .text("no", status: 417))
                let response = try await trial.exchange(
                    .put, server.url + "/", headers: ["Expect": "100-continue"], body: .bytes(Data(count: 10)))
                try trial.equal(response.status, 417, "the status")
                try trial.equal(server.requestCount, 1, "the number of requests")
            },
        ]
}
