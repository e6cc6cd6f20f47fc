// SPDX-License-Identifier: MIT

package import CurlewCore
package import CurlewHTTP

/// Adds a bearer token to the requests to one origin. For the rules, see `.bearer(_:principal:)`.
package struct BearerInterceptor: ValidatingInterceptor {
    private let scope: CredentialScope
    private let token: @Sendable () async throws -> String?
    private let owner: (@Sendable () -> String?)?

    /// Creates an interceptor for the origin of the client's base URL.
    public init(
        token: @escaping @Sendable () async throws -> String?, principal: (@Sendable () -> String?)? = nil
    ) {
        self.init(.client, token, principal)
    }

    /// Creates an interceptor for the origin of `url`.
    public init(
        for url: String, token: @escaping @Sendable () async throws -> String?,
        principal: (@Sendable () -> String?)? = nil
    ) {
        self.init(.url(url), token, principal)
    }

    /// Creates an interceptor for `origin`.
    public init(
        for origin: Origin, token: @escaping @Sendable () async throws -> String?,
        principal: (@Sendable () -> String?)? = nil
    ) {
        self.init(.origin(origin), token, principal)
    }

    private init(
        _ scope: CredentialScope, _ token: @escaping @Sendable () async throws -> String?,
        _ principal: (@Sendable () -> String?)?
    ) {
        self.scope = scope
        self.token = token
        owner = principal
    }

    /// The placement `.authentication`. The interceptor runs once per request on the wire, before the request is
    /// signed.
    public var placement: Placement { .authentication }

    /// Adds the token to a request that may receive it, and runs the rest of the pipeline.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        guard scope.covers(request, in: next.context), !request.headers.contains(.authorization),
            let token = try await currentToken(), !token.isEmpty
        else { return try await next(request) }
        try Tokens(accessToken: token).check()
        var request = request
        request.headers[.authorization] = "Bearer \(token)"
        return try await next(request, context: next.context.authenticated)
    }

    private func currentToken() async throws -> String? {
        do {
            return try await token()
        } catch {
            if Task.isCancelled || NetworkError(error).isCancelled { throw NetworkError(.cancelled) }
            throw NetworkError(
                .notAuthenticated(.sourceFailed), detail: "The source of the bearer token threw an error.",
                underlying: error)
        }
    }

    /// Returns the principal that the app specifies; `.unknown` if it specifies none, because only the token closure
    /// could determine it. Returns `.anonymous` for a request that receives no token.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal {
        guard scope.covers(request, in: context), !request.headers.contains(.authorization) else { return .anonymous }
        return .named(owner?(), as: "bearer")
    }

    /// Returns an error if the origin is missing or invalid, or if the token would be sent unencrypted.
    public func problem(in setup: Pipeline.Environment) -> String? {
        scope.problem(of: "The bearer token", in: setup) { ".bearer(for: \"\($0)\") { … }" }
    }
}

extension BearerInterceptor: CustomStringConvertible {
    /// `Bearer`, followed by the origin if one was specified. The description never contains the token.
    public var description: String {
        scope.label("Bearer")
    }
}
