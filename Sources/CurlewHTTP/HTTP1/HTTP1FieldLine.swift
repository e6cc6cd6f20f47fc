// SPDX-License-Identifier: MIT

import CurlewFoundation

/// Parses the field lines of heads.
package enum HTTP1FieldLine {
    /// Parses a field line without its line break. Returns nil if its name is not a token that a colon follows directly
    /// (RFC 9112 §5.1), or if the line contains NUL. ``value(_:)`` reads the value.
    package static func field(_ line: UnsafeRawBufferPointer) -> HTTPField? {
        let token = ByteSet.token
        guard let end = line.firstIndex(where: { !token.contains($0) }), end > 0, line[end] == 0x3A,
            !line[end...].contains(0)
        else { return nil }
        return HTTPField(name: HTTPField.Name(text(line[..<end])), value: value(line[(end + 1)...]))
    }

    /// Reads the value of a field. Blanks and control bytes at the ends are removed, and other control bytes become
    /// spaces (RFC 9110 §5.5). If any byte is not valid UTF-8, the whole value is read as Latin-1.
    package static func value(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        trimmed(bytes).map(text) ?? ""
    }

    /// Reads a reason phrase as ``value(_:)`` reads values, and cuts it after 200 bytes; nil if it is empty. The
    /// registered phrase of the status needs no new string.
    package static func reasonPhrase(_ bytes: Slice<UnsafeRawBufferPointer>, for status: HTTPStatus) -> String? {
        guard let bytes = trimmed(bytes) else { return nil }
        // The usual phrase, without the text of the registry.
        if status == .ok, bytes.count == 2, bytes.first == 0x4F, bytes.last == 0x4B { return "OK" }
        let registered = status.reasonPhrase
        return bytes.elementsEqual(registered.utf8) ? registered : text(bytes.prefix(200))
    }

    /// Returns the bytes without blanks and control bytes at the ends; nil if none are left.
    static func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer>? {
        guard let first = bytes.firstIndex(where: { !isSpace($0) }), let last = bytes.lastIndex(where: { !isSpace($0) })
        else { return nil }
        return bytes[first...last]
    }

    private static func text(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        let buffer = UnsafeRawBufferPointer(rebasing: bytes)
        var isPlain = true
        for byte in buffer {
            if isControl(byte) { return buffer.map { isControl($0) ? 0x20 : $0 }.withUnsafeBytes { text($0[...]) } }
            if byte >= 0x80 { isPlain = false }
        }
        // Decoding replaces what is not UTF-8. The validating initializer needs macOS 15.
        let decoded = String(decoding: buffer, as: UTF8.self)
        if isPlain || decoded.utf8.elementsEqual(buffer) { return decoded }
        return String(String.UnicodeScalarView(buffer.map { Unicode.Scalar($0) }))
    }

    private static func isControl(_ byte: UInt8) -> Bool { ASCII.isControl(byte) && byte != 0x09 }

    /// NUL is no space, so that it is found wherever it is.
    private static func isSpace(_ byte: UInt8) -> Bool { byte != 0 && byte <= 0x20 || byte == 0x7F }
}
