// SPDX-License-Identifier: MIT

/// Sends typed calls: the entry point of the package.
///
///     let client = APIClient(baseURL: "https://dummyjson.com")
///     let user = try await client.send(.user(id: 1))
///
/// A client is a value. Copies are cheap and share connections and the state of interceptors. Creating a client never
/// fails and opens no connection. Configuration errors are listed in `problems` and in `description`, and every `send`
/// throws them.
///
/// Every call runs off the caller's actor, including decoding, and throws only `NetworkError`.
public struct APIClient: Sendable {
    let core: Core

    /// Creates a client that sends over `transport`.
    ///
    /// - `baseURL`: the URL to which paths are appended. Nil for a client that only sends to absolute URLs.
    /// - `pipeline`: exactly these interceptors, in this order.
    public init(
        baseURL: BaseURL?, pipeline: Pipeline, transport: any Transport,
        configuration: ClientConfiguration = ClientConfiguration()
    ) {
        core = Core(baseURL: baseURL, pipeline: pipeline, transport: transport, configuration: configuration)
    }

    init(_ core: Core) {
        self.core = core
    }

    /// Sends `endpoint` and returns its decoded response.
    ///
    /// - `codecs`: the codecs for this call, instead of the client's.
    ///
    /// Runs off the caller's actor, including decoding. Throws `NetworkError`; immediately when the task is cancelled
    /// (`error.isCancelled`).
    @concurrent @discardableResult
    public func send<E: Endpoint>(
        _ endpoint: E, codecs: Codecs? = nil
    ) async throws(NetworkError) -> E.Response {
        try await core.perform(endpoint, codecs) { value, _ in value }
    }

    /// Sends an inline request and returns its decoded response: `try await client.send(.user(id: 1))`. Otherwise as
    /// for an endpoint.
    @concurrent @discardableResult
    public func send<Value>(
        _ request: Request<Value>, codecs: Codecs? = nil
    ) async throws(NetworkError) -> Value {
        try await core.perform(request, codecs) { value, _ in value }
    }

    /// Sends `route` and decodes its response as `type` or as the inferred type:
    ///
    ///     let users: [User] = try await client.send(UsersAPI.list)
    ///     let users = try await client.send(UsersAPI.list, as: [User].self)
    @concurrent
    public func send<Value: Decodable & Sendable>(
        _ route: some Route, as type: Value.Type = Value.self, codecs: Codecs? = nil
    ) async throws(NetworkError) -> Value {
        try await core.perform(
            route, as: type, codecs, decode: { try await $1.decoded(as: type, using: $2) }
        ) { value, _ in value }
    }

    /// Sends `route` and checks the status. The response body is ignored.
    ///
    ///     try await client.send(FilmsAPI.rate(.metropolis, stars: 4))
    ///
    /// For a route without a response type. An `Endpoint` decodes its own response, and an explicit or inferred type is
    /// decoded.
    @concurrent @_disfavoredOverload
    public func send(_ route: some Route, codecs: Codecs? = nil) async throws(NetworkError) {
        try await core.perform(route, as: Void.self, codecs, decode: { _, _, _ in }) { _, _ in }
    }

    /// Sends `endpoint` and returns its decoded response with status, headers, metrics, attempts and the final URL.
    /// Throws as `send` does.
    @concurrent
    public func response<E: Endpoint>(
        for endpoint: E, codecs: Codecs? = nil
    ) async throws(NetworkError) -> Response<E.Response> {
        try await core.perform(endpoint, codecs, finish: Response.init)
    }

    /// Sends an inline request and returns its decoded response with status, headers, metrics, attempts and the final
    /// URL. Throws as `send` does.
    @concurrent
    public func response<Value>(
        for request: Request<Value>, codecs: Codecs? = nil
    ) async throws(NetworkError) -> Response<Value> {
        try await core.perform(request, codecs, finish: Response.init)
    }

    /// Sends `route` and returns its response, decoded as `type` or as the inferred type, with status, headers, metrics
    /// and the final URL.
    @concurrent
    public func response<Value: Decodable & Sendable>(
        for route: some Route, as type: Value.Type = Value.self, codecs: Codecs? = nil
    ) async throws(NetworkError) -> Response<Value> {
        try await core.perform(
            route, as: type, codecs, decode: { try await $1.decoded(as: type, using: $2) }, finish: Response.init)
    }

    /// Sends `route`, ignores the response body, and returns status, headers, metrics and the final URL.
    @concurrent @_disfavoredOverload
    public func response(for route: some Route, codecs: Codecs? = nil) async throws(NetworkError) -> Response<Void> {
        try await core.perform(route, as: Void.self, codecs, decode: { _, _, _ in }, finish: Response.init)
    }
}
