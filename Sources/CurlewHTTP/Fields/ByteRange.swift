// SPDX-License-Identifier: MIT

/// A single byte range of a request (RFC 9110 §14.1.2).
package enum ByteRange: Hashable, Sendable {
    /// From the first byte through the last, or to the end if `through` is nil.
    case from(Int64, through: Int64?)
    /// The last bytes of the representation; the value is their number.
    case last(Int64)

    /// Parses a `Range` value with exactly one byte range. Returns nil for several ranges, for other units and for
    /// malformed values, which a recipient may ignore (RFC 9110 §14.2).
    package init?(_ value: String) {
        let text = ASCII.lowercased(value)
        guard text.begins(with: "bytes=") else { return nil }
        let parts = Substring(text.utf8.dropFirst(6)).trimmed().parts("-", keepingEmpty: true)
        guard parts.count == 2 else { return nil }
        if parts[0].isEmpty {
            guard let count = Self.number(parts[1]) else { return nil }
            self = .last(count)
        } else if parts[1].isEmpty {
            guard let first = Self.number(parts[0]) else { return nil }
            self = .from(first, through: nil)
        } else {
            guard let first = Self.number(parts[0]), let last = Self.number(parts[1]), first <= last else { return nil }
            self = .from(first, through: last)
        }
    }

    /// Returns the selected bytes of a representation of this length, or nil if the range is not satisfiable.
    package func bytes(of length: Int64) -> Range<Int64>? {
        switch self {
        case .from(let first, let last):
            guard first < length else { return nil }
            return first..<min(length, (last ?? length - 1) + 1)
        case .last(let count):
            guard count > 0, length > 0 else { return nil }
            return max(0, length - count)..<length
        }
    }

    fileprivate static func number(_ text: some StringProtocol) -> Int64? {
        // `Int64.max` is excluded so that adding 1 cannot overflow.
        ASCII.decimal(Array(text.utf8), as: Int64.self).flatMap { $0 == .max ? nil : $0 }
    }
}

/// The bytes of a representation that a response contains (RFC 9110 §14.4).
package struct ContentRange: Hashable, Sendable, CustomStringConvertible {
    /// The range of bytes, never empty.
    package let bytes: Range<Int64>
    /// The length of the whole representation; nil if unknown.
    package let length: Int64?

    package init(_ bytes: Range<Int64>, of length: Int64?) {
        self.bytes = bytes
        self.length = length
    }

    /// Parses `bytes 0-99/200`. Returns nil for anything else, including unsatisfied ranges.
    package init?(_ value: String) {
        let text = ASCII.lowercased(value)
        guard text.begins(with: "bytes ") else { return nil }
        let halves = Substring(text.utf8.dropFirst(6)).parts("/", keepingEmpty: true)
        guard halves.count == 2 else { return nil }
        let ends = halves[0].parts("-", keepingEmpty: true)
        guard ends.count == 2, let first = ByteRange.number(ends[0]), let last = ByteRange.number(ends[1]),
            first <= last
        else { return nil }
        bytes = first..<last + 1
        if halves[1] == "*" {
            length = nil
        } else {
            guard let whole = ByteRange.number(halves[1]), last < whole else { return nil }
            length = whole
        }
    }

    /// The value in field syntax.
    package var description: String {
        "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(length.map { "\($0)" } ?? "*")"
    }
}
