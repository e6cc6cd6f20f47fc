// SPDX-License-Identifier: MIT

import CurlewCaching
import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewTesting

/// The setup of a cache case: a cache between a caller and a scripted server, with a clock that only the case advances.
final class CacheScene: Sendable {
    let clock = ManualClock(date: Date(timeIntervalSince1970: 1_700_000_000))
    let store: any HTTPCache.Store
    let cache: CacheInterceptor
    let server = CacheServer()
    private let trial: CacheTrial

    init(_ trial: CacheTrial, _ rules: HTTPCache.Options) async throws {
        self.trial = trial
        store = try await trial.store()
        cache = CacheInterceptor(store: store, rules: rules)
    }

    /// A response that the caller received, with its body read.
    struct Seen: Sendable {
        let response: HTTPResponse
        let text: String

        var status: Int { response.status.code }
        var headers: HTTPHeaders { response.headers }
        var served: HTTPCache.Status.Served { response.served }
    }

    /// Returns the date `offset` seconds from now, in the format of a field value.
    func date(_ offset: Int = 0) -> String {
        HTTPDate(clock.date.addingTimeInterval(Double(offset))).description
    }

    func wait(_ seconds: Int) { clock.advance(by: .seconds(seconds)) }

    /// Enqueues the response to the next request that reaches the server. Adds `Date` and `Content-Length` unless
    /// `headers` contains them; the value "none" omits them. Preparing the response takes `seconds` on the clock.
    func answer(
        _ status: HTTPStatus = .ok, _ headers: HTTPHeaders = [:], _ body: String = "body", takes seconds: Int = 0
    ) {
        server.enqueue { [clock] _ in
            clock.advance(by: .seconds(seconds))
            var all: HTTPHeaders = [.date: HTTPDate(clock.date).description]
            if status != .notModified { all[.contentLength] = "\(body.utf8.count)" }
            all = all.merging(headers, replacing: true)
            if headers[.date] == "none" { all.remove(.date) }
            if headers[.contentLength] == "none" { all.remove(.contentLength) }
            let bytes = status == .notModified ? Data() : Data(body.utf8)
            return HTTPResponse(status: status, headers: all, body: ResponseBody(bytes))
        }
    }

    /// Enqueues a failure of the next request that reaches the server. By default, the server is unreachable.
    func fail(_ reason: NetworkError.Reason = .unreachable) {
        server.enqueue { _ in throw NetworkError(reason) }
    }

