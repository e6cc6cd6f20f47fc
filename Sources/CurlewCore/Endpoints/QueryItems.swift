// SPDX-License-Identifier: MIT

import CurlewHTTP

/// The query of a call: ordered, names may repeat, nil values are left out.
///
///     ["page": page, "tag": ["swift", "linux"], "since": lastVisit]   // lastVisit is nil: no such item
///
/// gives `?page=2&tag=swift&tag=linux`. Values are `QueryValue`s; both sides are percent-encoded when the request is
/// built, a space as `%20`.
public struct QueryItems: Sendable, Hashable {
    /// One name with one value, both as meant, not encoded.
    public struct Item: Sendable, Hashable {
        /// The name.
        public let name: String
        /// The value.
        public let value: String

        /// An item of the two.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The items in the order in which they are sent.
    public private(set) var items: [Item]

    /// No items.
    public init() {
        items = []
    }

    /// Items with text values, in their order.
    public init(_ pairs: some Sequence<(String, String)>) {
        items = pairs.map { Item(name: $0.0, value: $0.1) }
    }

    /// True when there is nothing to send.
    public var isEmpty: Bool { items.isEmpty }

    /// The first value under `name`.
    public subscript(name: String) -> String? {
        items.first { $0.name == name }?.value
    }

    /// Adds `value` behind the others; a list adds one item for each element, nil adds nothing.
    public mutating func append(_ name: String, _ value: (any QueryValue)?) {
        guard let value else { return }
        for text in value.queryTexts { items.append(Item(name: name, value: text)) }
    }

    /// Adds `others` behind these.
    public mutating func append(contentsOf others: QueryItems) {
        items.append(contentsOf: others.items)
    }

    /// Both, the left ones first.
    public static func + (left: QueryItems, right: QueryItems) -> QueryItems {
        var sum = left
        sum.append(contentsOf: right)
        return sum
    }

    /// Writes the items behind what `target` has of a query already.
    func write(to target: inout String, hasQuery: Bool) {
        var separator = hasQuery ? "&" : "?"
        for item in items {
            target += separator
            target += PercentCoding.encode(item.name, for: .queryName)
            target += "="
            target += PercentCoding.encode(item.value, for: .queryValue)
            separator = "&"
        }
    }
}

extension QueryItems: ExpressibleByDictionaryLiteral {
    /// Items in the order in which they are written; a name may repeat, a nil value is left out.
    public init(dictionaryLiteral elements: (String, (any QueryValue)?)...) {
        items = []
        items.reserveCapacity(elements.count)
        for (name, value) in elements { append(name, value) }
    }
}

extension QueryItems: CustomStringConvertible, CustomReflectable {
    /// The names as they go on the wire, and no value: which of them are secrets is known only to the client that sends
    /// them. `print(try client.request(for: call))` shows the others; `items` has all of them.
    public var description: String {
        let items = items.map { "\(PercentCoding.encode($0.name, for: .queryName))=\(Redaction.mark)" }
        return (items.isEmpty ? "" : "?" + items.joined(separator: "&")).printable
    }

    /// Shows the description only, to debuggers and `dump` too.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

extension QueryItems.Item: CustomStringConvertible, CustomReflectable {
    /// The name, and never the value.
    public var description: String { "\(name)=\(Redaction.mark)".printable }

    /// Shows the description only, to debuggers and `dump` too.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
