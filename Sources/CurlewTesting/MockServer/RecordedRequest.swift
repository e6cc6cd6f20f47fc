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
    /// The version that the client spoke.
    public let version: HTTPVersion
    /// The fields as sent.
    public let headers: HTTPHeaders
    /// The content, without chunk framing.
    public let body: Data
    /// The fields behind chunked content; empty without any.
    public let trailers: HTTPHeaders
    /// What the route's path named, percent-decoded: `parameters["id"]` for "/users/:id".
    public internal(set) var parameters = PathParameters()
    /// Which connection it came on: 0 for the first one accepted.
    public let connectionIndex: Int
    /// Which exchange on that connection it is: 0 for the first.
    public let exchangeIndex: Int

    let keepAlive: Bool

    /// The path as sent: the target without its query, still percent-encoded.
    public var path: String {
        String(pathAndQuery.prefix { $0 != "?" })
    }

    /// The query's items in order, decoded; "+" is a space. Text that cannot be decoded is given as sent.
    public var queryItems: [QueryItem] {
        guard let mark = pathAndQuery.firstIndex(of: "?") else { return [] }
        return pathAndQuery[mark...].dropFirst().split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let decoded = parts.map { PercentCoding.decodeForm($0) ?? $0 }
            return QueryItem(name: decoded[0], value: decoded.count > 1 ? decoded[1] : nil)
        }
    }

    /// One item of a query.
    public struct QueryItem: Hashable, Sendable {
        /// The decoded name.
        public let name: String
        /// The decoded value; `nil` without a "=".
        public let value: String?
    }

    /// The value of the first query item of the name.
    public func query(_ name: String) -> String? {
        queryItems.first { $0.name == name }?.value
    }

    /// The content as text; bytes that are not UTF-8 are repaired.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// Decodes the content as JSON.
    public func json<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: body)
    }

    private var pathAndQuery: Substring {
        // A proxy's client sends the whole URL.
        if !target.hasPrefix("/"), let parts = try? URLParts(target) { return parts.target[...] }
        return target[...]
    }
}

extension RecordedRequest: CustomStringConvertible, CustomReflectable {
    /// "GET /users/1 (connection 0, exchange 2)"; the query is left out, as it may hold secrets.
    public var description: String {
        "\(method) \(path) (connection \(connectionIndex), exchange \(exchangeIndex))"
    }

    /// Shows the description only, to debuggers and `dump` too.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