    /// Sends one request through the cache, and reads the response body to its end.
    @discardableResult
    func send(
        _ method: HTTPMethod = .get, _ path: String = "/", _ headers: HTTPHeaders = [:], body: RequestBody = .empty,
        user: String? = nil, options change: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Seen {
        var options = RequestOptions()
        change(&options)
        options[CacheUserKey.self] = user
        let request = try HTTPRequest(method, url: "https://api.example" + path, headers: headers, body: body)
        let exchanger = Pipeline.Runner(pipeline: [cache, CacheUser()], transport: server)
        let response = try await exchanger.exchange(request, in: ExchangeContext(options: options, time: clock))
        return Seen(response: response, text: String(decoding: try await response.body.collect(), as: UTF8.self))
    }

    /// Enqueues a response with these fields and this body, and sends a request that receives it.
    func first(
        _ headers: HTTPHeaders, _ body: String = "first", status: HTTPStatus = .ok, path: String = "/",
        request: HTTPHeaders = [:]
    ) async throws {
        answer(status, headers, body)
        try await send(.get, path, request)
    }

    /// Sends a request to which the server would respond with the body "asked". Returns whether the request reached the
    /// server, and the response that the caller received.
    func again(
        _ headers: HTTPHeaders = [:], _ path: String = "/", options change: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> (asked: Bool, seen: Seen) {
        let before = server.requests.count
        answer(.ok, [.cacheControl: "no-store"], "asked")
        let seen = try await send(.get, path, headers, options: change)
        let asked = server.requests.count > before
        if !asked { server.forget() }
        return (asked, seen)
    }

    /// Expects that the cache serves a request from the store, without a request to the server.
    func expectReuse(
        _ headers: HTTPHeaders = [:], _ path: String = "/", body: String = "first"
    ) async throws {
        let (asked, seen) = try await again(headers, path)
        try trial.expect(!asked, "the server was asked (\(seen.response.cacheStatus))")
        try trial.equal(seen.text, body, "the body")
    }

    /// Expects that a request reaches the server, with or without conditions, and that the caller receives the server's
    /// response.
    func expectAsking(_ headers: HTTPHeaders = [:], _ path: String = "/") async throws {
        let (asked, seen) = try await again(headers, path)
        try trial.expect(asked, "the server was not asked (\(seen.response.cacheStatus))")
        try trial.equal(seen.text, "asked", "the body")
    }

    func expect(_ condition: Bool, _ message: @autoclosure () -> String) throws {
        try trial.expect(condition, message())
    }

    func equal<Value: Equatable>(
        _ found: Value, _ expected: Value, _ what: @autoclosure () -> String
    ) throws {
        try trial.equal(found, expected, what())
    }

    /// Returns the last request that reached the server. Throws if there is none.
    func lastRequest() throws -> HTTPRequest {
        guard let last = server.requests.last else { throw ConformanceFailure("the server was never asked") }
        return last
    }
}

extension CacheCase {
    /// Creates a case for a requirement of a cache.
    static func requirement(
        _ rule: String, _ name: String, rules: HTTPCache.Options = .standard,
        body: @escaping @Sendable (CacheScene) async throws -> Void
    ) -> CacheCase {
        CacheCase(name, rule: rule) { trial in try await body(CacheScene(trial, rules)) }
    }

    /// Creates a case that stores a response with these fields, and requires that the response is, or is not, reused
    /// after this number of seconds.
    static func reuse(
        _ rule: String, _ name: String, _ response: HTTPHeaders, status: HTTPStatus = .ok, first: HTTPHeaders = [:],
        second: HTTPHeaders = [:], after seconds: Int = 1, _ isReused: Bool
    ) -> CacheCase {
        requirement(rule, name) { scene in
            try await scene.first(response, status: status, request: first)
            scene.wait(seconds)
            if isReused { try await scene.expectReuse(second) } else { try await scene.expectAsking(second) }
        }
    }
}

/// A transport that stands for a server: it returns the enqueued responses in order, and records the requests.
final class CacheServer: Transport {
    private struct State: Sendable {
        var answers: [@Sendable (HTTPRequest) throws -> HTTPResponse] = []
        var requests: [HTTPRequest] = []
    }

    private let state = Locked(State())

    var requests: [HTTPRequest] { state.withLock { $0.requests } }

    func enqueue(_ answer: @escaping @Sendable (HTTPRequest) throws -> HTTPResponse) {
        state.withLock { $0.answers.append(answer) }
    }

    /// Removes the response that was enqueued last.
    func forget() { state.withLock { _ = $0.answers.popLast() } }

    func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

    func send(_ request: HTTPRequest, in context: ExchangeContext) async throws -> HTTPResponse {
        let answer = state.withLock { state in
            state.requests.append(request)
            return state.answers.isEmpty ? nil : state.answers.removeFirst()
        }
        guard let answer else { throw ConformanceFailure("the server was asked once too often: \(request)") }
        return try answer(request)
    }
}

/// The option that specifies the user of a request. It is an option rather than a field, so that the cache can learn
/// the principal only from the inner interceptor.
private enum CacheUserKey: RequestOptions.Key {
    static let defaultValue: String? = nil
}

/// An interceptor that attaches a credential for the user of a request, and returns the user as the principal.
private struct CacheUser: Interceptor {
    let traits = InterceptorTraits(placement: .authentication) { _, context in
        context.options[CacheUserKey.self].map { .known($0, isLasting: true) } ?? .anonymous
    }

    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var request = request
        request.headers[.authorization] = next.context.options[CacheUserKey.self].map { "Bearer " + $0 }
        return try await next(request)
    }
}
