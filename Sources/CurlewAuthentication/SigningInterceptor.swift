// SPDX-License-Identifier: MIT

package import CurlewCore
import CurlewHTTP

/// Signs the requests to one origin. For the rules, see `.signing(for:name:_:principal:)`.
package struct SigningInterceptor: Interceptor {
    private let scope: CredentialScope
    private let sign: @Sendable (inout HTTPRequest, ExchangeContext) async throws -> Void
    private let owner: (@Sendable () -> String?)?

    /// Creates an interceptor for the origin of `url`, or of the client's base URL if `url` is nil.
    public init(
        for url: String? = nil, name: String? = nil,
        _ sign: @escaping @Sendable (inout HTTPRequest, ExchangeContext) async throws -> Void,
        principal: (@Sendable () -> String?)? = nil
    ) {
        scope = CredentialScope(url, name: name)
        self.sign = sign
        owner = principal
    }

    /// At `.signing`, the interceptor runs once per request on the wire, after credentials and the fields of other
    /// interceptors have been added.
    package var traits: InterceptorTraits {
        InterceptorTraits(.signing, runsInPreview: true, principal: principal(of:in:), problem: problem(in:))
    }

    /// Signs a request to the interceptor's origin, and runs the rest of the pipeline. Throws `.configuration` if the
    /// closure changes the origin of the request.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        guard scope.covers(request, in: next.context, isAddition: true) else {
            return try await next(request)
        }
        var signed = request
        try await sign(&signed, next.context)
        guard signed.origin == request.origin else {
            throw NetworkError(
                .configuration, detail: "A signature must not change the target of the request.",
                hint: "Change the request in an interceptor further out.", request: NetworkError.RequestLine(request))
        }
        return try await next(signed, context: next.context.authenticated)
    }

    /// Returns the principal that the app specifies; `.unknown` if it specifies none, and `.anonymous` for a request
    /// that is not signed.
    func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal {
        guard scope.covers(request, in: context, isAddition: true) else { return .anonymous }
        return .named(owner?(), as: "signing \(scope.name ?? "")")
    }

    /// Returns an error if the origin is missing or invalid, or if the signature would be sent unencrypted.
    func problem(in setup: Pipeline.Environment) -> String? {
        scope.problem(of: "The signature", in: setup) { ".signing(for: \"\($0)\") { … }" }
    }
}

extension SigningInterceptor: CustomStringConvertible {
    /// `Signing`, followed by the origin if one was specified.
    public var description: String { scope.label("Signing") }
}
