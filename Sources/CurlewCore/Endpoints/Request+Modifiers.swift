// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// Methods that return modified copies of a call, for chaining after a factory:
/// `.get("/users").header("X-Tenant", "acme").name("users")`.
extension Request {
    /// Returns the call with a header field, which replaces all fields of the same name.
    public func header(_ name: HTTPField.Name, _ value: String) -> Self {
        changed { $0.headers[name] = value }
    }

    /// Returns the call with more query items after the existing ones.
    public func query(_ items: QueryItems) -> Self {
        changed { $0.query.append(contentsOf: items) }
    }

    /// Returns the call with changed options. Repeated uses accumulate.
    public func options(_ change: (inout RequestOptions) -> Void) -> Self {
        changed { change(&$0.options) }
    }

    /// Returns the call without any credential, whatever interceptors the client has. Use it for signing in and for
    /// public resources.
    public func withoutCredentials() -> Self {
        options { $0.authentication = .anonymous }
    }

    /// Returns the call with another name in logs, metrics and errors.
    public func name(_ name: String) -> Self {
        changed { $0.name = name }
    }

    /// Returns the call with `baseURL` in place of the client's base URL. The call does not send the client's query
    /// items. To an origin other than the client's, it also sends no credentials, and only `Accept` and `User-Agent`
    /// from the client's fields.
    public func baseURL(_ baseURL: BaseURL) -> Self {
        changed { $0.baseURL = baseURL }
    }

    /// Returns a call that decodes the response as this call does and then applies `transform`:
    /// `Request<Page<User>>.get("/users").map(\.items)`. An error that `transform` throws is converted to
    /// `NetworkError`.
    public func map<Other: Sendable>(
        _ transform: @escaping @Sendable (Value) throws -> Other
    ) -> Request<Other> {
        let original = self
        return decoded { try transform(try await original.decode($0, using: $1)) }
    }

    /// Returns a call with the same request that decodes its response differently.
    private func decoded<Other: Sendable>(
        by decode: @escaping @Sendable (HTTPResponse, Codecs) async throws -> Other
    ) -> Request<Other> {
        Request<Other>(self, extras: extras?.value ?? RequestExtras(), decode: decode)
    }

    private func changed(_ change: (inout Self) -> Void) -> Self {
        var copy = self
        change(&copy)
        return copy
    }
}

extension Request where Value: Decodable {
    /// Returns a call that decodes the value from inside a wrapper object: with `"items"` from `{"items": [...]}`, and
    /// with several keys from nested objects.
    ///
    /// Specify keys as the server writes them, even if the codec converts keys from snake case.
    public func unwrapping(_ keys: String...) -> Self {
        decoded { try await $0.decoded(as: Value.self, at: keys, using: $1) }
    }
}
