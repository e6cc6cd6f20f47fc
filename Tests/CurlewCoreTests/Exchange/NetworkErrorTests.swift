// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore
@testable import CurlewResilience

@Suite(.timeLimit(.minutes(1)))
struct NetworkErrorTests {
    struct Own: Error, Equatable {}

    @Test("Any error becomes a NetworkError, and a NetworkError stays as it is")
    func mapping() throws {
        #expect(NetworkError(CancellationError()).isCancelled)
        #expect(NetworkError(NetworkError(.unreachable, detail: "x") as any Error).detail == "x")
        let own = NetworkError(Own())
        #expect(own.reason == .interceptor)
        #expect(own.underlying as? Own == Own())
        #expect(NetworkError(NetworkError(own)).underlying as? Own == Own(), "mapping twice changes nothing")
        let file = #expect(throws: (any Error).self) {
            try Data(contentsOf: URL(filePath: "/nowhere/\(UUID())"), options: [])
        }
        #expect(NetworkError(try #require(file)).reason == .storage)
    }

    @Test(
        "Decoding errors say what was expected and where",
        arguments: [
            (#"{"items":[{"id":1},{"id":"x"}]}"#, "Expected Int at $.items[1].id."),
            (#"{"items":[{"id":null}]}"#, "Expected Int at $.items[0].id, found null."),
            (#"{"items":[{}]}"#, "No member \"id\" at $.items[0]."),
            (#"{"items":[{"#, "Unexpected document at $."),
            (#"{"items":5}"#, "at $.items."),
        ])
    func decoding(json: String, expected: String) throws {
        struct Item: Decodable { let id: Int }
        struct Page: Decodable { let items: [Item] }
        let cause = #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(Page.self, from: Data(json.utf8))
        }
        let error = NetworkError(try #require(cause))
        #expect(error.reason == .decoding)
        #expect(error.detail.contains(expected), "\(error.detail)")
        #expect(error.description.contains("next"))
    }

    @Test("Encoding errors say where")
    func encoding() throws {
        let cause = #expect(throws: EncodingError.self) { try JSONEncoder().encode(["a": [Double.nan]]) }
        let error = NetworkError(try #require(cause))
        #expect(error.reason == .encoding)
        #expect(error.detail.contains("$.a[0]"), "\(error.detail)")
    }

    @Test("Fields can be changed, and copies keep their own")
    func copies() {
        let first = NetworkError(.unreachable, detail: "a")
        var second = first
        second.detail = "b"
        second.reason = .badResponse
        second.routeName = "R"
        #expect(first.detail == "a" && first.reason == .unreachable && first.routeName == nil)
        #expect(second.detail == "b" && second.reason == .badResponse && second.routeName == "R")
        #expect(MemoryLayout<NetworkError>.size == MemoryLayout<Int>.size)
    }

    @Test("Status predicates match the classes of statuses")
    func statuses() {
        func error(_ code: Int) -> NetworkError { NetworkError(statusCode: code) }
        #expect(error(401).isUnauthorized && !error(403).isUnauthorized && error(403).isForbidden)
        #expect(NetworkError(.notAuthenticated(.missingCredential)).isUnauthorized)
        #expect(error(404).isNotFound && error(410).isNotFound && !error(400).isNotFound)
        #expect(error(429).isRateLimited && !error(503).isRateLimited)
        #expect(error(400).isClientError && error(499).isClientError && !error(500).isClientError)
        #expect(error(500).isServerError && !error(499).isServerError && !NetworkError(.unreachable).isServerError)
        #expect(error(404).statusCode == 404 && NetworkError(.unreachable).statusCode == nil)
        #expect(error(408).isTimeout && error(504).isTimeout && NetworkError(.timedOut(.idle)).isTimeout)
        #expect(!error(500).isTimeout)
    }

    @Test("Offline means that this machine has no network, not that a server is away")
    func offline() {
        func unreachable(_ number: Int32, code: Int = 7) -> NetworkError {
            let failure = NetworkError.TransportFailure(engine: "test", code: code, message: "", systemError: number)
            return NetworkError(.unreachable, underlying: failure)
        }
        #expect(unreachable(ENETUNREACH).isOffline)
        #expect(unreachable(ENETDOWN).isOffline)
        #expect(!unreachable(ECONNREFUSED).isOffline)
        #expect(!NetworkError(.unreachable).isOffline)
        #expect(unreachable(ENETUNREACH).message.contains("no network"))
    }

    @Test(
        "The wait a server asks for counts from its response and is at most a day",
        arguments: [
            ("120", .seconds(120)), ("0", .zero), ("Thu, 01 Jan 1970 00:01:40 GMT", .seconds(40)),
            ("Thu, 01 Jan 1970 00:00:10 GMT", .zero), ("Fri, 31 Dec 2999 23:59:59 GMT", .seconds(86_400)),
            ("4000000000", .seconds(86_400)), ("soon", nil), ("-5", nil), ("", nil),
        ] as [(String, Duration?)])
    func retryAfter(value: String, expected: Duration?) {
        let answer = NetworkError.Response(
            status: 503, headers: [.retryAfter: value], date: Date(timeIntervalSince1970: 60))
        #expect(NetworkError(.status(503), response: answer).retryAfter == expected)
    }

    @Test(
        "An empty quota says when to come back, for at most a day, where the status is about that",
        arguments: [
            (403, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "90"], .seconds(90), true),
            (403, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1000000060"], .seconds(60), true),
            (429, ["X-RateLimit-Reset": "1000000060"], .seconds(60), true),
            (429, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "9999999999"], .seconds(86_400), true),
            (403, ["X-RateLimit-Remaining": "5", "X-RateLimit-Reset": "90"], nil, false),
            (403, ["Retry-After": "9", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "90"], .seconds(9), true),
            (404, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "90"], nil, false), (403, [:], nil, false),
        ] as [(Int, [String: String], Duration?, Bool)])
    func quota(code: Int, fields: [String: String], wait: Duration?, isLimited: Bool) {
        var headers = HTTPHeaders()
        for (name, value) in fields { headers[HTTPField.Name(name)] = value }
        let status = HTTPStatus(code)
        let error = NetworkError(
            .status(status),
            response: NetworkError.Response(
                status: status, headers: headers, date: Date(timeIntervalSince1970: 1_000_000_000)))
        #expect(error.retryAfter == wait && error.isRateLimited == isLimited)
    }

    @Test("A problem document is read if the server calls it one")
    func problem() {
        let body = Data(#"{"title":"Out of stock","status":409,"extra":1}"#.utf8)
        let error = NetworkError(statusCode: 409, headers: [.contentType: "application/problem+json"], body: body)
        #expect(error.problem?.title == "Out of stock")
        #expect(NetworkError(statusCode: 409, headers: [.contentType: "application/json"], body: body).problem == nil)
    }

    @Test("The server's own error model is read from the body, if it is whole and of that shape")
    func model() {
        struct Failure: Decodable { let reason: String }
        struct Other: Decodable { let absent: String }
        let body = Data(#"{"reason":"busy"}"#.utf8)
        let error = NetworkError(statusCode: 503, body: body)
        #expect(error.body(as: Failure.self)?.reason == "busy")
        #expect(error.body(as: Other.self) == nil)
        let cut = NetworkError(
            .status(503), response: NetworkError.Response(status: 503, body: body, isTruncated: true))
        #expect(cut.body(as: Failure.self) == nil)
        #expect(NetworkError(.unreachable).body(as: Failure.self) == nil)
    }
}
