// SPDX-License-Identifier: MIT

public import CurlewHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Calls that return the response unchanged, whatever its status. Other kinds take precedence where a call names no
/// type, so `client.send(.delete("/users/1"))` is a call without a response value.
extension Request where Value == HTTPResponse {
    /// Creates a call of any method.
    @_disfavoredOverload
    public init(
        _ method: HTTPMethod, _ path: RequestPath, query: QueryItems = QueryItems(),
        headers: HTTPHeaders = HTTPHeaders(), content: RequestContent = .none, name: String = #function
    ) {
        self.init(
            method, path, query: query, headers: headers, content: content, name: name, decode: Self.asItIs)
    }

    /// Creates a call to an absolute URL, under the rules of `HTTPRequest.init`. `send` throws for an invalid URL.
    ///
    /// For another origin than the client's, the call has none of its fields, query items and credentials.
    @_disfavoredOverload
    public init(
        _ method: HTTPMethod, url: String, headers: HTTPHeaders = HTTPHeaders(), content: RequestContent = .none,
        name: String = #function
    ) {
        self.init(method, AbsoluteURL(url), headers: headers, content: content, name: name, decode: Self.asItIs)
    }

    /// GET of an absolute URL. One of another origin gets none of the client's fields, query items and credentials.
    @_disfavoredOverload
    public static func get(url: String, headers: HTTPHeaders = HTTPHeaders(), name: String = #function) -> Self {
        Self(.get, url: url, headers: headers, name: name)
    }

    /// GET of an absolute URL. One of another origin gets none of the client's fields, query items and credentials.
    @_disfavoredOverload
    public static func get(url: URL, headers: HTTPHeaders = HTTPHeaders(), name: String = #function) -> Self {
        Self(.get, url: url.absoluteString, headers: headers, name: name)
    }

    /// GET of a path below the base URL.
    @_disfavoredOverload
    public static func get(
        _ path: RequestPath, query: QueryItems = QueryItems(), headers: HTTPHeaders = HTTPHeaders(),
        name: String = #function
    ) -> Self {
        Self(.get, path, query: query, headers: headers, name: name)
    }

    /// HEAD: the response has no body.
    @_disfavoredOverload
    public static func head(
        _ path: RequestPath, query: QueryItems = QueryItems(), headers: HTTPHeaders = HTTPHeaders(),
        name: String = #function
    ) -> Self {
        Self(.head, path, query: query, headers: headers, name: name)
    }

    /// POST with any body, or none. Not idempotent: sent again only if it never arrived, or the options allow it.
    @_disfavoredOverload
    public static func post(
        _ path: RequestPath, query: QueryItems = QueryItems(), body: RequestContent = .none,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) -> Self {
        Self(.post, path, query: query, headers: headers, content: body, name: name)
    }

    /// PUT with any body, or none. Idempotent: may be tried again.
    @_disfavoredOverload
    public static func put(
        _ path: RequestPath, query: QueryItems = QueryItems(), body: RequestContent = .none,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) -> Self {
        Self(.put, path, query: query, headers: headers, content: body, name: name)
    }

    /// PATCH with any body, or none. Not idempotent (RFC 5789 §2): sent again only if it never arrived, or the options
    /// allow it.
    @_disfavoredOverload
    public static func patch(
        _ path: RequestPath, query: QueryItems = QueryItems(), body: RequestContent = .none,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) -> Self {
        Self(.patch, path, query: query, headers: headers, content: body, name: name)
    }

    /// DELETE, usually without a body. Idempotent: may be tried again.
    @_disfavoredOverload
    public static func delete(
        _ path: RequestPath, query: QueryItems = QueryItems(), body: RequestContent = .none,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) -> Self {
        Self(.delete, path, query: query, headers: headers, content: body, name: name)
    }

    @Sendable private static func asItIs(_ response: HTTPResponse, _ codecs: Codecs) async throws -> HTTPResponse {
        response
    }
}
