// SPDX-License-Identifier: MIT

import CurlewFoundation
import CurlewHTTP

/// The value of a `Content-Digest` or `Repr-Digest` field (RFC 9530): digests of a message's content or of a
/// representation, by algorithm.
///
/// The field is a dictionary of byte sequences (RFC 8941 §3.2). Algorithms other than SHA-256 and SHA-512 are ignored;
/// the others of the registry are insecure. Of two members with the same name the last one counts.
struct DigestField: Hashable, Sendable {
    /// A hash algorithm of the registry of RFC 9530 that is fit for use.
    enum Algorithm: String, Sendable {
        case sha256 = "sha-256"
        case sha512 = "sha-512"
    }

    /// The digests as the server wrote them: their length is not checked, so a truncated one equals no computed digest.
    private(set) var digests: [Algorithm: Data]

    /// Parses a field value; several field lines are joined with commas first. Returns nil for a value that is not a
    /// dictionary, and if the member of a known algorithm is not a byte sequence.
    init?(_ text: String) {
        var reader = Reader(bytes: Array(text.utf8))
        digests = [:]
        reader.skip { $0 == 0x20 }
        while !reader.isAtEnd {
            guard let name = reader.key(), let value = reader.take(0x3D) ? reader.item() : .other,
                reader.skipParameters()
            else { return nil }
            if let algorithm = Algorithm(rawValue: name) {
                guard case .bytes(let digest) = value else { return nil }
                digests[algorithm] = digest
            }
            reader.skip(ASCII.isBlank)
            if reader.isAtEnd { return }
            guard reader.take(0x2C) else { return nil }
            reader.skip(ASCII.isBlank)
            // A comma at the end is an error.
            guard !reader.isAtEnd else { return nil }
        }
    }

    /// The digest to check: that of SHA-512, otherwise that of SHA-256; nil if the field has neither.
    var strongest: (algorithm: Algorithm, digest: Data)? {
        digests[.sha512].map { (.sha512, $0) } ?? digests[.sha256].map { (.sha256, $0) }
    }
}

/// Reads the parts of a dictionary (RFC 8941 §4.2). Values other than byte sequences are only skipped.
private struct Reader {
    enum Item {
        case bytes(Data)
        case other
    }

    private let bytes: ArraySlice<UInt8>
    private var position = 0

    init(bytes: [UInt8]) {
        // Spaces at the end belong to no member.
        self.bytes = bytes.dropLast(bytes.reversed().prefix { $0 == 0x20 }.count)
    }

    var isAtEnd: Bool { position >= bytes.endIndex }
    private var next: UInt8? { isAtEnd ? nil : bytes[position] }

    mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    mutating func skip(_ matches: (UInt8) -> Bool) {
        _ = taking(matches)
    }

    mutating func key() -> String? {
        guard let first = next, first == 0x2A || (0x61...0x7A).contains(first) else { return nil }
        return String(decoding: taking(Self.isKey), as: UTF8.self)
    }

    /// Reads a bare item or an inner list; nil if there is none.
    mutating func item() -> Item? {
        guard take(0x28) else { return bareItem() }
        while true {
            skip { $0 == 0x20 }
            if take(0x29) { return .other }
            guard bareItem() != nil, skipParameters(), next == 0x20 || next == 0x29 else { return nil }
        }
    }

    mutating func skipParameters() -> Bool {
        while take(0x3B) {
            skip { $0 == 0x20 }
            guard key() != nil else { return false }
            if take(0x3D), bareItem() == nil { return false }
        }
        return true
    }

    private mutating func bareItem() -> Item? {
        if take(0x3A) { return byteSequence().map(Item.bytes) }
        if take(0x22) { return skipString() ? .other : nil }
        return taking(Self.isWord).isEmpty ? nil : .other
    }

    /// Reads Base64 up to a colon. Padding may be missing (RFC 8941 §4.2.7).
    private mutating func byteSequence() -> Data? {
        let text = taking { $0 != 0x3A }
        guard take(0x3A) else { return nil }
        let digits = text.prefix { $0 != 0x3D }
        guard digits.allSatisfy(Self.isBase64), text.dropFirst(digits.count).allSatisfy({ $0 == 0x3D })
        else { return nil }
        let padding = String(repeating: "=", count: (4 - digits.count % 4) % 4)
        return Data(base64Encoded: String(decoding: digits, as: UTF8.self) + padding)
    }

    private mutating func skipString() -> Bool {
        while let byte = next {
            position += 1
            switch byte {
            case 0x22: return true
            case 0x5C:
                guard let escaped = next, escaped == 0x22 || escaped == 0x5C else { return false }
                position += 1
            case 0x20...0x7E: break
            default: return false
            }
        }
        return false
    }

    private mutating func taking(_ matches: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let taken = bytes[position...].prefix(while: matches)
        position = taken.endIndex
        return taken
    }

    private static func isKey(_ byte: UInt8) -> Bool {
        ASCII.isDigit(byte) || (0x61...0x7A).contains(byte) || "_-.*".utf8.contains(byte)
    }

    private static func isBase64(_ byte: UInt8) -> Bool {
        ASCII.isDigit(byte) || ASCII.isLetter(byte) || byte == 0x2B || byte == 0x2F
    }

    /// Returns whether the byte occurs in numbers, dates, truth values and tokens.
    private static func isWord(_ byte: UInt8) -> Bool {
        ASCII.isDigit(byte) || ASCII.isLetter(byte) || "!#$%&'*+-.^_`|~:/?@".utf8.contains(byte)
    }
}
