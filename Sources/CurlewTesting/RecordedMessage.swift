// SPDX-License-Identifier: MIT

public import CurlewFoundation
public import CurlewHTTP

/// A request that a test double received: the ``RecordedCall`` of a ``MockTransport``, or the ``RecordedRequest`` of a
/// ``MockServer``.
public protocol RecordedMessage: Sendable, CustomStringConvertible, CustomReflectable {
    /// The request method.
    var method: HTTPMethod { get }
    /// The request target as sent, with the query, such as "/users/1?full=true".
    var target: String { get }
    /// The header fields.
    var headers: HTTPHeaders { get }
    /// The content, without framing.
    var body: Data { get }
}

extension RecordedMessage {
    /// The path of the target without the query, percent-encoded as sent.
    public var path: String { String(pathAndQuery.prefix { $0 != "?" }) }

    /// The decoded query items in order. "+" is a space. Text that cannot be decoded is returned as sent.
    public var queryItems: [QueryItem] {
        guard let mark = pathAndQuery.firstIndex(of: "?") else { return [] }
        return pathAndQuery[mark...].dropFirst().split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let decoded = parts.map { PercentCoding.decode($0, plusAsSpace: true) ?? $0 }
            return QueryItem(name: decoded[0], value: decoded.count > 1 ? decoded[1] : nil)
        }
    }

    /// Returns the decoded value of the first query item with this name; nil if there is no such item or it has no "=".
    public func query(_ name: String) -> String? { queryItems.first { $0.name == name }?.value }

    /// The content as text. Bytes that are not valid UTF-8 are replaced.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// A mirror that shows only the description, so that a dump contains no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }

    private var pathAndQuery: Substring {
        // A client that uses a proxy sends the complete URL as the target.
        if !target.hasPrefix("/"), let parts = try? URLParts(target) { return parts.target[...] }
        return target[...]
    }
}

/// A name in the query of a ``RecordedMessage``, with its value.
public struct QueryItem: Hashable, Sendable {
    /// The decoded name.
    public let name: String
    /// The decoded value; nil if the item has no "=".
    public let value: String?
}
