// SPDX-License-Identifier: MIT

/// A parser for field values, with the common syntax components of RFC 9110 §5.6. It reads the bytes in a single pass.
package struct FieldReader {
    package var remainder: Substring.UTF8View

    package init(_ text: String) {
        remainder = Substring(text).utf8
    }

    package var isAtEnd: Bool { remainder.isEmpty }

    package mutating func token() -> String? {
        let set = ByteSet.token
        let length = remainder.withContiguousStorageIfAvailable { $0.prefix(while: set.contains).count }
        let bytes = remainder.prefix(length ?? remainder.prefix(while: set.contains).count)
        guard !bytes.isEmpty else { return nil }
        remainder = remainder[bytes.endIndex...]
        return String(Substring(bytes))
    }

    /// Reads a quoted string (RFC 9110 §5.6.4). Returns `nil` if the string is unterminated or contains a control
    /// character other than a tab.
    package mutating func quotedString() -> String? {
        guard take(0x22) else { return nil }
        var bytes: [UInt8] = []
        while var byte = remainder.popFirst() {
            if byte == 0x22 { return String(decoding: bytes, as: UTF8.self) }
            if byte == 0x5C {
                guard let escaped = remainder.popFirst() else { return nil }
                byte = escaped
            }
            if ASCII.isControl(byte) && byte != 0x09 { return nil }
            bytes.append(byte)
        }
        return nil
    }

    package mutating func take(_ byte: UInt8) -> Bool {
        guard remainder.first == byte else { return false }
        remainder.removeFirst()
        return true
    }

    package mutating func skipBlanks() {
        remainder = remainder.drop(while: ASCII.isBlank)
    }

    mutating func skipToSemicolon() -> Bool {
        remainder = remainder.drop { $0 != 0x3B }
        return take(0x3B)
    }
}

extension FieldReader {
    /// Reads the type and the subtype of a media type, which must end at a semicolon or at the end of the value.
    mutating func essence() -> (type: String, subtype: String)? {
        skipBlanks()
        guard let type = token(), take(0x2F), let subtype = token() else { return nil }
        skipBlanks()
        guard remainder.isEmpty || remainder.first == 0x3B else { return nil }
        return (type, subtype)
    }

    /// Reads the parameters of a media type: `*( OWS ";" OWS [ parameter ] )`. Malformed parameters are skipped.
    mutating func parameters() -> [MediaType.Parameter] {
        var found: [MediaType.Parameter] = []
        while skipToSemicolon() {
            skipBlanks()
            guard let name = token(), take(0x3D), let value = token() ?? quotedString() else { continue }
            skipBlanks()
            guard remainder.isEmpty || remainder.first == 0x3B else { continue }
            found.append(MediaType.Parameter(name: name, value: value))
        }
        return found
    }
}
