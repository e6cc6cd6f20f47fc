// SPDX-License-Identifier: MIT

package import CurlewCore
import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The interceptor of `.basic(user:password:)`, where its rules are documented.
package struct BasicInterceptor: ValidatingInterceptor {
    private let scope: CredentialScope
    private let name: String?
    private let field: String?

    /// Creates an interceptor for one origin.
    public init(user: String, password: String, for url: String? = nil, name: String? = nil) {
        scope = url.map { .url($0) } ?? .client
        self.name = name
        let isSound =
            !user.utf8.contains(UInt8(ascii: ":"))
            && !(user + password).unicodeScalars.contains { $0.value < 0x20 || $0 == "\u{7F}" }
        field = isSound ? "Basic " + Data("\(user):\(password)".utf8).base64EncodedString() : nil
    }

    /// `.authentication`.
    public var placement: Placement { .authentication }

    /// Attaches user name and password where the rules allow it.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        guard let field, scope.covers(request, in: next.context, name: name),
            !request.headers.contains(.authorization)
        else { return try await next(request) }
        var request = request
        request.headers[.authorization] = field
        return try await next(request, context: next.context.authenticated)
    }

    /// The principal of this user name and password.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal {
        guard let field, scope.covers(request, in: context, name: name), !request.headers.contains(.authorization)
        else { return .anonymous }
        return .holder(of: ["basic", name ?? "", field], in: context)
    }

    /// Reports a missing origin, one that would be reached unencrypted, or a user name that the scheme cannot
    /// represent.
    public func problem(in setup: Pipeline.Environment) -> String? {
        guard field != nil else {
            return "Basic authentication allows no colon in a user name, and no control characters (RFC 7617 §2)."
        }
        return scope.problem(of: "The password", in: setup) { ".basic(user: …, password: …, for: \"\($0)\")" }
    }
}

extension BasicInterceptor: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// `Basic`, with the origin if one was specified. Never the user name or password.
    public var description: String { scope.label("Basic") }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// Contains only `description`.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
