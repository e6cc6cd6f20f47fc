// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Values of an app that travel with its calls: the field `baggage` (W3C Baggage, Candidate Recommendation).
///
///     var baggage = TraceBaggage()
///     baggage.set("tenant", "Süd 12")
///     try await TraceBaggage.with(baggage) { try await client.send(.orders) }
///
/// Baggage often identifies users and tenants. It is therefore sent only if `TracePropagation.baggageOrigins` contains
/// the origin of the request, and never after a redirect to another origin. Its description omits the values.
public struct TraceBaggage: Hashable, Sendable {
    /// A key with its value and properties.
    public struct Member: Hashable, Sendable {
        /// The key, a token (RFC 9110 §5.6.2). It is case-sensitive.
        public let key: String
        /// The value, decoded.
        public let value: String
        /// The properties in order, such as `ttl=30` or `internal`, as sent.
        public let properties: [String]

        /// The member as text, encoded.
        fileprivate var text: String { ([key + "=" + TraceBaggage.encode(value)] + properties).joined(separator: ";") }
    }

    /// The members, in the order of the field.
    public private(set) var members: [Member] = []

    /// The maximum number of members. Every system carries that many.
    public static let maximumCount = 64
    /// The maximum length of the field in bytes. Every system carries that many.
    public static let maximumLength = 8192

    /// The baggage of the current task. Nil if none was set. Child tasks and tasks that are created with `Task` inherit
    /// it; detached tasks do not.
    @TaskLocal public static var current: TraceBaggage?

    /// Creates empty baggage.
    public init() {}

    /// Reads the values of all fields `baggage` of a message, in order.
    ///
    /// A member that is invalid is dropped, and so are the members after the 64th and those that would make the field
    /// longer than 8,192 bytes. Percent-encoded bytes that are not UTF-8 become U+FFFD.
    public init(_ fields: [String]) {
        for part in fields.flatMap({ $0.parts(",") }) {
            guard let member = Self.read(part) else { continue }
            add(member)
        }
    }

    /// The value of a key; nil if there is none. If a key occurs more than once, the last value counts.
    public subscript(key: String) -> String? {
        members.last { $0.key == key }?.value
    }

    /// Sets the value of a key, at the end of the list. All earlier values of the key are removed.
    ///
    /// - `value`: any text. It is percent-encoded in the field.
    /// - `properties`: properties of the member, a token or `token=value` each. Default none.
    ///
    /// Returns false and changes nothing if the key or a property is invalid, or if a limit would be exceeded.
    @discardableResult
    public mutating func set(_ key: String, _ value: String, properties: [String] = []) -> Bool {
        guard Self.isToken(key), properties.allSatisfy({ Self.property($0) == $0 }) else { return false }
        var copy = self
        copy.remove(key)
        guard copy.add(Member(key: key, value: value, properties: properties)) else { return false }
        self = copy
        return true
    }

    /// Removes all values of the key.
    public mutating func remove(_ key: String) {
        members.removeAll { $0.key == key }
    }

    /// The value of the field; empty if there are no members. At most 8,192 bytes.
    public var fieldValue: String { members.map(\.text).joined(separator: ",") }

    /// Runs `operation` with `baggage` as the current baggage, and returns its result.
    ///
    /// `operation` runs on the actor of the caller. Errors and cancellation pass through.
    public static func with<Value>(
        _ baggage: TraceBaggage?, _ operation: () async throws -> Value
    ) async rethrows -> Value {
        try await $current.withValue(baggage) { try await operation() }
    }

    @discardableResult
    private mutating func add(_ member: Member) -> Bool {
        // A long field has many members beyond the limit, so the count comes first.
        guard members.count < Self.maximumCount else { return false }
        let length = members.reduce(member.text.utf8.count) { $0 + $1.text.utf8.count + 1 }
        guard length <= Self.maximumLength else { return false }
        members.append(member)
        return true
    }

    // MARK: - Grammar

    private static func read(_ text: Substring) -> Member? {
        let parts = text.parts(";", keepingEmpty: true)
        guard let pair = parts.first, let equals = pair.first("=") else { return nil }
        let key = String(pair[..<equals].trimmed())
        let value = String(pair[pair.index(after: equals)...].trimmed())
        let properties = parts.dropFirst().map { property($0) }
        guard isToken(key), isValue(value), properties.allSatisfy({ $0 != nil }) else { return nil }
        // Bytes that are not UTF-8 are replaced.
        let bytes = PercentCoding.decodeLeniently(Array(value.utf8))
        return Member(key: key, value: String(decoding: bytes, as: UTF8.self), properties: properties.compactMap { $0 })
    }

    /// Returns the property without white space around its parts; nil if it is invalid.
    private static func property(_ text: some StringProtocol) -> String? {
        let text = String(text)
        guard let equals = text.first("=") else {
            let key = String(text.trimmed())
            return isToken(key) ? key : nil
        }
        let key = String(text[..<equals].trimmed())
        let value = String(text[text.index(after: equals)...].trimmed())
        return isToken(key) && isValue(value) ? key + "=" + value : nil
    }

    private static func isToken(_ text: String) -> Bool { HTTPField.Name(text).isValid }

    private static func isValue(_ text: String) -> Bool { text.utf8.allSatisfy(isValueByte) }

    /// Returns whether the byte may be a part of a value: printable ASCII without space, `"`, `,`, `;` and `\`.
    private static func isValueByte(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && !"\",;\\".utf8.contains(byte)
    }

    private static func encode(_ value: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in value.utf8 {
            if isValueByte(byte), byte != UInt8(ascii: "%") {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension TraceBaggage: CustomStringConvertible, CustomReflectable {
    /// The keys in order, without values.
    public var description: String { members.map(\.key).joined(separator: ",") }

    /// A mirror that shows only the description, so that a dump contains no value.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
