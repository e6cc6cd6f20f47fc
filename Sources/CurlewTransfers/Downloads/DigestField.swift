// SPDX-License-Identifier: MIT

import CurlewFoundation
import CurlewHTTP

/// The value of a `Content-Digest` or `Repr-Digest` field (RFC 9530): digests of the content or the representation.
///
/// The field is a dictionary of byte sequences (RFC 8941 §3.2). Algorithms other than SHA-256 and SHA-512 are ignored;
/// the others of the registry are insecure. Of two members with the same name the last one counts.
struct DigestField: Equatable, Sendable {
    /// A hash algorithm of the registry of RFC 9530 that is fit for use.
    enum Algorithm: String, Sendable {
        case sha256 = "sha-256"
        case sha512 = "sha-512"
    }

    // The digests as the server wrote them: their length is not checked, so a truncated one equals no computed digest.
    private var sha256: Data?
    private var sha512: Data?

    /// Parses a field value; several field lines are joined with commas first. Returns nil for a value that is not a
    /// dictionary, and if the member of a known algorithm is not a byte sequence.
    init?(_ text: String) {
        // Spaces at the end belong to no member.
        var reader = FieldReader(String(text.trimmed { $0 == 0x20 }))
        while !reader.isAtEnd {
            guard let name = reader.key(), let value = reader.take(0x3D) ? reader.item() : .other,
                reader.skipParameters()
            else { return nil }
            if let algorithm = Algorithm(rawValue: name) {
                guard case .bytes(let digest) = value else { return nil }
                if algorithm == .sha256 { sha256 = digest } else { sha512 = digest }
            }
            reader.skipBlanks()
            if reader.isAtEnd { return }
            guard reader.take(0x2C) else { return nil }
            reader.skipBlanks()
            // A comma at the end is an error.
            guard !reader.isAtEnd else { return nil }
        }
    }

    /// The digest to check: that of SHA-512, otherwise that of SHA-256; nil if the field has neither.
    var strongest: (algorithm: Algorithm, digest: Data)? {
        sha512.map { (.sha512, $0) } ?? sha256.map { (.sha256, $0) }
    }
}

/// Reads the parts of a dictionary (RFC 8941 §4.2). Values other than byte sequences are only skipped.
extension FieldReader {
    fileprivate enum Item {
        case bytes(Data)
        case other
    }

    mutating func taking(_ matches: (UInt8) -> Bool) -> Substring {
        let taken = remainder.prefix(while: matches)
        remainder = remainder[taken.endIndex...]
        return Substring(taken)
    }

    fileprivate mutating func key() -> String? {
        guard let first = remainder.first, first == 0x2A || (0x61...0x7A).contains(first) else { return nil }
        return String(taking { (0x61...0x7A).contains($0) || ASCII.isDigit($0) || "_-.*".utf8.contains($0) })
    }

    /// Reads a bare item or an inner list; nil if there is none.
    fileprivate mutating func item() -> Item? {
        guard take(0x28) else { return bareItem() }
        while true {
            _ = taking { $0 == 0x20 }
            if take(0x29) { return .other }
            guard bareItem() != nil, skipParameters(), remainder.first == 0x20 || remainder.first == 0x29
            else { return nil }
        }
    }

    fileprivate mutating func skipParameters() -> Bool {
        while take(0x3B) {
            _ = taking { $0 == 0x20 }
            guard key() != nil else { return false }
            if take(0x3D), bareItem() == nil { return false }
        }
        return true
    }

    private mutating func bareItem() -> Item? {
        if take(0x3A) { return byteSequence().map(Item.bytes) }
        if take(0x22) { return skipString() ? .other : nil }
        // Numbers, dates, truth values and tokens.
        let word = taking { ASCII.isDigit($0) || ASCII.isLetter($0) || "!#$%&'*+-.^_`|~:/?@".utf8.contains($0) }
        return word.isEmpty ? nil : .other
    }

    /// Reads Base64 up to a colon. Padding may be missing (RFC 8941 §4.2.7).
    private mutating func byteSequence() -> Data? {
        let digits = taking { ASCII.isDigit($0) || ASCII.isLetter($0) || $0 == 0x2B || $0 == 0x2F }
        _ = taking { $0 == 0x3D }
        guard take(0x3A) else { return nil }
        return Data(base64Encoded: String(digits) + String(repeating: "=", count: (4 - digits.utf8.count % 4) % 4))
    }

    private mutating func skipString() -> Bool {
        while let byte = remainder.popFirst() {
            switch byte {
            case 0x22: return true
            case 0x5C: guard take(0x22) || take(0x5C) else { return false }
            case 0x20...0x7E: break
            default: return false
            }
        }
        return false
    }
}
