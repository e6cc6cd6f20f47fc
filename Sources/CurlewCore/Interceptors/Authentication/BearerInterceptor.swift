// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// Sends `Authorization: Bearer …` with the requests to one origin (RFC 6750), and with no others.
///
///     .bearer { await keychain.token() }                                // the origin of the client's base URL
///     .bearer(for: "https://cdn.example.com") { try await cdnToken() }  // another, named on purpose
///
/// The rules:
/// - A token belongs to an origin (scheme, host and port). A request to any other goes without it. The one exception:
///   what belongs to `http://host` may go to `https://host`, both on their default ports.
/// - After a redirect has left the call's origin, nothing is attached any more, not even back at that origin.
/// - Over plain http the token would be readable on the way. Without a named origin that works for loopback only, and
///   is a problem of the pipeline otherwise; naming an `http` origin says that it is meant.
/// - An `Authorization` field that the call brings along wins; the source is not even asked.
/// - No token (nil or empty) sends the request without one. A source that throws fails the call with
///   `.notAuthenticated(.sourceFailed)`, unless the call was cancelled.
/// - A token that could not stand in a header field fails the call before anything is sent.
public struct BearerInterceptor: ValidatingInterceptor {
    private let scope: CredentialScope
    private let token: @Sendable () async throws -> String?
    private let owner: (@Sendable () -> String?)?

    /// A credential for the origin of the client's base URL.
    ///
    /// - `token`: asked once for each attempt, so it should remember what it knows.
    /// - `principal`: whose token that is now, such as the identifier of the signed-in user; no two users may have the
    ///   same one. Without it, or when it gives nil, answers to calls with this token are neither cached nor shared.
    public init(
        token: @escaping @Sendable () async throws -> String?, principal: (@Sendable () -> String?)? = nil
    ) {
        self.init(.client, token, principal)
    }

    /// A credential for the origin of `url`, such as `https://api.example.com`; its path is not looked at.
    ///
    /// A text that is no absolute URL is a problem of the pipeline: every call throws `.configuration`.
    public init(
        for url: String, token: @escaping @Sendable () async throws -> String?,
        principal: (@Sendable () -> String?)? = nil
    ) {
        self.init(.url(url), token, principal)
    }

    /// A credential for `origin`.
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

    /// Whom the app names; `.unknown` if it names nobody, because only running the source could tell.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal {
        guard scope.covers(request, in: context), !request.headers.contains(.authorization) else { return .anonymous }
        return .named(owner?(), as: "bearer")
    }

    /// No origin to belong to, or one to which the token would travel in plain sight.
    public func problem(in setup: PipelineSetup) -> String? {
        scope.problem(of: "The bearer token", in: setup) { ".bearer(for: \"\($0)\") { … }" }
    }
}

extension BearerInterceptor: CustomStringConvertible {
    /// `Bearer`, with the origin if one was named. Never the token.
    public var description: String {
        scope.label("Bearer")
    }
}
