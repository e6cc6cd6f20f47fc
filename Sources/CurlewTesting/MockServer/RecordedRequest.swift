// SPDX-License-Identifier: MIT

public import CurlewHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A request as a ``MockServer`` received it.
public struct RecordedRequest: Sendable {
    /// The method.
    public let method: HTTPMethod
    /// The request target as sent, with the query: "/users/1?full=true".
    public let target: String
    /// The HTTP version of the request.
    public let version: HTTPVersion
    /// The header fields as sent.
    public let headers: HTTPHeaders
    /// The content, without chunk framing.
    public let body: Data
    /// The trailer fields of chunked content; empty if there are none.
    public let trailers: HTTPHeaders
    /// The path parameters of the route, percent-decoded: `parameters["id"]` for "/users/:id".
    public internal(set) var parameters = PathParameters()
    /// The index of the connection on which the request arrived: 0 for the first one accepted.
    public let connectionIndex: Int
    /// The index of the exchange on that connection: 0 for the first.
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

    /// The path as sent: the target without its query, percent-encoded.
    public var path: String {
        String(pathAndQuery.prefix { $0 != "?" })
    }

    /// The query items in order, decoded; "+" is a space. Text that cannot be decoded is returned as sent.
    public var queryItems: [QueryItem] {
        guard let mark = pathAndQuery.firstIndex(of: "?") else { return [] }
        return pathAndQuery[mark...].dropFirst().split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let decoded = parts.map { PercentCoding.decodeForm($0) ?? $0 }
            return QueryItem(name: decoded[0], value: decoded.count > 1 ? decoded[1] : nil)
        }
    }

    /// A query item.
    public struct QueryItem: Hashable, Sendable {
        /// The decoded name.
        public let name: String
        /// The decoded value; `nil` without a "=".
        public let value: String?
    }

    /// Returns the value of the first query item with the name.
    public func query(_ name: String) -> String? {
        queryItems.first { $0.name == name }?.value
    }

    /// The content as text; bytes that are not valid UTF-8 are replaced.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// Decodes the content as JSON.
    public func json<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: body)
    }

    private var pathAndQuery: Substring {
        // A client of a proxy sends the whole URL.
        if !target.hasPrefix("/"), let parts = try? URLParts(target) { return parts.target[...] }
        return target[...]
    }
}

extension RecordedRequest: CustomStringConvertible, CustomReflectable {
    /// "GET /users/1 (connection 0, exchange 2)", without the query, which may contain secrets.
    public var description: String {
        "\(method) \(path) (connection \(connectionIndex), exchange \(exchangeIndex))"
    }

    /// Shows only the description, also in debuggers and `dump`.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
