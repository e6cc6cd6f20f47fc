// SPDX-License-Identifier: MIT

/// One range of bytes that a request asks for (RFC 9110 §14.1.2).
package enum ByteRange: Hashable, Sendable {
    /// From the first byte to the last named, or to the end.
    case from(Int64, through: Int64?)
    /// The last so many bytes.
    case last(Int64)

    /// Reads a `Range` value with exactly one range of bytes; nil for several, for other units and for anything malformed,
    /// which a recipient may ignore (RFC 9110 §14.2).
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

    /// The bytes that are meant of a representation of this length; nil if none of them exists.
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
        // The last of all numbers is left out, so that one more can be counted.
        ASCII.decimal(Array(text.utf8), as: Int64.self).flatMap { $0 == .max ? nil : $0 }
    }
}

/// Which bytes of a representation an answer holds (RFC 9110 §14.4).
package struct ContentRange: Hashable, Sendable, CustomStringConvertible {
    /// The bytes, never empty.
    package let bytes: Range<Int64>
    /// How long the whole representation is; nil if the server does not say.
    package let length: Int64?

    package init(_ bytes: Range<Int64>, of length: Int64?) {
        self.bytes = bytes
        self.length = length
    }

    /// Reads `bytes 0-99/200`; nil for anything else, unsatisfied ranges included.
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

    /// As the field has it.
    package var description: String {
        "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(length.map { "\($0)" } ?? "*")"
    }
}
