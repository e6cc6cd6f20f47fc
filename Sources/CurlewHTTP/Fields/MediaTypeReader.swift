// SPDX-License-Identifier: MIT

/// Walks the bytes of a media type once, from left to right.
struct MediaTypeReader {
    private var rest: Substring.UTF8View

    init(_ text: String) {
        rest = Substring(text).utf8
    }

    /// `type "/" subtype`, followed by nothing or a semicolon.
    mutating func essence() -> (type: String, subtype: String)? {
        skipBlanks()
        guard let type = token(), take(0x2F), let subtype = token() else { return nil }
        skipBlanks()
        guard rest.isEmpty || rest.first == 0x3B else { return nil }
        return (type, subtype)
    }

    /// `*( OWS ";" OWS [ parameter ] )`, leaving out what is malformed.
    mutating func parameters() -> [MediaType.Parameter] {
        var found: [MediaType.Parameter] = []
        while skipToSemicolon() {
            skipBlanks()
            guard let name = token(), take(0x3D), let value = token() ?? quotedString() else { continue }
            skipBlanks()
            guard rest.isEmpty || rest.first == 0x3B else { continue }
            found.append(MediaType.Parameter(name: name, value: value))
        }
        return found
    }

    private mutating func token() -> String? {
        let set = ByteSet.token
        let bytes = rest.prefix(while: set.contains)
        guard !bytes.isEmpty else { return nil }
        rest = rest[bytes.endIndex...]
        return String(Substring(bytes))
    }

    /// RFC 9110 §5.6.4; `nil` when it does not end or holds a control character.
    private mutating func quotedString() -> String? {
        guard take(0x22) else { return nil }
        var bytes: [UInt8] = []
        while var byte = rest.popFirst() {
            if byte == 0x22 { return String(decoding: bytes, as: UTF8.self) }
            if byte == 0x5C {
                guard let escaped = rest.popFirst() else { return nil }
                byte = escaped
            }
            if ASCII.isControl(byte) && byte != 0x09 { return nil }
            bytes.append(byte)
        }
        return nil
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard rest.first == byte else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func skipBlanks() {
        rest = rest.drop(while: ASCII.isBlank)
    }

    private mutating func skipToSemicolon() -> Bool {
        rest = rest.drop { $0 != 0x3B }
        return take(0x3B)
    }
}
