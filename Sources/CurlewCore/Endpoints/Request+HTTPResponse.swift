// SPDX-License-Identifier: MIT

public import CurlewHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Calls that return the response unchanged, whatever its status:
/// `Request<HTTPResponse>(.put, "/films/1", body: .json(film))`.
///
/// Other kinds take precedence where a call names no type, so `client.send(.get("/health"))` is a call without a
/// response value.
extension Request where Value == HTTPResponse {
    /// Creates a call of any method.
    @_disfavoredOverload
    public init(
        _ method: HTTPMethod, _ path: RequestPath, query: QueryItems = QueryItems(), body: RequestContent = .none,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) {
        self.init(method, path, query: query, body: body, headers: headers, name: name, decode: Self.unchanged)
    }

    /// Creates a call of any method to an absolute URL, under the rules of `HTTPRequest.init`. `send` throws for an
    /// invalid URL.
    ///
    /// For another origin than the client's, the call has none of its fields, query items and credentials.
    @_disfavoredOverload
    public init(
        _ method: HTTPMethod, url: String, body: RequestContent = .none, headers: HTTPHeaders = HTTPHeaders(),
        name: String = #function
    ) {
        self.init(method, AbsoluteURL(url), body: body, headers: headers, name: name, decode: Self.unchanged)
    }

    /// Creates a call of any method to an absolute URL.
    @_disfavoredOverload
    public init(
        _ method: HTTPMethod, url: URL, body: RequestContent = .none, headers: HTTPHeaders = HTTPHeaders(),
        name: String = #function
    ) {
        self.init(method, url: url.absoluteString, body: body, headers: headers, name: name)
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

    @Sendable private static func unchanged(_ response: HTTPResponse, _ codecs: Codecs) async throws -> HTTPResponse {
        response
    }
}
