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

    /// Returns the call without any credential or signature of a built-in interceptor. Cookies, and fields that the app
    /// sets itself, are still sent. Use it for signing in and for public resources.
    public func withoutCredentials() -> Self {
        options { $0.authentication = .anonymous }
    }

    /// Returns the call with another name in logs, metrics and errors.
    public func name(_ name: String) -> Self {
        changed { $0.name = name }
    }

    /// Returns the call with `baseURL` in place of the client's base URL. The call does not send the client's query
    /// items. To an origin other than the client's, it sends only credentials for that origin, and only `Accept` and
    /// `User-Agent` from the client's fields.
    public func baseURL(_ baseURL: BaseURL) -> Self {
        changed { $0.baseURL = baseURL }
    }

    /// Returns a call that decodes the response as this call does and then applies `transform`:
    /// `Request<Page<User>>.get("/users").map(\.items)`. An error that `transform` throws is converted to
    /// `NetworkError`. The status is checked unless `Other` is `HTTPResponse`.
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
    /// with several keys from nested objects. If a key is missing, `send` throws `.decoding`.
    ///
    /// Specify keys as the server writes them, even if the codec converts keys from snake case.
    public func unwrapping(_ keys: String...) -> Self {
        decoded { try await $0.decoded(as: Value.self, at: keys, using: $1) }
    }
}

/// Calls made from existing `HTTPRequest` values, such as those from older code, from a generator or from a
/// `URLRequest`.
///
///     let user = try await client.send(Request<User>(message))
///
/// The request is sent to its own URL with its own body and media type. If that URL has the client's origin, the client
/// adds those of its header fields that the request does not have.
extension Request where Value: Decodable {
    /// Creates a call that sends `message` and decodes the response, or returns it as `Data` or `String`.
    public init(_ message: HTTPRequest, name: String = "HTTPRequest") {
        self.init(message, name: name) { try await $0.decoded(as: Value.self, using: $1) }
    }
}

extension Request where Value == Void {
    /// Creates a call that sends `message` and checks only the status of the response.
    public init(_ message: HTTPRequest, name: String = "HTTPRequest") {
        self.init(message, name: name) { _, _ in }
    }
}

extension Request where Value == HTTPResponse {
    /// Creates a call that sends `message` and returns the response unchanged, whatever its status.
    public init(_ message: HTTPRequest, name: String = "HTTPRequest") {
        self.init(message, name: name) { response, _ in response }
    }
}

extension Request {
    /// Creates a call from a complete request, which is sent to its own URL with its own body and media type.
    package init(
        _ message: HTTPRequest, name: String, decode: @escaping @Sendable (HTTPResponse, Codecs) async throws -> Value
    ) {
        self.init(
            message.method, RequestPath(target: message.target),
            body: message.body.isEmpty ? .none : .complete(message.body), headers: message.headers, name: name,
            decode: decode)
        baseURL = BaseURL(origin: message.origin)
    }

    /// Creates a call that throws `problem` when it is sent.
    package init(
        _ method: HTTPMethod = .get, refusing problem: NetworkError, name: String,
        decode: @escaping @Sendable (HTTPResponse, Codecs) async throws -> Value
    ) {
        self.init(method, RequestPath(refused: problem), name: name, decode: decode)
    }
}
