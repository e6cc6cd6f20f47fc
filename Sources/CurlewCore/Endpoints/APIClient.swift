// SPDX-License-Identifier: MIT

package import CurlewHTTP

/// A client that sends typed calls: the entry point of the package.
///
///     let client = APIClient(baseURL: "https://dummyjson.com")
///     let user = try await client.send(.user(id: 1))
///
/// A client is a value. Copies are cheap, and they share connections and the state of interceptors. Creating a client
/// never fails and opens no connection. Configuration errors are listed in `problems` and in `description`, and every
/// `send` throws them.
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
        configuration: APIClient.Configuration = APIClient.Configuration()
    ) {
        core = Core(baseURL: baseURL, pipeline: pipeline, transport: transport, configuration: configuration)
    }

    /// Creates a client for calls to `origin` on behalf of another call (`ExchangeContext.cause`). It has the settings
    /// of the client of that call, but another pipeline. The observers of that call receive the events.
    ///
    /// The path of the base URL, the header fields and the query items belong to the origin of that client. For any
    /// other origin they are omitted, except for the https origin of the same host (`Origin.shares(with:)`).
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
    /// - `codecs`: the codecs for this call, instead of the client's.
    ///
    /// Runs off the caller's actor, including decoding. Throws `NetworkError`. When the task is cancelled, it throws
    /// immediately, apart from the wait for slow observers (`RequestObserver`), and `error.isCancelled` is true.
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
    /// Throws as `send` does.
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
    /// Throws as `send` does.
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
