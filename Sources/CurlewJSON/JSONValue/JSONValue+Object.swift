// SPDX-License-Identifier: MIT

extension JSONValue {
    /// The members of a JSON object, in the order in which they were written or decoded.
    ///
    ///     let user: JSONValue.Object = ["name": "Ann", "age": 31]
    ///     for (name, value) in user { print(name, value) }         // name, then age
    ///
    /// The order has no meaning in JSON, so equality ignores it (RFC 8259 §4). Setting an existing member keeps its
    /// position. Finding a member takes constant time.
    public struct Object: Sendable, Hashable, Sequence, ExpressibleByDictionaryLiteral {
        private var members: [String: Member] = [:]
        private var nextIndex = 0

        private struct Member: Sendable {
            let index: Int
            var value: JSONValue
        }

        /// Creates an object without members.
        public init() {}

        /// Creates an object with these members, ordered by name.
        public init(_ members: [String: JSONValue]) {
            self.init(minimumCapacity: members.count)
            for (name, value) in members.sorted(by: { $0.key < $1.key }) { self[name] = value }
        }

        /// Creates an object with these members in order. If several members have the same name, the last value is
        /// used, at the position of the first.
        public init(dictionaryLiteral elements: (String, JSONValue)...) {
            self.init(minimumCapacity: elements.count)
            for (name, value) in elements { self[name] = value }
        }

        init(minimumCapacity capacity: Int) {
            members.reserveCapacity(capacity)
        }

        /// The value of the member `name`; nil if there is none. Setting a value appends a new member or replaces the value
        /// of an existing one. Setting nil removes the member.
        public subscript(name: String) -> JSONValue? {
            get { members[name]?.value }
            set {
                guard let newValue else {
                    members[name] = nil
                    return
                }
                if (members[name]?.value = newValue) != nil { return }
                members[name] = Member(index: nextIndex, value: newValue)
                nextIndex += 1
            }
        }

        /// The number of members.
        public var count: Int { members.count }

        /// Whether the object has no members.
        public var isEmpty: Bool { members.isEmpty }

        /// The names of the members, in order.
        public var keys: [String] { map(\.key) }

        /// The values of the members, in order.
        public var values: [JSONValue] { map(\.value) }

        /// The members as an unordered dictionary.
        public var dictionary: [String: JSONValue] { members.mapValues(\.value) }

        /// Returns an iterator over the members in order.
        public func makeIterator() -> AnyIterator<(key: String, value: JSONValue)> {
            let ordered = members.sorted { $0.value.index < $1.value.index }
            return AnyIterator(ordered.lazy.map { (key: $0.key, value: $0.value.value) }.makeIterator())
        }

        /// Returns whether both objects have the same members, in any order.
        public static func == (left: JSONValue.Object, right: JSONValue.Object) -> Bool {
            left.count == right.count && left.members.allSatisfy { right.members[$0.key]?.value == $0.value.value }
        }

        /// Hashes the members, regardless of their order.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(dictionary)
        }
    }
}

extension JSONValue.Object: CustomStringConvertible {
    /// The object as JSON on one line, with members sorted by name. Secrets are not redacted.
    public var description: String { JSONValue.object(self).description }
}
