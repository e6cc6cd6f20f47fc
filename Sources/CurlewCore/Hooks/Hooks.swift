// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Runs a closure that may change each request. For the rules, see `.onRequest(at:changesPrincipal:_:)`.
package struct RequestHook: ScopedInterceptor, ValidatingInterceptor {
    /// The position in the pipeline; `.custom` by default, so that the hook runs once for each request on the wire.
    public let placement: Placement
    /// Whether responses may depend on the changes of the closure.
    public let changesPrincipal: Bool
    private let owner: Owner
    private let body: @Sendable (inout HTTPRequest, ExchangeContext) async throws -> Void

    private enum Owner: Sendable {
        case client
        case origin(Origin)
        case unreadable(String)
    }

    /// Creates a hook at `placement`. An error that `body` throws ends the call before this request is sent.
    public init(
        at placement: Placement = .custom, changesPrincipal: Bool = true,
        _ body: @escaping @Sendable (inout HTTPRequest, ExchangeContext) async throws -> Void
    ) {
        self.init(owner: .client, at: placement, changesPrincipal: changesPrincipal, body)
    }

    /// Creates a hook for requests to the origin of `url`. The path of `url` is ignored. Text that is not an absolute
    /// URL is reported as a problem of the pipeline.
    public init(
        for url: String, at placement: Placement = .custom, changesPrincipal: Bool = true,
        _ body: @escaping @Sendable (inout HTTPRequest, ExchangeContext) async throws -> Void
    ) {
        let owner: Owner
        do {
            owner = .origin(try HTTPRequest(url: url).origin)
        } catch {
            owner = .unreadable(error.detail)
        }
        self.init(owner: owner, at: placement, changesPrincipal: changesPrincipal, body)
    }

    private init(
        owner: Owner, at placement: Placement, changesPrincipal: Bool,
        _ body: @escaping @Sendable (inout HTTPRequest, ExchangeContext) async throws -> Void
    ) {
        self.owner = owner
        self.placement = placement
        self.changesPrincipal = changesPrincipal
        self.body = body
    }

    package var scope: InterceptorScope {
        if case .origin(let origin) = owner { .origin(origin) } else { .client }
    }

    /// Returns the problem of a hook whose origin cannot be parsed; otherwise nil.
    public func problem(in setup: Pipeline.Environment) -> String? {
        if case .unreadable(let detail) = owner { "The hook has no origin. \(detail)" } else { nil }
    }

    private func concerns(_ request: HTTPRequest) -> Bool {
        switch owner {
        case .client: true
        case .origin(let origin): request.origin == origin
        case .unreadable: false
        }
    }

    /// Returns `.unknown`, because the closure may attach any credential. Returns `.anonymous` if no response depends
    /// on the closure, or if the request is for another origin.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal {
        changesPrincipal && concerns(request) ? .unknown : .anonymous
    }

    /// Runs the closure on a copy of the request, and the rest of the pipeline with that copy. A request for another
    /// origin is passed on unchanged.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        guard concerns(request) else { return try await next(request) }
        var request = request
        try await body(&request, next.context)
        return try await next(request)
    }
}

/// Runs a closure with each response. For the rules, see `.onResponse(at:_:)`.
package struct ResponseHook: Interceptor {
    /// The position in the pipeline; `.custom` by default, so that the hook runs once for each request on the wire.
    public let placement: Placement
    private let body: @Sendable (HTTPResponse, ExchangeContext) async throws -> Void

    /// Creates a hook at `placement`. An error that `body` throws ends the call and replaces the response.
    public init(
        at placement: Placement = .custom,
        _ body: @escaping @Sendable (HTTPResponse, ExchangeContext) async throws -> Void
    ) {
        self.placement = placement
        self.body = body
    }

    /// False, because a preview has no response.
    public var runsInPreview: Bool { false }

    /// Returns `.anonymous`, because the hook changes no request.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

    /// Runs the rest of the pipeline, and then the closure with the response.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var response = try await next(request)
        next.context.secrets.declare(in: &response.headers)
        try await body(response, next.context)
        return response
    }
}

/// Runs a closure with each failure that is not a response. For the rules, see `.onError(at:_:)`.
package struct ErrorHook: Interceptor {
    /// The position in the pipeline; `.custom` by default, so that the hook runs once for each request on the wire.
    public let placement: Placement
    private let body: @Sendable (NetworkError, ExchangeContext) async -> Void

    /// Creates a hook at `placement`. The error is passed on when `body` has returned.
    public init(
        at placement: Placement = .custom, _ body: @escaping @Sendable (NetworkError, ExchangeContext) async -> Void
    ) {
        self.placement = placement
        self.body = body
    }

    /// False, because a preview has no failure.
    public var runsInPreview: Bool { false }

    /// Returns `.anonymous`, because the hook changes no request.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

    /// Runs the rest of the pipeline. If that throws, runs the closure with the error as a `NetworkError`, and throws
    /// this error.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        do {
            return try await next(request)
        } catch {
            var failure = NetworkError(error)
            if failure.request == nil { failure.request = NetworkError.RequestLine(request) }
            failure = failure.withholding(next.context.secrets)
            await body(failure, next.context)
            throw failure
        }
    }
}

extension RequestHook: CustomStringConvertible {
    /// The text `onRequest`, with the origin if one was specified.
    public var description: String {
        if case .origin(let origin) = owner { "onRequest(\(origin))" } else { "onRequest" }
    }
}

extension ResponseHook: CustomStringConvertible {
    /// The text `onResponse`.
    public var description: String { "onResponse" }
}

extension ErrorHook: CustomStringConvertible {
    /// The text `onError`.
    public var description: String { "onError" }
}
