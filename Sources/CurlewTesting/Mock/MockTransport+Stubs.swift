// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewHTTP

/// Stubs for calls of an endpoint type or a route type. Each closure receives the endpoint or route that was sent.
extension MockTransport {
    /// Responds to calls of this type with status 200 and a value that the client's primary codec encodes. A `String`
    /// or `Data` is sent unchanged, as JSON if it begins with `{` or `[`. A nil value becomes status 204.
    ///
    /// - `delay`: the delay before the response, on the clock of the call. Default none.
    public func on<Sent: Route, Answer: Encodable & Sendable>(
        _ type: Sent.Type, delay: Duration = .zero, _ answer: @escaping @Sendable (Sent) async throws -> Answer
    ) {
        add(type, delay) { sent, codecs in try StubResponse.response(for: try await answer(sent), using: codecs) }
    }

    /// Responds to calls of this type with status 200 and a value that is not `Encodable`, which the call returns
    /// without decoding it. For `Void`, the status is 204. An `Encodable` value is encoded instead.
    @_disfavoredOverload
    public func on<Sent: Endpoint>(
        _ type: Sent.Type, delay: Duration = .zero, _ answer: @escaping @Sendable (Sent) async throws -> Sent.Response
    ) {
        add(type, delay) { sent, _ in
            let value = try await answer(sent)
            return value is Void ? .status(.noContent) : HTTPResponse(body: ResponseBody(value: value))
        }
    }

    /// Responds to calls of this type with the response that `answer` returns. An error of `answer` fails the call.
    public func on<Sent: Route>(
        _ type: Sent.Type, delay: Duration = .zero, _ answer: @escaping @Sendable (Sent) async throws -> HTTPResponse
    ) {
        add(type, delay) { sent, _ in try await answer(sent) }
    }

    /// Responds to calls of this type with `answer`, evaluated for each call: `mock.on(Logout.self, .status(204))`.
    public func on<Sent: Route>(
        _ type: Sent.Type, delay: Duration = .zero,
        _ answer: @autoclosure @escaping @Sendable () throws -> HTTPResponse
    ) {
        add(type, delay) { _, _ in try answer() }
    }

    private func add<Sent: Route>(
        _ type: Sent.Type, _ delay: Duration,
        _ answer: @escaping @Sendable (Sent, Codecs) async throws -> HTTPResponse
    ) {
        let stub = MockStub(delay: delay) { call in
            guard let sent = call.endpoint(as: type) else { throw NetworkError(.refused(by: .mock)) }
            return try await answer(sent, call.context.codecs)
        }
        let typed = MockTable.Typed(name: "\(type)", accepts: { $0.endpoint(as: type) != nil }, stub: stub)
        change { $0.typed.append(typed) }
    }
}

/// Stubs for a method and a path. The path is that of a `RoutePattern`, and includes the path of the base URL.
extension MockTransport {
    /// Responds to requests with this method and path with status 200 and a value that the client's primary codec
    /// encodes. A `String` or `Data` is sent unchanged, as JSON if it begins with `{` or `[`. Nil becomes status 204.
    ///
    /// - `method`: nil for any method.
    /// - `delay`: the delay before the response, on the clock of the call. Default none.
    public func on<Answer: Encodable & Sendable>(
        _ method: HTTPMethod?, _ path: String, delay: Duration = .zero,
        _ answer: @escaping @Sendable (RecordedRequest) async throws -> Answer
    ) {
        add(method, path, delay) { try StubResponse.response(for: try await answer($0), using: $0.context.codecs) }
    }

    /// Responds to requests with this method and path with the response of `answer`, whose error fails the call.
    public func on(
        _ method: HTTPMethod?, _ path: String, delay: Duration = .zero,
        _ answer: @escaping @Sendable (RecordedRequest) async throws -> HTTPResponse
    ) {
        add(method, path, delay, answer)
    }

    /// Responds to requests with this method and path with `answer`, which is evaluated for each request:
    /// `mock.on(.get, "/health", .status(200))`.
    public func on(
        _ method: HTTPMethod?, _ path: String, delay: Duration = .zero,
        _ answer: @autoclosure @escaping @Sendable () throws -> HTTPResponse
    ) {
        add(method, path, delay) { _ in try answer() }
    }

    /// Responds to the requests that no other stub matches. The last `onAny` replaces earlier ones.
    public func onAny(
        delay: Duration = .zero, _ answer: @escaping @Sendable (RecordedRequest) async throws -> HTTPResponse
    ) {
        change { $0.any = MockStub(delay: delay, respond: answer) }
    }

    private func add(
        _ method: HTTPMethod?, _ path: String, _ delay: Duration,
        _ answer: @escaping @Sendable (RecordedRequest) async throws -> HTTPResponse
    ) {
        change { $0.routes.add(RoutePattern(method, path), MockStub(delay: delay, respond: answer)) }
    }
}

/// Failures. They take precedence over all stubs.
extension MockTransport {
    /// Fails calls with `error`, whatever their type, method and path. If the reason of the error is a status, the mock
    /// returns the response of the error instead of throwing it.
    ///
    /// - `occurrence`: which of the calls fail. Default `.always`.
    /// - `delay`: the delay before the failure, on the clock of the call. Default none.
    public func fail(
        _ occurrence: Occurrence = .always, delay: Duration = .zero, with error: NetworkError
    ) {
        add(occurrence, delay, error) { _ in true }
    }

    /// Fails calls of this endpoint or route type with `error`, as `fail(_:delay:with:)` does.
    public func fail<Sent: Route>(
        _ type: Sent.Type, _ occurrence: Occurrence = .always, delay: Duration = .zero, with error: NetworkError
    ) {
        add(occurrence, delay, error) { $0.endpoint(as: type) != nil }
    }

    /// Fails calls with this method (nil for any) and a path of this `RoutePattern`, as `fail(_:delay:with:)` does.
    public func fail(
        _ method: HTTPMethod?, _ path: String, _ occurrence: Occurrence = .always, delay: Duration = .zero,
        with error: NetworkError
    ) {
        let pattern = RoutePattern(method, path)
        add(occurrence, delay, error) { call in
            (method == nil || method == call.method) && pattern.parameters(in: call.request.target) != nil
        }
    }

    private func add(
        _ occurrence: Occurrence, _ delay: Duration, _ error: NetworkError,
        for accepts: @escaping @Sendable (RecordedRequest) -> Bool
    ) {
        let stub = MockStub(delay: delay) { _ in throw error }
        change { $0.failures.append(MockTable.Failure(accepts: accepts, occurrence: occurrence, stub: stub)) }
    }
}
