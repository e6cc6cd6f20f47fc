// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// A typed call written inline: an `Endpoint` that a function creates, without a separate type.
///
///     extension Request {
///         static func user(id: Int) -> Request<User> { .get("/users/\(id)") }
///         static var users: Request<[User]> { .get("/users", query: ["sort": "name"]) }
///         static func create(_ user: NewUser) -> Request<User> { .post("/users", json: user) }
///         static func remove(id: Int) -> Request<Void> { .delete("/users/\(id)") }
///     }
///     let user = try await client.send(.user(id: 1))
///
/// The type `Value` selects how the response is decoded, under the rules of `Endpoint`. Sending a call builds an
/// `HTTPRequest`.
public struct Request<Value: Sendable>: Endpoint {
    /// The type of the decoded response. It is explicit, because an inferred type may select another default
    /// implementation of `decode`.
    public typealias Response = Value

    /// The HTTP method.
    public var method: HTTPMethod
    /// The path below the base URL. If the path is invalid, `send` throws its problem.
    public var path: RequestPath
    /// The query items, sent in order after the client's own items.
    public var query: QueryItems
    /// The header fields of this call. They replace the client's fields of the same names.
    public var headers: HTTPHeaders
    /// The body before encoding.
    public var content: RequestContent
    /// The name in logs, metrics and errors. Default: the function that created the call.
    public var name: String

    /// Rarely used properties, stored in an object to keep the call small.
    private(set) var extras: Boxed<RequestExtras>?
    private let decoder: @Sendable (HTTPResponse, Codecs) async throws -> Value

    /// Creates a call whose response `decode` decodes, off the main actor and after the status check. Any error that
    /// `decode` throws is converted to `NetworkError`.
    public init(
        _ method: HTTPMethod, _ path: RequestPath, query: QueryItems = QueryItems(),
        body: RequestContent = .none, headers: HTTPHeaders = HTTPHeaders(), name: String = #function,
        decode: @escaping @Sendable (HTTPResponse, Codecs) async throws -> Value
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        content = body
        self.name = name
        decoder = decode
    }

    /// Creates a call to an absolute URL. If the URL is invalid, `send` throws the problem. A `ws` or `wss` URL of a
    /// call that can open a WebSocket is its `http` or `https` URL (RFC 6455 §3).
    package init(
        _ method: HTTPMethod, absolute url: String, takesWebSocket: Bool = false, body: RequestContent,
        headers: HTTPHeaders, name: String, decode: @escaping @Sendable (HTTPResponse, Codecs) async throws -> Value
    ) {
        let scheme = takesWebSocket ? url.upTo(":").lowercased() : ""
        do throws(NetworkError) {
            let parts = try HTTPRequest.parse(scheme == "ws" || scheme == "wss" ? "http" + url.dropFirst(2) : url)
            self.init(
                method, RequestPath(target: parts.target), body: body, headers: headers, name: name, decode: decode)
            baseURL = BaseURL(origin: parts.origin)
        } catch {
            self.init(method, RequestPath(refused: error), body: body, headers: headers, name: name, decode: decode)
        }
    }

    /// Creates a call that sends the request of `route` and decodes the response with `decode`.
    init(
        _ route: some Route, extras: RequestExtras,
        decode: @escaping @Sendable (HTTPResponse, Codecs) async throws -> Value
    ) {
        self.init(
            route.method, route.path, query: route.query, body: route.content, headers: route.headers,
            name: route.name, decode: decode)
        self.extras = Boxed(extras)
    }

    /// Creates a call that sends `endpoint`, and whose properties can be changed. Typed stubs of a mock match the
    /// endpoint.
    package init<E: Endpoint>(sending endpoint: E) where E.Response == Value {
        self.init(
            endpoint, extras: RequestExtras(options: endpoint.options, baseURL: endpoint.baseURL, route: endpoint)
        ) { try await endpoint.decode($0, using: $1) }
    }

    /// The options of the call, which take precedence over the client's.
    public var options: RequestOptions {
        get { extras?.value.options ?? RequestOptions() }
        set { setExtras { $0.options = newValue } }
    }

    /// The base URL of the call; nil for the client's. See `Route.baseURL`.
    public var baseURL: BaseURL? {
        get { extras?.value.baseURL }
        set { setExtras { $0.baseURL = newValue } }
    }

    private mutating func setExtras(_ change: (inout RequestExtras) -> Void) {
        extras = (extras ?? Boxed(RequestExtras())).changed(change)
    }

    /// Decodes the response with the closure that was passed when the call was created.
    public func decode(_ response: HTTPResponse, using codecs: Codecs) async throws -> Value {
        try await decoder(response, codecs)
    }
}

/// The properties of a call that few calls set.
struct RequestExtras: Sendable {
    var options = RequestOptions()
    var baseURL: BaseURL?
    /// The route from which the call was created; nil if there was none.
    var route: (any Route)?
}

extension Request: RouteWrapper, MirroredByDescription {
    package var route: (any Route)? { extras?.value.route }

    /// The name and method, the names of query items and fields, and the kind of the content:
    /// `search(text:): GET, query q, fields X-Device`. Values and the path are omitted, because only the client that
    /// sends the call knows which values are secrets. `print(try client.request(for: call))` shows the values that are
    /// not secret.
    public var description: String {
        var parts = ["\(name): \(method)"]
        if !query.isEmpty { parts.append("query " + query.items.map(\.name).joined(separator: " ")) }
        if !headers.isEmpty { parts.append("fields " + headers.map(\.name.text).joined(separator: " ")) }
        if content.mediaType != nil { parts.append("\(content)") }
        return parts.joined(separator: ", ").printable
    }
}
