// SPDX-License-Identifier: MIT

/// Sends typed calls: the entry point of the package.
///
///     let client = APIClient(baseURL: "https://dummyjson.com")
///     let user = try await client.send(.user(id: 1))
///
/// A value: copies are cheap and share connections and the state of interceptors. Making one never fails and opens
/// nothing; what cannot work is in `problems` and in `description`, and the first `send` throws it.
///
/// Every call runs off the caller's actor, decoding included, and throws `NetworkError` only.
public struct APIClient: Sendable {
    let core: Core

    /// A client over `transport`.
    ///
    /// - `baseURL`: where paths begin. Nil for a client that only asks absolute URLs.
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

    /// Sends `endpoint` and gives its answer.
    ///
    /// - `codecs`: for this call, instead of the client's.
    ///
    /// Runs off the caller's actor, decoding included. Throws `NetworkError`, at once when the task is cancelled
    /// (`error.isCancelled`).
    @concurrent @discardableResult
    public func send<E: Endpoint>(
        _ endpoint: E, codecs: Codecs? = nil
    ) async throws(NetworkError) -> E.Response {
        try await core.perform(endpoint, codecs) { value, _ in value }
    }

    /// Sends an inline request and gives its answer: `try await client.send(.user(id: 1))`. Otherwise as for an
    /// endpoint.
    @concurrent @discardableResult
    public func send<Value>(
        _ request: Request<Value>, codecs: Codecs? = nil
    ) async throws(NetworkError) -> Value {
        try await core.perform(request, codecs) { value, _ in value }
    }

    /// Sends `route` and decodes its answer as the type that is named or expected:
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

    /// Sends `route` for nothing: the status is checked, and the body is not looked at.
    ///
    ///     try await client.send(FilmsAPI.rate(.metropolis, stars: 4))
    ///
    /// For a route whose type says nothing of an answer. An `Endpoint` is read as it says, and a named or expected type is
    /// decoded.
    @concurrent @_disfavoredOverload
    public func send(_ route: some Route, codecs: Codecs? = nil) async throws(NetworkError) {
        try await core.perform(route, as: Void.self, codecs, decode: { _, _, _ in }) { _, _ in }
    }

    /// Sends `endpoint` and gives its answer with status, headers, metrics, attempts and the URL that answered. Throws
    /// as `send` does.
    @concurrent
    public func response<E: Endpoint>(
        for endpoint: E, codecs: Codecs? = nil
    ) async throws(NetworkError) -> Response<E.Response> {
        try await core.perform(endpoint, codecs, finish: Response.init)
    }

    /// Sends an inline request and gives its answer with status, headers, metrics, attempts and the URL that answered.
    /// Throws as `send` does.
    @concurrent
    public func response<Value>(
        for request: Request<Value>, codecs: Codecs? = nil
    ) async throws(NetworkError) -> Response<Value> {
        try await core.perform(request, codecs, finish: Response.init)
    }

    /// Sends `route` and gives its answer, decoded as the type that is named or expected, with status, headers, metrics
    /// and the URL that answered.
    @concurrent
    public func response<Value: Decodable & Sendable>(
        for route: some Route, as type: Value.Type = Value.self, codecs: Codecs? = nil
    ) async throws(NetworkError) -> Response<Value> {
        try await core.perform(
            route, as: type, codecs, decode: { try await $1.decoded(as: type, using: $2) }, finish: Response.init)
    }

    /// Sends `route` for nothing, and gives status, headers, metrics and the URL that answered.
    @concurrent @_disfavoredOverload
    public func response(for route: some Route, codecs: Codecs? = nil) async throws(NetworkError) -> Response<Void> {
        try await core.perform(route, as: Void.self, codecs, decode: { _, _, _ in }, finish: Response.init)
    }
}
