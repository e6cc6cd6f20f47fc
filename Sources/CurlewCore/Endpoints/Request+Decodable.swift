// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// Calls whose response is decoded, or returned as `Data` or `String`.
///
/// `body` is any `RequestContent`: `.form(["grant_type": "password"])`, `.multipart([.file("photo", path: path)])`,
/// `.json(["name": "Ann", "age": 31])`. `json` is the short form for a value that is encoded as JSON.
extension Request where Value: Decodable {
    /// Creates a call with any method to a path below the base URL.
    public init(
        _ method: HTTPMethod, _ path: RequestPath, query: QueryItems = QueryItems(), body: RequestContent = .none,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) {
        self.init(method, path, query: query, body: body, headers: headers, name: name) {
            try await $0.decoded(using: $1)
        }
    }

    /// Creates a call with any method to an absolute URL, under the rules of `HTTPRequest.init`. If the URL is invalid,
    /// `send` throws `.invalidRequest`.
    ///
    /// The call does not send the client's query items. To an origin other than the client's, it sends only credentials
    /// for that origin, and only `Accept` and `User-Agent` from the client's fields.
    public init(
        _ method: HTTPMethod, url: String, body: RequestContent = .none, headers: HTTPHeaders = HTTPHeaders(),
        name: String = #function
    ) {
        self.init(method, absolute: url, body: body, headers: headers, name: name) {
            try await $0.decoded(using: $1)
        }
    }

    /// Creates a GET call to an absolute URL, by the rules of `init(_:url:body:headers:name:)`: without the client's
    /// query items and, to another origin than the client's, without its credentials and most of its fields.
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

    /// Creates a POST call with any body, or none. POST is not idempotent: the request is retried only if the server
    /// cannot have received it, or if the options or an `Idempotency-Key` allow it.
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

    /// Creates a PATCH call with any body, or none. PATCH is not idempotent (RFC 5789 §2): the request is retried only
    /// if the server cannot have received it, or if the options or an `Idempotency-Key` allow it.
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

    /// Creates a QUERY call: a safe and idempotent request whose body describes the query (RFC 10008).
    public static func query(
        _ path: RequestPath, query: QueryItems = QueryItems(), body: RequestContent,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) -> Self {
        Self(.query, path, query: query, body: body, headers: headers, name: name)
    }
}
