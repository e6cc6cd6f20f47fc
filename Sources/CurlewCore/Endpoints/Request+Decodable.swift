// SPDX-License-Identifier: MIT

public import CurlewHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Calls whose response is decoded, or returned as `Data` or `String`.
extension Request where Value: Decodable {
    /// Creates a call of any method.
    public init(
        _ method: HTTPMethod, _ path: RequestPath, query: QueryItems = QueryItems(),
        headers: HTTPHeaders = HTTPHeaders(), content: RequestContent = .none, name: String = #function
    ) {
        self.init(
            method, path, query: query, headers: headers, content: content, name: name, decode: Self.decoded)
    }

    /// Creates a call to an absolute URL, under the rules of `HTTPRequest.init`. `send` throws for an invalid URL.
    ///
    /// For another origin than the client's, the call has none of its fields, query items and credentials.
    public init(
        _ method: HTTPMethod, url: String, headers: HTTPHeaders = HTTPHeaders(), content: RequestContent = .none,
        name: String = #function
    ) {
        self.init(method, AbsoluteURL(url), headers: headers, content: content, name: name, decode: Self.decoded)
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

    /// POST with any body, or none. Not idempotent: sent again only if it never arrived, or the options allow it.
    public static func post(
        _ path: RequestPath, query: QueryItems = QueryItems(), body: RequestContent = .none,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) -> Self {
        Self(.post, path, query: query, headers: headers, content: body, name: name)
    }

    /// POST with a value as JSON, encoded by the client's codec when the call is sent.
    public static func post(
        _ path: RequestPath, query: QueryItems = QueryItems(), json: some Encodable & Sendable,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) -> Self {
        Self(.post, path, query: query, headers: headers, content: .json(json), name: name)
    }

    /// POST with a literal as JSON: `json: ["name": "Ann", "age": 31]`.
    public static func post(
        _ path: RequestPath, query: QueryItems = QueryItems(), json: JSONValue,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) -> Self {
        Self(.post, path, query: query, headers: headers, content: .json(json), name: name)
    }

    /// POST with form fields, in their order: `form: ["grant_type": "password"]`.
    public static func post(
        _ path: RequestPath, query: QueryItems = QueryItems(), form: QueryItems,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) -> Self {
        Self(.post, path, query: query, headers: headers, content: .form(form), name: name)
    }

    /// POST with a value as a form: members become fields, nested ones `a[b]`, lists repeat the name.
    @_disfavoredOverload
    public static func post(
        _ path: RequestPath, query: QueryItems = QueryItems(), form: some Encodable & Sendable,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) -> Self {
        Self(.post, path, query: query, headers: headers, content: .form(form), name: name)
    }

    /// POST with fields and files (RFC 7578), streamed from the disk.
    public static func post(
        _ path: RequestPath, query: QueryItems = QueryItems(), multipart: MultipartForm,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) -> Self {
        Self(.post, path, query: query, headers: headers, content: .multipart(multipart), name: name)
    }

    /// PUT with any body, or none. Idempotent: may be tried again.
    public static func put(
        _ path: RequestPath, query: QueryItems = QueryItems(), body: RequestContent = .none,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) -> Self {
        Self(.put, path, query: query, headers: headers, content: body, name: name)
    }

    /// PUT with a value as JSON, encoded by the client's codec when the call is sent.
    public static func put(
        _ path: RequestPath, query: QueryItems = QueryItems(), json: some Encodable & Sendable,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) -> Self {
        Self(.put, path, query: query, headers: headers, content: .json(json), name: name)
    }

    /// PUT with a literal as JSON: `json: ["name": "Ann", "age": 31]`.
    public static func put(
        _ path: RequestPath, query: QueryItems = QueryItems(), json: JSONValue,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) -> Self {
        Self(.put, path, query: query, headers: headers, content: .json(json), name: name)
    }

    /// PUT with fields and files (RFC 7578), streamed from the disk.
    public static func put(
        _ path: RequestPath, query: QueryItems = QueryItems(), multipart: MultipartForm,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) -> Self {
        Self(.put, path, query: query, headers: headers, content: .multipart(multipart), name: name)
    }

    /// PATCH with any body, or none. Not idempotent (RFC 5789 §2): sent again only if it never arrived, or the options
    /// allow it.
    public static func patch(
        _ path: RequestPath, query: QueryItems = QueryItems(), body: RequestContent = .none,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) -> Self {
        Self(.patch, path, query: query, headers: headers, content: body, name: name)
    }

    /// PATCH with a value as JSON, encoded by the client's codec when the call is sent.
    public static func patch(
        _ path: RequestPath, query: QueryItems = QueryItems(), json: some Encodable & Sendable,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) -> Self {
        Self(.patch, path, query: query, headers: headers, content: .json(json), name: name)
    }

    /// PATCH with a literal as JSON: `json: ["name": "Ann", "age": 31]`.
    public static func patch(
        _ path: RequestPath, query: QueryItems = QueryItems(), json: JSONValue,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) -> Self {
        Self(.patch, path, query: query, headers: headers, content: .json(json), name: name)
    }

    /// DELETE, usually without a body. Idempotent: may be tried again.
    public static func delete(
        _ path: RequestPath, query: QueryItems = QueryItems(), body: RequestContent = .none,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) -> Self {
        Self(.delete, path, query: query, headers: headers, content: body, name: name)
    }

    /// QUERY: a safe request with a body that says what is asked for (RFC 10008).
    public static func query(
        _ path: RequestPath, query: QueryItems = QueryItems(), body: RequestContent,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) -> Self {
        Self(.query, path, query: query, headers: headers, content: body, name: name)
    }

    /// QUERY with a value as JSON, encoded by the client's codec when the call is sent (RFC 10008).
    public static func query(
        _ path: RequestPath, query: QueryItems = QueryItems(), json: some Encodable & Sendable,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) -> Self {
        Self(.query, path, query: query, headers: headers, content: .json(json), name: name)
    }

    @Sendable private static func decoded(_ response: HTTPResponse, _ codecs: Codecs) async throws -> Value {
        try await response.decoded(as: Value.self, using: codecs)
    }
}
