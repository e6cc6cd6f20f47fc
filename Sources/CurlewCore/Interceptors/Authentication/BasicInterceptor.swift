// SPDX-License-Identifier: MIT

import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Sends `Authorization: Basic …` with the requests to one origin (RFC 7617), in UTF-8.
///
/// Whose requests get it is decided by the rules of `BearerInterceptor`. A user name with a colon, which the scheme cannot
/// carry, is a problem of the pipeline.
public struct BasicInterceptor: ValidatingInterceptor {
    private let scope: CredentialScope
    private let name: String?
    private let field: String?

    /// A user and a password for one origin.
    ///
    /// - `url`: whose origin gets them; nil for that of the client's base URL.
    /// - `name`: which calls ask for them with `.named`; nil for all that name none.
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

    /// Attaches user and password where the rules allow it.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        guard let field, scope.covers(request, in: next.context, name: name),
            !request.headers.contains(.authorization)
        else { return try await next(request) }
        var request = request
        request.headers[.authorization] = field
        return try await next(request, context: next.context.authenticated)
    }

    /// Whoever has this user name and password.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal {
        guard let field, scope.covers(request, in: context, name: name), !request.headers.contains(.authorization)
        else { return .anonymous }
        return .holder(of: ["basic", name ?? "", field], in: context)
    }

    /// No origin to belong to, one that would be reached in plain sight, or a name that the scheme cannot carry.
    public func problem(in setup: PipelineSetup) -> String? {
        guard field != nil else {
            return "Basic authentication cannot carry a user name with a colon, nor control characters (RFC 7617 §2)."
        }
        return scope.problem(of: "The password", in: setup) { ".basic(user: …, password: …, for: \"\($0)\")" }
    }
}

extension BasicInterceptor: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// `Basic`, with the origin if one was named. Never user or password.
    public var description: String { scope.label("Basic") }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// Shows what `description` does, and nothing else.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
