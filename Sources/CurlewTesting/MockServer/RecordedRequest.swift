// SPDX-License-Identifier: MIT

public import CurlewFoundation
public import CurlewHTTP

/// A request that a ``MockServer`` received.
public struct RecordedRequest: Sendable {
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

    /// The path of the target without the query, percent-encoded as sent.
    public var path: String {
        String(pathAndQuery.prefix { $0 != "?" })
    }

    /// The decoded query items in order. "+" is a space. Text that cannot be decoded is returned as sent.
    public var queryItems: [QueryItem] {
        guard let mark = pathAndQuery.firstIndex(of: "?") else { return [] }
        return pathAndQuery[mark...].dropFirst().split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let decoded = parts.map { PercentCoding.decodeForm($0) ?? $0 }
            return QueryItem(name: decoded[0], value: decoded.count > 1 ? decoded[1] : nil)
        }
    }

    /// A name in the query, with its value.
    public struct QueryItem: Hashable, Sendable {
        /// The decoded name.
        public let name: String
        /// The decoded value; `nil` if the item has no "=".
        public let value: String?
    }

    /// Returns the decoded value of the first query item with this name; `nil` if there is no such item or it has no
    /// "=".
    public func query(_ name: String) -> String? {
        queryItems.first { $0.name == name }?.value
    }

    /// The content as text. Bytes that are not valid UTF-8 are replaced.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// Decodes the content as JSON. Throws a `DecodingError` if the content is not valid for the type.
    public func json<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: body)
    }

    private var pathAndQuery: Substring {
        // A client that uses a proxy sends the complete URL as the target.
        if !target.hasPrefix("/"), let parts = try? URLParts(target) { return parts.target[...] }
        return target[...]
    }
}

extension RecordedRequest: CustomStringConvertible, CustomReflectable {
    /// The method, the path and the indices, such as "GET /users/1 (connection 0, exchange 2)". The query is omitted,
    /// because it may contain secrets.
    public var description: String {
        "\(method) \(path) (connection \(connectionIndex), exchange \(exchangeIndex))"
    }

    /// A mirror that shows only the description, so that a dump contains no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
