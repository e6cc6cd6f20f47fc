// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewHTTP

extension BuiltInInterceptor {
    /// The location of an API key in a request.
    public enum APIKeyLocation: Hashable, Sendable {
        /// The key is the value of a header field with this name.
        case header(HTTPField.Name)
        /// The key is the value of a query item with this name.
        case query(String)
    }
}

/// Adds an API key to the requests to one origin. For the rules, see `.apiKey(_:in:for:name:)`.
struct APIKeyInterceptor: Interceptor {
    private let key: String
    private let location: BuiltInInterceptor.APIKeyLocation
    private let scope: CredentialScope

    init(
        _ key: String, in location: BuiltInInterceptor.APIKeyLocation, for url: String? = nil, name: String? = nil
    ) {
        self.key = key
        self.location = location
        scope = CredentialScope(url, name: name)
    }

    /// Declares that the header field or query item that contains the key is secret, so that it is redacted.
    var traits: InterceptorTraits {
        var traits = InterceptorTraits(
            .authentication, runsInPreview: true, principal: principal(of:in:), problem: problem(in:))
        switch location {
        case .header(let field): traits.fields.secret = [field]
        case .query(let item): traits.fields.secretMembers = [item]
        }
        return traits
    }

    /// Adds the key to a request that may receive it, and runs the rest of the pipeline. Errors contain the URL without
    /// the key.
    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        guard scope.covers(request, in: next.context) else { return try await next(request) }
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
            failure.request = NetworkError.RequestLine(request)
            throw failure
        }
    }

    /// Returns whether the query has an item with this name, in whatever way the name is percent-encoded.
    private static func hasItem(_ name: String, _ target: String) -> Bool {
        guard let mark = target.first("?") else { return false }
        return target[target.utf8.index(after: mark)...].parts("&").contains { item in
            let written = String(item.upTo("="))
            return (PercentCoding.decode(written, plusAsSpace: true) ?? written).utf8.elementsEqual(name.utf8)
        }
    }

    func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal {
        guard scope.covers(request, in: context) else { return .anonymous }
        return .holder(of: ["key", scope.name ?? "", key], in: context)
    }

    func problem(in setup: Pipeline.Environment) -> String? {
        scope.problem(of: "The API key", in: setup) { ".apiKey(…, in: …, for: \"\($0)\")" }
    }
}

extension APIKeyInterceptor: MirroredByDescription {
    var description: String { scope.label("APIKey") }
}
