// SPDX-License-Identifier: MIT

package import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// Adds a user name and password to the requests to one origin. For the rules, see `.basic(user:password:for:name:)`.
package struct BasicInterceptor: Interceptor {
    private let scope: CredentialScope
    private let field: String?

    /// Creates an interceptor for the origin of `url`, or of the client's base URL if `url` is nil.
    public init(user: String, password: String, for url: String? = nil, name: String? = nil) {
        scope = CredentialScope(url, name: name)
        let isSound =
            !user.utf8.contains(UInt8(ascii: ":"))
            && !(user + password).unicodeScalars.contains { $0.value < 0x20 || $0 == "\u{7F}" }
        field = isSound ? "Basic " + Data("\(user):\(password)".utf8).base64EncodedString() : nil
    }

    package var traits: InterceptorTraits {
        InterceptorTraits(
            .authentication, runsInPreview: true, principal: principal(of:in:), problem: problem(in:))
    }

    /// Adds the user name and password to a request that may receive them, and runs the rest of the pipeline.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        guard let field, scope.admits(request, in: next.context) else { return try await next(request) }
        var request = request
        request.headers[.authorization] = field
        return try await next(request, context: next.context.authenticated)
    }

    /// Returns the principal of this user name and password; `.anonymous` for a request that receives no credential.
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

extension BasicInterceptor: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// `Basic`, followed by the origin if one was specified. The description never contains the user name or password.
    public var description: String { scope.label("Basic") }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// A mirror that shows only the description, so that a dump contains no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
