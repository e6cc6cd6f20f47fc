// SPDX-License-Identifier: MIT

package import CurlewCore
import CurlewHTTP

/// The interceptor of `.signing`, where its rules are documented.
package struct SigningInterceptor: ValidatingInterceptor {
    private let scope: CredentialScope
    private let name: String?
    private let sign: @Sendable (inout HTTPRequest, ExchangeContext) async throws -> Void
    private let owner: (@Sendable () -> String?)?

    /// Creates an interceptor for one origin.
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
                .configuration, detail: "A signature must not change the target of the request.",
                hint: "Change the request in an interceptor further out.", request: RequestLine(request))
        }
        return try await next(signed, context: next.context.authenticated)
    }

    /// The principal that the app specifies; `.unknown` if it specifies none.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal {
        guard scope.covers(request, in: context, name: name, isAddition: true) else { return .anonymous }
        return .named(owner?(), as: "signing \(name ?? "")")
    }

    /// Reports a missing origin, or one that would be reached unencrypted.
    public func problem(in setup: Pipeline.Environment) -> String? {
        scope.problem(of: "The signature", in: setup) { ".signing(for: \"\($0)\") { … }" }
    }
}

extension SigningInterceptor: CustomStringConvertible {
    /// `Signing`, with the origin if one was specified.
    public var description: String { scope.label("Signing") }
}
