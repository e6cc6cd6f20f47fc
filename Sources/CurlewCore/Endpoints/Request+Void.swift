// SPDX-License-Identifier: MIT

public import CurlewHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Calls that check only the status. The response body is ignored. For `body` and `json` see the calls with a value.
extension Request where Value == Void {
    /// Creates a call of any method.
    public init(
        _ method: HTTPMethod, _ path: RequestPath, query: QueryItems = QueryItems(), body: RequestContent = .none,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) {
        self.init(method, path, query: query, body: body, headers: headers, name: name, decode: Self.ignored)
    }

    /// Creates a call of any method to an absolute URL, under the rules of `HTTPRequest.init`. `send` throws for an
    /// invalid URL.
    ///
    /// For another origin than the client's, the call has none of its fields, query items and credentials.
    public init(
        _ method: HTTPMethod, url: String, body: RequestContent = .none, headers: HTTPHeaders = HTTPHeaders(),
        name: String = #function
    ) {
        self.init(method, AbsoluteURL(url), body: body, headers: headers, name: name, decode: Self.ignored)
    }

    /// Creates a call of any method to an absolute URL.
    public init(
        _ method: HTTPMethod, url: URL, body: RequestContent = .none, headers: HTTPHeaders = HTTPHeaders(),
        name: String = #function
    ) {
        self.init(method, url: url.absoluteString, body: body, headers: headers, name: name)
    }

    /// GET of an absolute URL. One of another origin gets none of the client's fields, query items and credentials.
    public static func get(url: String, headers: HTTPHeaders = HTTPHeaders(), name: String = #function) -> Self {
        Self(.get, url: url, headers: headers, name: name)
    }

    /// GET of an absolute URL. One of another origin gets none of the client's fields, query items and credentials.
    public static func get(url: URL, headers: HTTPHeaders = HTTPHeaders(), name: String = #function) -> Self {
        Self(.get, url: url.absoluteString, headers: headers, name: name)
    }

    /// GET of a path below the base URL.
    public static func get(
        _ path: RequestPath, query: QueryItems = QueryItems(), headers: HTTPHeaders = HTTPHeaders(),
        name: String = #function
    ) -> Self {
        Self(.get, path, query: query, headers: headers, name: name)
    }

    /// HEAD: the response has no body.
    public static func head(
        _ path: RequestPath, query: QueryItems = QueryItems(), headers: HTTPHeaders = HTTPHeaders(),
        name: String = #function
    ) -> Self {
        Self(.head, path, query: query, headers: headers, name: name)
    }

    /// POST with any body, or none. Not idempotent: sent again only if it never arrived, or the options allow it.
    public static func post(
        _ path: RequestPath, query: QueryItems = QueryItems(), body: RequestContent = .none,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) -> Self {
        Self(.post, path, query: query, body: body, headers: headers, name: name)
    }

    /// POST with a value as JSON, encoded by the client's codec when the call is sent.
    public static func post(
        _ path: RequestPath, query: QueryItems = QueryItems(), json: some Encodable & Sendable,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) -> Self {
        Self(.post, path, query: query, body: .json(json), headers: headers, name: name)
    }

    /// PUT with any body, or none. Idempotent: may be tried again.
    public static func put(
        _ path: RequestPath, query: QueryItems = QueryItems(), body: RequestContent = .none,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) -> Self {
        Self(.put, path, query: query, body: body, headers: headers, name: name)
    }

    /// PUT with a value as JSON, encoded by the client's codec when the call is sent.
    public static func put(
        _ path: RequestPath, query: QueryItems = QueryItems(), json: some Encodable & Sendable,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) -> Self {
        Self(.put, path, query: query, body: .json(json), headers: headers, name: name)
    }

    /// PATCH with any body, or none. Not idempotent (RFC 5789 §2): sent again only if it never arrived, or the options
    /// allow it.
    public static func patch(
        _ path: RequestPath, query: QueryItems = QueryItems(), body: RequestContent = .none,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) -> Self {
        Self(.patch, path, query: query, body: body, headers: headers, name: name)
    }

    /// PATCH with a value as JSON, encoded by the client's codec when the call is sent.
    public static func patch(
        _ path: RequestPath, query: QueryItems = QueryItems(), json: some Encodable & Sendable,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) -> Self {
        Self(.patch, path, query: query, body: .json(json), headers: headers, name: name)
    }

    /// DELETE, usually without a body. Idempotent: may be tried again.
    public static func delete(
        _ path: RequestPath, query: QueryItems = QueryItems(), body: RequestContent = .none,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) -> Self {
        Self(.delete, path, query: query, body: body, headers: headers, name: name)
    }

    @Sendable private static func ignored(_ response: HTTPResponse, _ codecs: Codecs) async throws {}
}
