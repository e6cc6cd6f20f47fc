// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Writes the `Content-Disposition` field of a part (RFC 7578 §4.2).
enum PartDisposition {
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
