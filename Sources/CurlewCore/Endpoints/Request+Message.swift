// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Calls made from existing `HTTPRequest` values, such as those from older code, from a generator or from a
/// `URLRequest`.
///
///     let user = try await client.send(Request<User>(message))
///
/// The request is sent to its own URL with its own body and media type. If that URL has the client's origin, the client
/// adds those of its header fields that the request does not have.
extension Request where Value: Decodable {
    /// Creates a call that sends `message` and decodes the response, or returns it as `Data` or `String`.
    public init(_ message: HTTPRequest, name: String = "HTTPRequest") {
        self.init(message, name: name) { try await $0.decoded(as: Value.self, using: $1) }
    }
}

extension Request where Value == Void {
    /// Creates a call that sends `message` and checks only the status of the response.
    public init(_ message: HTTPRequest, name: String = "HTTPRequest") {
        self.init(message, name: name) { _, _ in }
    }
}

extension Request where Value == HTTPResponse {
    /// Creates a call that sends `message` and returns the response unchanged, whatever its status.
    public init(_ message: HTTPRequest, name: String = "HTTPRequest") {
        self.init(message, name: name) { response, _ in response }
    }
}

extension Request {
    /// Creates a call from a complete request, which is sent to its own URL with its own body and media type.
    package init(
        _ message: HTTPRequest, name: String, decode: @escaping @Sendable (HTTPResponse, Codecs) async throws -> Value
    ) {
        self.init(
            message.method, RequestPath(target: message.target),
            body: message.body.isEmpty ? .none : .complete(message.body), headers: message.headers, name: name,
            decode: decode)
        baseURL = BaseURL(origin: message.origin)
    }

    /// Creates a call that throws `problem` when it is sent.
    package init(
        refusing problem: NetworkError, name: String,
        decode: @escaping @Sendable (HTTPResponse, Codecs) async throws -> Value
    ) {
        self.init(.get, RequestPath(refused: problem), name: name, decode: decode)
    }
}
