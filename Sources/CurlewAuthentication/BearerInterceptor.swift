// SPDX-License-Identifier: MIT

package import CurlewCore
package import CurlewHTTP

/// The interceptor of `.bearer`, where its rules are documented.
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

    /// `.authentication`.
    public var placement: Placement { .authentication }

    /// Attaches the token where the rules allow it, and runs the rest of the chain.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        guard scope.covers(request, in: next.context), !request.headers.contains(.authorization),
            let token = try await currentToken(), !token.isEmpty
        else {
            return try await next(request)
        }
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

    /// The principal that the app specifies; `.unknown` if it specifies none, because only the token closure could
    /// determine it.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal {
        guard scope.covers(request, in: context), !request.headers.contains(.authorization) else { return .anonymous }
        return .named(owner?(), as: "bearer")
    }

    /// Reports a missing origin, or one to which the token would be sent unencrypted.
    public func problem(in setup: Pipeline.Environment) -> String? {
        scope.problem(of: "The bearer token", in: setup) { ".bearer(for: \"\($0)\") { … }" }
    }
}

extension BearerInterceptor: CustomStringConvertible {
    /// `Bearer`, with the origin if one was specified. Never the token.
    public var description: String {
        scope.label("Bearer")
    }
}
