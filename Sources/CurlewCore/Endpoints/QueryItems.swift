// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// The query items of a call, in order. Names may repeat, and nil values are omitted.
///
///     ["page": page, "tag": ["swift", "linux"], "since": lastVisit]   // lastVisit is nil: no such item
///
/// becomes `?page=2&tag=swift&tag=linux`. Values are `QueryValue`s. Names and values are percent-encoded when the
/// request is built, a space as `%20`.
public struct QueryItems: Sendable, Hashable {
    /// A name and a value, both unencoded.
    public struct Item: Sendable, Hashable {
        /// The name, not percent-encoded.
        public let name: String
        /// The value, not percent-encoded.
        public let value: String

        /// Creates an item from an unencoded name and value.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The items in the order in which they are sent.
    public private(set) var items: [Item]

    /// Creates an empty query.
    public init() {
        items = []
    }

    /// Creates items from names and text values, in their order.
    public init(_ pairs: some Sequence<(String, String)>) {
        items = pairs.map { Item(name: $0.0, value: $0.1) }
    }

    /// True when there are no items.
    public var isEmpty: Bool { items.isEmpty }

    /// The first value for `name`; nil if no item has this name.
    public subscript(name: String) -> String? {
        items.first { $0.name == name }?.value
    }

    /// Appends `value` under `name`. An array or a set appends one item for each element; nil appends nothing.
    public mutating func append(_ name: String, _ value: (any QueryValue)?) {
        guard let value else { return }
        for text in value.queryTexts { items.append(Item(name: name, value: text)) }
    }

    /// Appends the items of `others` in their order.
    public mutating func append(contentsOf others: QueryItems) {
        items.append(contentsOf: others.items)
    }

    /// Returns the items of both, the left ones first.
    public static func + (left: QueryItems, right: QueryItems) -> QueryItems {
        var sum = left
        sum.append(contentsOf: right)
        return sum
    }

    /// The items encoded as a form (WHATWG URL §5.2).
    package var formText: String {
        items.map {
            PercentCoding.encode($0.name, for: .formValue) + "=" + PercentCoding.encode($0.value, for: .formValue)
        }.joined(separator: "&")
    }

    /// Inserts the encoded items before the query that `target` may have.
    func write(toFrontOf target: inout String) {
        let mark = target.first("?") ?? target.endIndex
        let remainder = target[mark...].utf8.dropFirst()
        var front = String(target[..<mark])
        write(to: &front, hasQuery: false)
        target = remainder.isEmpty ? front : front + "&" + String(Substring(remainder))
    }

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

extension QueryItems: ExpressibleByDictionaryLiteral, MirroredByDescription {
    /// Creates items in the order of the literal. Names may repeat, and nil values are omitted.
    public init(dictionaryLiteral elements: (String, (any QueryValue)?)...) {
        items = []
        items.reserveCapacity(elements.count)
        for (name, value) in elements { append(name, value) }
    }

    /// The encoded names, with the values redacted, because only the client that sends the items knows which values are
    /// secrets. `print(try client.request(for: call))` shows the values that are not secret, and `items` has all
    /// values.
    public var description: String {
        let items = items.map { "\(PercentCoding.encode($0.name, for: .queryName))=\(Redaction.mark)" }
        return (items.isEmpty ? "" : "?" + items.joined(separator: "&")).printable
    }
}

extension QueryItems.Item: MirroredByDescription {
    /// The name, with the value redacted.
    public var description: String { "\(name)=\(Redaction.mark)".printable }
}
