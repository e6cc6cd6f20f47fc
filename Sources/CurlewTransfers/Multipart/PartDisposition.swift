// SPDX-License-Identifier: MIT

import CurlewHTTP

/// The `Content-Disposition` field of a part (RFC 7578 §4.2): its kind, and the names of the field and of the file.
struct PartDisposition: Hashable, Sendable {
    /// The kind in lower case: `form-data` in forms.
    let kind: String
    /// The name of the form field, from the `name` parameter; nil if there is none.
    let name: String?
    /// The file name; nil if there is none.
    ///
    /// Only what follows the last `/` or `\`, without control characters, and never `.` or `..`. `filename*` (RFC 8187,
    /// UTF-8) takes precedence over `filename`.
    let fileName: String?

    /// Parses the value of the field. Returns nil for a malformed value and if a parameter repeats, because receivers
    /// would read different names.
    ///
    /// In a quoted value, a backslash escapes only a quote or a backslash: some senders write paths with unescaped
    /// ones. In `form-data`, `%22`, `%0D` and `%0A` stand for the characters that browsers encode (WHATWG HTML
    /// §4.10.21.8).
    init?(_ value: String) {
        var reader = FieldReader(value)
        reader.skipBlanks()
        guard let kind = reader.token().map(ASCII.lowercased), let parameters = Self.parameters(&reader) else {
            return nil
        }
        func plain(_ name: String) -> String? {
            parameters[name].map { kind == "form-data" ? Self.unescaped($0) : $0 }
        }
        self.kind = kind
        name = plain("name")
        let path = parameters["filename*"].flatMap(PercentCoding.decodeExtended) ?? plain("filename")
        fileName = path.flatMap(Self.base)
    }

    private static func parameters(_ reader: inout FieldReader) -> [String: String]? {
        var found: [String: String] = [:]
        reader.skipBlanks()
        while !reader.isAtEnd {
            guard reader.take(0x3B) else { return nil }
            reader.skipBlanks()
            // Some senders end the value with a semicolon.
            if reader.isAtEnd { break }
            guard let name = reader.token().map(ASCII.lowercased) else { return nil }
            reader.skipBlanks()
            guard reader.take(0x3D) else { return nil }
            reader.skipBlanks()
            guard let value = reader.remainder.first == 0x22 ? quoted(&reader) : unquoted(&reader),
                found.updateValue(value, forKey: name) == nil
            else { return nil }
            reader.skipBlanks()
        }
        return found
    }

    private static func quoted(_ reader: inout FieldReader) -> String? {
        guard reader.take(0x22) else { return nil }
        var bytes: [UInt8] = []
        while var byte = reader.remainder.popFirst() {
            if byte == 0x22 { return String(decoding: bytes, as: UTF8.self) }
            if byte == 0x5C, let next = reader.remainder.first, next == 0x22 || next == 0x5C {
                byte = next
                reader.remainder.removeFirst()
            }
            bytes.append(byte)
        }
        return nil
    }

    /// Reads a value without quotes, which may be other characters than those of a token.
    private static func unquoted(_ reader: inout FieldReader) -> String? {
        let bytes = reader.remainder.prefix { $0 != 0x3B }
        let text = Substring(bytes).trimmed()
        guard !text.isEmpty, !text.holds("\"") else { return nil }
        reader.remainder = reader.remainder[bytes.endIndex...]
        return String(text)
    }

    private static func base(_ path: String) -> String? {
        let name = path.utf8.split(omittingEmptySubsequences: false) { $0 == 0x2F || $0 == 0x5C }.last ?? path.utf8[...]
        let text = Substring(name).without(ASCII.isControl)
        return text.isEmpty || text == "." || text == ".." ? nil : text
    }

    private static func unescaped(_ text: String) -> String {
        let bytes = PercentCoding.decodeLeniently(Array(text.utf8)) { [0x0A, 0x0D, 0x22].contains($0) }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension PartDisposition {
    static func formData(name: String, fileName: String?) -> String {
        "form-data; name=\"\(escaped(name))\"" + (fileName.map { "; filename=\"\(escaped($0))\"" } ?? "")
    }

    /// Returns the value for a file in a body that is not a form. A name that a quoted string cannot hold in ASCII is
    /// written as RFC 8187 says.
    static func attachment(fileName: String) -> String {
        let isPlain = fileName.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C }
        if isPlain { return "attachment; filename=\"\(fileName)\"" }
        return "attachment; filename*=UTF-8''\(PercentCoding.encode(fileName, for: .extendedValue))"
    }

    /// Escapes names as browsers do (WHATWG HTML §4.10.21.8): UTF-8, with quotes and line breaks percent-encoded. Also
    /// encodes the other control characters, which end a name for some receivers, and a backslash before another one or
    /// at the end, which receivers take for an escape of what follows.
    private static func escaped(_ name: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        let text = Array(name.utf8)
        for (index, byte) in text.enumerated() {
            let escapes = byte == 0x5C && (index + 1 == text.count || text[index + 1] == 0x5C)
            if ASCII.isControl(byte) || byte == 0x22 || escapes {
                bytes += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
