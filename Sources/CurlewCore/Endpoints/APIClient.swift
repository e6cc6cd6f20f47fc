// SPDX-License-Identifier: MIT

package import CurlewHTTP

/// A client that sends typed calls: the entry point of the package.
///
///     let client = APIClient(baseURL: "https://dummyjson.com")
///     let user = try await client.send(.user(id: 1))
///
/// A client is a value. Copies are cheap, and they share connections and the state of interceptors. Creating a client
/// never fails and opens no connection. `problems` and `description` list configuration errors, and calls throw them.
///
/// Calls run off the caller's actor, including decoding, and throw only `NetworkError`. Only the closure of
/// `withResponse` runs on the caller's actor, and its errors are rethrown unchanged.
public struct APIClient: Sendable {
    let core: Core

    /// Creates a client that sends over `transport`.
    ///
    /// - `baseURL`: the URL to which paths are appended. Nil for a client that only sends to absolute URLs.
    /// - `pipeline`: exactly these interceptors, in this order.
    public init(
        baseURL: BaseURL?, pipeline: Pipeline, transport: any Transport,
        configuration: APIClient.Configuration = APIClient.Configuration()
    ) {
        core = Core(baseURL: baseURL, pipeline: pipeline, transport: transport, configuration: configuration)
    }

    /// Creates a client for calls to `origin` on behalf of the call of `context` (`ExchangeContext.cause`), whose
    /// observers receive the events. The new client has the configuration of that call's client, but none of its
    /// options.
    ///
    /// The path of the base URL, the header fields and the query items of that client are kept only if its origin
    /// shares them with `origin` (`Origin.shares(with:)`): the same origin, or https on the same host instead of http.
    package init(
        onBehalfOf context: ExchangeContext, to origin: Origin, pipeline: Pipeline, transport: any Transport
    ) {
        var settings = context.settings as? Core.Settings ?? Core.Settings()
        settings.configuration.time = context.time
        settings.configuration.fields = context.fields
        settings.configuration.observers = []
        var path = ""
        if let base = settings.baseURL, base.origin?.shares(with: origin) == true {
            path = base.path
        } else {
            settings.configuration.headers = HTTPHeaders()
            settings.query = QueryItems()
        }
        core = Core(
            baseURL: BaseURL(origin: origin, path: path), pipeline: pipeline, transport: transport,
            configuration: settings.configuration, query: settings.query, events: context.events, cause: context.id)
    }

    init(_ core: Core) {
        self.core = core
    }

    /// Sends `endpoint` and returns its decoded response.
    ///
    /// - `codecs`: the codecs for this call. Default nil: those of the call's options, or else those of the client.
    ///
    /// Runs off the caller's actor, including decoding. Throws `NetworkError` for every failure, also for a status that
    /// is no success. When the task is cancelled, the call throws immediately, apart from the wait for slow observers
    /// (`RequestObserver`), and `error.isCancelled` is true.
    @concurrent @discardableResult
    public func send<E: Endpoint>(_ endpoint: E, codecs: Codecs? = nil) async throws(NetworkError) -> E.Response {
        let call = try await core.make(endpoint, response: E.Response.self, codecs)
        return try await core.exchanger.exchange(call.request, in: call.context) { response in
            try await core.decode(response, to: endpoint, call)
        }
    }

    /// Sends `request` and returns the decoded response: `try await client.send(.user(id: 1))`. The parameters and
    /// errors are those of `send` for an endpoint.
    ///
    /// `Route.decoding(_:)` and `Route.ignoringBody()` create a `Request` from a route.
    @concurrent @discardableResult
    public func send<Value>(_ request: Request<Value>, codecs: Codecs? = nil) async throws(NetworkError) -> Value {
        let call = try await core.make(request, response: Value.self, codecs)
        return try await core.exchanger.exchange(call.request, in: call.context) { response in
            try await core.decode(response, to: request, call)
        }
    }

    /// Sends `endpoint` and returns its decoded response with status, headers, metrics, attempts and the final URL.
    /// Parameters and errors are those of `send`.
    @concurrent
    public func response<E: Endpoint>(
        for endpoint: E, codecs: Codecs? = nil
    ) async throws(NetworkError) -> Response<E.Response> {
        let call = try await core.make(endpoint, response: E.Response.self, codecs)
        return try await core.exchanger.exchange(call.request, in: call.context) { response in
            Response(try await core.decode(response, to: endpoint, call), from: response)
        }
    }

    /// Sends `request` and returns the decoded response with status, headers, metrics, attempts and the final URL.
    /// Parameters and errors are those of `send`.
    @concurrent
    public func response<Value>(
        for request: Request<Value>, codecs: Codecs? = nil
    ) async throws(NetworkError) -> Response<Value> {
        let call = try await core.make(request, response: Value.self, codecs)
        return try await core.exchanger.exchange(call.request, in: call.context) { response in
            Response(try await core.decode(response, to: request, call), from: response)
        }
    }
}
