// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// Adds a user name and password to the requests to one origin. For the rules, see `.basic(user:password:for:name:)`.
struct BasicInterceptor: Interceptor {
    private let scope: CredentialScope
    private let field: String?

    init(user: String, password: String, for url: String? = nil, name: String? = nil) {
        scope = CredentialScope(url, name: name)
        let isSound =
            !user.utf8.contains(UInt8(ascii: ":"))
            && !(user + password).unicodeScalars.contains { $0.value < 0x20 || $0 == "\u{7F}" }
        field = isSound ? "Basic " + Data("\(user):\(password)".utf8).base64EncodedString() : nil
    }

    var traits: InterceptorTraits {
        InterceptorTraits(
            .authentication, runsInPreview: true, principal: principal(of:in:), problem: problem(in:))
    }

    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        guard let field, scope.admits(request, in: next.context) else { return try await next(request) }
        var request = request
        request.headers[.authorization] = field
        return try await next(request, context: next.context.authenticated)
    }

    func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal {
        guard let field, scope.admits(request, in: context) else { return .anonymous }
        return .holder(of: ["basic", scope.name ?? "", field], in: context)
    }

    /// Returns an error if the origin is missing or invalid, or if the password would be sent unencrypted. Also returns
    /// an error for a user name with a colon, and for a control character in the user name or password (RFC 7617 §2).
    func problem(in setup: Pipeline.Environment) -> String? {
        guard field != nil else {
            return "Basic authentication allows no colon in a user name, and no control characters (RFC 7617 §2)."
        }
        return scope.problem(of: "The password", in: setup) { ".basic(user: …, password: …, for: \"\($0)\")" }
    }
}

extension BasicInterceptor: MirroredByDescription {
    var description: String { scope.label("Basic") }
}
