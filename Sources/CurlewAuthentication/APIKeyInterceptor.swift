// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewHTTP

extension BuiltInInterceptor {
    /// The location of the key in a request.
    public enum APIKeyLocation: Hashable, Sendable {
        /// A header field of this name.
        case header(HTTPField.Name)
        /// A query item of this name.
        case query(String)
    }
}

/// The interceptor of `.apiKey(_:in:)`, where its rules are documented.
package struct APIKeyInterceptor: ValidatingInterceptor {
    private let key: String
    private let location: BuiltInInterceptor.APIKeyLocation
    private let scope: CredentialScope
    private let name: String?

    /// Creates an interceptor for one origin.
    public init(
        _ key: String, in location: BuiltInInterceptor.APIKeyLocation, for url: String? = nil, name: String? = nil
    ) {
        self.key = key
        self.location = location
        scope = url.map { .url($0) } ?? .client
        self.name = name
    }

    /// `.authentication`.
    public var placement: Placement { .authentication }

    /// Attaches the key where the rules allow it.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        guard scope.covers(request, in: next.context, name: name) else { return try await next(request) }
        var keyed = request
        switch location {
        case .header(let field):
            if !keyed.headers.contains(field) { keyed.headers[field] = key }
        case .query(let item):
            if !Self.hasItem(item, request.target) { keyed.appendQuery(item, key) }
        }
        do {
            return try await next(keyed, context: next.context.authenticated)
        } catch {
            // The item may have any name, so redaction by sensitive names does not cover it.
            var failure = NetworkError(error)
            failure.request = RequestLine(request)
            throw failure
        }
    }

    /// Returns whether the query has an item of this name, however the name is percent-encoded.
    private static func hasItem(_ name: String, _ target: String) -> Bool {
        guard let mark = target.first("?") else { return false }
        return target[target.utf8.index(after: mark)...].parts("&").contains { item in
            let written = String(item.upTo("="))
            return (PercentCoding.decodeForm(written) ?? written).utf8.elementsEqual(name.utf8)
        }
    }

    /// The principal of the key.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal {
        guard scope.covers(request, in: context, name: name) else { return .anonymous }
        return .holder(of: ["key", name ?? "", key], in: context)
    }

    /// Declares the name of the field or item as a secret.
    public func declare(in setup: inout Pipeline.Environment) {
        switch location {
        case .header(let field): setup.fields.secret.insert(field)
        case .query(let item): setup.fields.secretMembers.insert(item)
        }
    }

    /// Reports a missing origin, or one to which the key would be sent unencrypted.
    public func problem(in setup: Pipeline.Environment) -> String? {
        scope.problem(of: "The API key", in: setup) { ".apiKey(…, in: …, for: \"\($0)\")" }
    }
}

extension APIKeyInterceptor: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// `APIKey`, with the origin if one was specified. Never the key.
    public var description: String { scope.label("APIKey") }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// Contains only `description`.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
