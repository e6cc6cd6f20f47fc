// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// Adds a bearer token to the requests to one origin. For the rules, see `.bearer(for:_:principal:)`.
struct BearerInterceptor: Interceptor {
    private let scope: CredentialScope
    private let token: @Sendable () async throws -> String?
    private let owner: (@Sendable () -> String?)?

    init(
        _ scope: CredentialScope = CredentialScope(), token: @escaping @Sendable () async throws -> String?,
        principal: (@Sendable () -> String?)? = nil
    ) {
        self.scope = scope
        self.token = token
        owner = principal
    }

    var traits: InterceptorTraits {
        InterceptorTraits(
            .authentication, runsInPreview: true, principal: principal(of:in:), problem: problem(in:))
    }

    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        guard scope.admits(request, in: next.context), let token = try await currentToken(), !token.isEmpty else {
            return try await next(request)
        }
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
    func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal {
        guard scope.admits(request, in: context) else { return .anonymous }
        return .named(owner?(), as: "bearer")
    }

    func problem(in setup: Pipeline.Environment) -> String? {
        scope.problem(of: "The bearer token", in: setup) { ".bearer(for: \"\($0)\") { … }" }
    }
}

extension BearerInterceptor: CustomStringConvertible {
    /// `Bearer`, followed by the origin if one was specified. The description never contains the token.
    var description: String { scope.label("Bearer") }
}
