// SPDX-License-Identifier: MIT

public import CurlewHTTP

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

    /// Creates a call with any method to an absolute URL, under the rules of `HTTPRequest.init`. If the URL is invalid,
    /// `send` throws `.invalidRequest`.
    ///
    /// The call does not send the client's query items. To an origin other than the client's, it also sends no
    /// credentials, and only `Accept` and `User-Agent` from the client's fields.
    @_disfavoredOverload
    public init(
        _ method: HTTPMethod, url: String, body: RequestContent = .none, headers: HTTPHeaders = HTTPHeaders(),
        name: String = #function
    ) {
        self.init(method, AbsoluteURL(url), body: body, headers: headers, name: name) { response, _ in response }
    }
}
