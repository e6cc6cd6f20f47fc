// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// Calls that check only the status and ignore the body of the response. Parameters and rules are those of the calls
/// whose response is decoded.
extension Request where Value == Void {
    /// Creates a call with any method to a path below the base URL.
    public init(
        _ method: HTTPMethod, _ path: RequestPath, query: QueryItems = QueryItems(), body: RequestContent = .none,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) {
        self.init(method, path, query: query, body: body, headers: headers, name: name) { _, _ in }
    }

    /// Creates a call with any method to an absolute URL, as the initializer for decoded responses does: if the URL is
    /// invalid, `send` throws `.invalidRequest`, and credentials of the client's origin are not sent to another one.
    public init(
        _ method: HTTPMethod, url: String, body: RequestContent = .none, headers: HTTPHeaders = HTTPHeaders(),
        name: String = #function
    ) {
        self.init(method, absolute: url, takesWebSocket: true, body: body, headers: headers, name: name) { _, _ in }
    }

    /// Creates a GET call to an absolute URL, by the rules of `init(_:url:body:headers:name:)`: without the client's
    /// query items and, to another origin than the client's, without its credentials and most of its fields. For
    /// `client.webSocket`, the URL may begin with `ws:` or `wss:` (RFC 6455 §3).
    public static func get(url: String, headers: HTTPHeaders = HTTPHeaders(), name: String = #function) -> Self {
        Self(.get, url: url, headers: headers, name: name)
    }

    /// Creates a GET call to a path below the base URL.
    public static func get(
        _ path: RequestPath, query: QueryItems = QueryItems(), headers: HTTPHeaders = HTTPHeaders(),
        name: String = #function
    ) -> Self {
        Self(.get, path, query: query, headers: headers, name: name)
    }

    /// Creates a HEAD call. The response has no body.
    public static func head(
        _ path: RequestPath, query: QueryItems = QueryItems(), headers: HTTPHeaders = HTTPHeaders(),
        name: String = #function
    ) -> Self {
        Self(.head, path, query: query, headers: headers, name: name)
    }

    /// Creates a POST call with any body, or none. POST is not idempotent.
    public static func post(
        _ path: RequestPath, query: QueryItems = QueryItems(), body: RequestContent = .none,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) -> Self {
        Self(.post, path, query: query, body: body, headers: headers, name: name)
    }

    /// Creates a POST call whose body is `json`, encoded as by `RequestContent.json(_:)` when the call is sent.
    public static func post(
        _ path: RequestPath, query: QueryItems = QueryItems(), json: some Encodable & Sendable,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) -> Self {
        Self(.post, path, query: query, body: .json(json), headers: headers, name: name)
    }

    /// Creates a PUT call with any body, or none. PUT is idempotent: the request may be retried.
    public static func put(
        _ path: RequestPath, query: QueryItems = QueryItems(), body: RequestContent = .none,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) -> Self {
        Self(.put, path, query: query, body: body, headers: headers, name: name)
    }

    /// Creates a PUT call whose body is `json`, encoded as by `RequestContent.json(_:)` when the call is sent.
    public static func put(
        _ path: RequestPath, query: QueryItems = QueryItems(), json: some Encodable & Sendable,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) -> Self {
        Self(.put, path, query: query, body: .json(json), headers: headers, name: name)
    }

    /// Creates a PATCH call with any body, or none. PATCH is not idempotent (RFC 5789 §2).
    public static func patch(
        _ path: RequestPath, query: QueryItems = QueryItems(), body: RequestContent = .none,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) -> Self {
        Self(.patch, path, query: query, body: body, headers: headers, name: name)
    }

    /// Creates a PATCH call whose body is `json`, encoded as by `RequestContent.json(_:)` when the call is sent.
    public static func patch(
        _ path: RequestPath, query: QueryItems = QueryItems(), json: some Encodable & Sendable,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) -> Self {
        Self(.patch, path, query: query, body: .json(json), headers: headers, name: name)
    }

    /// Creates a DELETE call, usually without a body. DELETE is idempotent: the request may be retried.
    public static func delete(
        _ path: RequestPath, query: QueryItems = QueryItems(), body: RequestContent = .none,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) -> Self {
        Self(.delete, path, query: query, body: body, headers: headers, name: name)
    }
}

/// Calls that return the response unchanged, whatever its status:
/// `Request<HTTPResponse>(.put, "/films/1", body: .json(film))`.
///
/// If a call does not name its type, the other kinds of `Request` take precedence: `client.send(.get("/health"))` sends
/// a `Request<Void>`.
extension Request where Value == HTTPResponse {
    /// Creates a call with any method to a path below the base URL.
    @_disfavoredOverload
    public init(
        _ method: HTTPMethod, _ path: RequestPath, query: QueryItems = QueryItems(), body: RequestContent = .none,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) {
        self.init(method, path, query: query, body: body, headers: headers, name: name) { response, _ in response }
    }

    /// Creates a call with any method to an absolute URL, as the initializer for decoded responses does: if the URL is
    /// invalid, `send` throws `.invalidRequest`, and credentials of the client's origin are not sent to another one.
    @_disfavoredOverload
    public init(
        _ method: HTTPMethod, url: String, body: RequestContent = .none, headers: HTTPHeaders = HTTPHeaders(),
        name: String = #function
    ) {
        self.init(method, absolute: url, body: body, headers: headers, name: name) { response, _ in response }
    }
}
