// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Runs a closure that may change each request. For the rules, see `.onRequest(at:changesPrincipal:_:)`.
package struct RequestHook: Interceptor {
    private let placement: Placement
    private let changesPrincipal: Bool
    /// The origin whose requests the hook changes, or the reason why it has none; nil for all requests.
    private let home: Result<Origin, NetworkError>?
    private let body: @Sendable (inout HTTPRequest, ExchangeContext) async throws -> Void

    /// Creates a hook for all requests or, with `url`, for those to the origin of that URL.
    package init(
        for url: String? = nil, at placement: Placement = .custom, changesPrincipal: Bool = true,
        _ body: @escaping @Sendable (inout HTTPRequest, ExchangeContext) async throws -> Void
    ) {
        home = url.map { url in Result { () throws(NetworkError) in try HTTPRequest(url: url).origin } }
        self.placement = placement
        self.changesPrincipal = changesPrincipal
        self.body = body
    }

    private var origin: Origin? { try? home?.get() }

    package var traits: InterceptorTraits {
        var traits = InterceptorTraits(
            placement: placement, scope: origin.map { .origin($0) } ?? .clientOrigin, principal: principal(of:in:))
        if case .failure(let error)? = home { traits.problem = { _ in "The hook has no origin. \(error.detail)" } }
        return traits
    }

    private func concerns(_ request: HTTPRequest) -> Bool { home == nil || origin == request.origin }

    /// Returns `.unknown`, because the closure may attach any credential. Returns `.anonymous` if no response depends
    /// on the closure, or if the request is for another origin.
    private func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal {
        changesPrincipal && concerns(request) ? .unknown : .anonymous
    }

    package func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        guard concerns(request) else { return try await next(request) }
        var request = request
        try await body(&request, next.context)
        return try await next(request)
    }
}

/// Runs a closure with each response. For the rules, see `.onResponse(at:_:)`.
package struct ResponseHook: Interceptor {
    let placement: Placement
    let body: @Sendable (HTTPResponse, ExchangeContext) async throws -> Void

    package var traits: InterceptorTraits { InterceptorTraits(placement) }

    package func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var response = try await next(request)
        next.context.secrets.declare(in: &response.headers)
        try await body(response, next.context)
        return response
    }
}

/// Runs a closure with each failure that is not a response. For the rules, see `.onError(at:_:)`.
package struct ErrorHook: Interceptor {
    let placement: Placement
    let body: @Sendable (NetworkError, ExchangeContext) async -> Void

    package var traits: InterceptorTraits { InterceptorTraits(placement) }

    package func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
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
    package var description: String { origin.map { "onRequest(\($0))" } ?? "onRequest" }
}

extension ResponseHook: CustomStringConvertible {
    package var description: String { "onResponse" }
}

extension ErrorHook: CustomStringConvertible {
    package var description: String { "onError" }
}
