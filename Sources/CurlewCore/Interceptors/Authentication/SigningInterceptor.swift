// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Signs the requests to one origin: runs last before the transport, and sees each request as it goes to the wire.
///
///     .signing { request, context in
///         let signature = MessageDigest.hmacSHA256(Data(request.target.utf8), key: key)
///         request.headers["X-Signature"] = signature.base64EncodedString()
///     }
///
/// It runs once for each attempt, so that a time stamp in the signature is fresh. Whose requests are signed is decided by
/// the rules of `BearerInterceptor`. Fields added to the request afterwards are not signed; `Host` and the framing fields
/// are written by the transport, from `request.origin` and the body.
public struct SigningInterceptor: ValidatingInterceptor {
    private let scope: CredentialScope
    private let name: String?
    private let sign: @Sendable (inout HTTPRequest, ExchangeContext) async throws -> Void
    private let owner: (@Sendable () -> String?)?

    /// A signature for one origin.
    ///
    /// - `url`: whose origin's requests are signed; nil for that of the client's base URL.
    /// - `name`: which calls ask for it with `.named`; nil for all that name none.
    /// - `sign`: changes the request. What it throws fails the call before anything is sent.
    /// - `principal`: in whose name it signs now, as for `BearerInterceptor`.
    public init(
        for url: String? = nil, name: String? = nil,
        _ sign: @escaping @Sendable (inout HTTPRequest, ExchangeContext) async throws -> Void,
        principal: (@Sendable () -> String?)? = nil
    ) {
        scope = url.map { .url($0) } ?? .client
        self.name = name
        self.sign = sign
        owner = principal
    }

    /// `.signing`.
    public var placement: Placement { .signing }

    /// Signs the request and sends it.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        guard scope.covers(request, in: next.context, name: name, isAddition: true) else {
            return try await next(request)
        }
        var signed = request
        try await sign(&signed, next.context)
        guard signed.origin == request.origin else {
            throw NetworkError(
                .configuration, detail: "A signature must not change where the request goes.",
                hint: "Change the request in an interceptor further out.", request: RequestLine(request))
        }
        return try await next(signed, context: next.context.authenticated)
    }

    /// Whom the app names; `.unknown` if it names nobody.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal {
        guard scope.covers(request, in: context, name: name, isAddition: true) else { return .anonymous }
        return .named(owner?(), as: "signing \(name ?? "")")
    }

    /// No origin to belong to, or one that would be reached in plain sight.
    public func problem(in setup: PipelineSetup) -> String? {
        scope.problem(of: "The signature", in: setup) { ".signing(for: \"\($0)\") { … }" }
    }
}

extension SigningInterceptor: CustomStringConvertible {
    /// `Signing`, with the origin if one was named.
    public var description: String { scope.label("Signing") }
}
