// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// Changed copies, for use behind a factory: `.get("/users").header("X-Tenant", "acme").options { $0.nilOn404 = true }`.
extension Request {
    /// With a header field; it replaces one of the same name.
    public func header(_ name: HTTPField.Name, _ value: String) -> Self {
        changed { $0.headers[name] = value }
    }

    /// With more query items behind those that are there.
    public func query(_ items: QueryItems) -> Self {
        changed { $0.query.append(contentsOf: items) }
    }

    /// With other options; each use changes what is there already.
    public func options(_ change: (inout RequestOptions) -> Void) -> Self {
        changed { change(&$0.options) }
    }

    /// Without any credential, whatever the client has: for signing in, and for what is for everybody.
    public func withoutCredentials() -> Self {
        options { $0.authentication = .anonymous }
    }

    /// With another name in logs, metrics and errors.
    public func name(_ name: String) -> Self {
        changed { $0.name = name }
    }

    /// Below another base URL than the client's. On another origin the call gets none of the client's fields, query
    /// items and credentials.
    public func baseURL(_ baseURL: BaseURL) -> Self {
        changed { $0.baseURL = baseURL }
    }

    /// The same call with another answer, made from this one's:
    /// `Request<Page<User>>.get("/users").map(\.items)`. What `transform` throws becomes a `NetworkError`.
    public func map<Other: Sendable>(
        _ transform: @escaping @Sendable (Value) throws -> Other
    ) -> Request<Other> {
        let original = self
        var mapped = Request<Other>(
            method, path, query: query, headers: headers, content: content, name: name
        ) { response, codecs in
            try transform(try await original.decode(response, using: codecs))
        }
        mapped.options = options
        mapped.baseURL = baseURL
        return mapped
    }

    private func changed(_ change: (inout Self) -> Void) -> Self {
        var copy = self
        change(&copy)
        return copy
    }
}

extension Request where Value: Decodable {
    /// Reads the answer from inside a wrapper object: with `"items"` from `{"items": [...]}`, with several keys from
    /// objects in objects.
    ///
    /// A key is written as the server writes it, also where the codec converts keys from snake case.
    public func unwrapping(_ keys: String...) -> Self {
        var unwrapped = Self(
            method, path, query: query, headers: headers, content: content, name: name
        ) { response, codecs in
            try await response.decoded(as: Value.self, at: keys, using: codecs)
        }
        unwrapped.options = options
        unwrapped.baseURL = baseURL
        return unwrapped
    }
}
