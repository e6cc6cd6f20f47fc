// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Messages that are complete already, as calls: made by an app's older code, by a generator, or from a `URLRequest`.
///
///     let user = try await client.send(Request<User>(message))
///
/// What goes out is the message, to its own URL and with its own body and media type. Of the client it gets the fields and
/// query items that it does not name itself, if it goes to the client's origin.
extension Request where Value: Decodable {
    /// A call whose answer is decoded, or taken as `Data` or `String`.
    public init(_ message: HTTPRequest, name: String = "HTTPRequest") {
        self.init(message, name: name) { try await $0.decoded(as: Value.self, using: $1) }
    }
}

extension Request where Value == Void {
    /// A call whose status counts alone.
    public init(_ message: HTTPRequest, name: String = "HTTPRequest") {
        self.init(message, name: name) { _, _ in }
    }
}

extension Request where Value == HTTPResponse {
    /// A call that takes the answer as it comes, whatever its status.
    public init(_ message: HTTPRequest, name: String = "HTTPRequest") {
        self.init(message, name: name) { response, _ in response }
    }
}

extension Request {
    /// A message that is complete already, as a call: it is sent to its own URL with its own body and media type.
    package init(
        _ message: HTTPRequest, name: String, decode: @escaping @Sendable (HTTPResponse, Codecs) async throws -> Value
    ) {
        self.init(
            message.method, RequestPath(target: message.target), headers: message.headers,
            content: message.body.isEmpty ? .none : .complete(message.body), name: name, decode: decode)
        baseURL = BaseURL(origin: message.origin)
    }

    /// A call that throws `problem` when it is sent, for what could not become a message.
    package init(
        refusing problem: NetworkError, name: String,
        decode: @escaping @Sendable (HTTPResponse, Codecs) async throws -> Value
    ) {
        self.init(.get, RequestPath(refused: problem), name: name, decode: decode)
    }
}
