// SPDX-License-Identifier: MIT

/// A single byte range, as a `Range` field requests it (RFC 9110 §14.1.2).
package enum ByteRange: Hashable, Sendable {
    /// The bytes from this position through `through`, inclusive, or to the end if `through` is nil.
    case from(Int64, through: Int64?)
    /// This number of bytes at the end of the representation.
    case last(Int64)

    /// Parses a `Range` value with exactly one byte range. Returns nil for several ranges, other units and malformed
    /// values: a server may ignore all of these (RFC 9110 §14.2).
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

    /// Returns the positions of the selected bytes in a representation of this length, or nil if the range is not
    /// satisfiable.
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

    fileprivate static func number(_ text: Substring) -> Int64? {
        // `Int64.max` is excluded so that adding 1 cannot overflow.
        ASCII.decimal(text).flatMap { $0 == .max ? nil : $0 }
    }
}

/// The part of a representation that a response contains, from its `Content-Range` field (RFC 9110 §14.4).
package struct ContentRange: Hashable, Sendable, CustomStringConvertible {
    /// The positions of the bytes; never empty.
    package let bytes: Range<Int64>
    /// The length of the complete representation; nil if unknown.
    package let length: Int64?

    /// Creates a part from its positions. Returns nil for an empty range, which has no `Content-Range` value.
    package init?(_ bytes: Range<Int64>, of length: Int64?) {
        guard !bytes.isEmpty else { return nil }
        self.bytes = bytes
        self.length = length
    }

    /// Parses a `Content-Range` value such as `bytes 0-99/200`. Returns nil for other units, malformed values, and
    /// unsatisfied ranges (`bytes */200`).
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

    /// The `Content-Range` value: `bytes 0-99/200`, or `bytes 0-99/*` without a length.
    package var description: String {
        "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(length.map { "\($0)" } ?? "*")"
    }
}
