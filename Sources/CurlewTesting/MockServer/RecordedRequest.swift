// SPDX-License-Identifier: MIT

public import CurlewFoundation
public import CurlewHTTP

/// A request that a ``MockServer`` received.
public struct RecordedRequest: RecordedMessage {
    /// The request method.
    public let method: HTTPMethod
    /// The request target as sent, with the query, such as "/users/1?full=true".
    public let target: String
    /// The HTTP version of the request.
    public let version: HTTPVersion
    /// The header fields as sent by the client.
    public let headers: HTTPHeaders
    /// The content without its chunk framing.
    public let body: Data
    /// The trailer fields of chunked content; empty if there are none.
    public let trailers: HTTPHeaders
    /// The parameters of the route's path, percent-decoded except for a `*` parameter: `parameters["id"]` for
    /// "/users/:id". Empty if no route matched.
    public internal(set) var parameters = PathParameters()
    /// The index of the connection on which the request arrived. The first accepted connection has the index 0.
    public let connectionIndex: Int
    /// The index of the exchange on its connection. The first exchange has the index 0.
    public let exchangeIndex: Int

    let keepAlive: Bool

    package init(
        method: HTTPMethod, target: String, version: HTTPVersion, headers: HTTPHeaders, body: Data,
        trailers: HTTPHeaders, connectionIndex: Int, exchangeIndex: Int, keepAlive: Bool
    ) {
        self.method = method
        self.target = target
        self.version = version
        self.headers = headers
        self.body = body
        self.trailers = trailers
        self.connectionIndex = connectionIndex
        self.exchangeIndex = exchangeIndex
        self.keepAlive = keepAlive
    }

    /// Decodes the content as JSON. Throws a `DecodingError` if the content is not valid for the type.
    public func json<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: body)
    }
}

extension RecordedRequest {
    /// The method, the path and the indices, such as "GET /users/1 (connection 0, exchange 2)". The query is omitted,
    /// because it may contain secrets.
    public var description: String {
        "\(method) \(path) (connection \(connectionIndex), exchange \(exchangeIndex))"
    }
}
