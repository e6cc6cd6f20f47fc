// SPDX-License-Identifier: MIT

/// The members of a JSON object, in the order in which they were written or read.
///
///     let user: JSONObject = ["name": "Ann", "age": 31]
///     for (name, value) in user { print(name, value) }         // name, then age
///
/// The order is for readers: it does not count when objects are compared (RFC 8259 §4). A member that is set again stays
/// where it is. Finding a member takes the same time however many there are.
public struct JSONObject: Sendable, Hashable, Sequence, ExpressibleByDictionaryLiteral {
    private var members: [String: Member] = [:]
    private var nextPlace = 0

    private struct Member: Sendable {
        let place: Int
        var value: JSONValue
    }

    /// An object without members.
    public init() {}

    /// These members, in the order of their names.
    public init(_ members: [String: JSONValue]) {
        self.init(minimumCapacity: members.count)
        for (name, value) in members.sorted(by: { $0.key < $1.key }) { self[name] = value }
    }

    /// These members in their order; of members with one name the last stays, in the place of the first.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self.init(minimumCapacity: elements.count)
        for (name, value) in elements { self[name] = value }
    }

    init(minimumCapacity capacity: Int) {
        members.reserveCapacity(capacity)
    }

    /// The member `name`; nil without one. Setting nil removes it, a new one comes last.
    public subscript(name: String) -> JSONValue? {
        get { members[name]?.value }
        set {
            guard let newValue else {
                members[name] = nil
                return
            }
            if (members[name]?.value = newValue) != nil { return }
            members[name] = Member(place: nextPlace, value: newValue)
            nextPlace += 1
        }
    }

    /// How many members there are.
    public var count: Int { members.count }

    /// There is no member.
    public var isEmpty: Bool { members.isEmpty }

    /// The names in their order.
    public var keys: [String] { map(\.key) }

    /// The values in their order.
    public var values: [JSONValue] { map(\.value) }

    /// The members as a dictionary, which has no order.
    public var dictionary: [String: JSONValue] { members.mapValues(\.value) }

    /// Goes through the members in their order.
    public func makeIterator() -> AnyIterator<(key: String, value: JSONValue)> {
        let ordered = members.sorted { $0.value.place < $1.value.place }
        return AnyIterator(ordered.lazy.map { (key: $0.key, value: $0.value.value) }.makeIterator())
    }

    /// The same members, in any order.
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.count == right.count && left.members.allSatisfy { right.members[$0.key]?.value == $0.value.value }
    }

    /// The members, in no order.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(dictionary)
    }
}

extension JSONObject: CustomStringConvertible {
    /// The object as JSON on one line, members sorted by name. Not redacted.
    public var description: String { JSONValue.object(self).description }
}
