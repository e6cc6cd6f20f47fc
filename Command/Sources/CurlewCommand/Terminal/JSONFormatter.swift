// SPDX-License-Identifier: MIT

import Curlew
import CurlewJSON

/// Indents and colours JSON. Only white space between tokens changes, and characters that could act on a terminal are
/// written as JSON escapes, so the result is the same JSON.
enum JSONFormatter {
    /// Returns the formatted text; nil if the bytes are not one JSON value, or are nested too deeply.
    static func format(_ data: Data, style: Style) -> String? {
        guard (try? FastJSONDecoder().decode(JSONValue.self, from: data)) != nil else { return nil }
        var text = ""
        var depth = 0
        var bytes = Array(data)[...].drop { $0 <= 0x20 }
        func newLine() { text += "\n" + String(repeating: "  ", count: depth) }
        while let byte = bytes.popFirst() {
            var token = [byte]
            switch byte {
            case UInt8(ascii: "\""):
                while let next = bytes.popFirst() {
                    token.append(next)
                    if next == UInt8(ascii: "\"") { break }
                    if next == UInt8(ascii: "\\"), let escaped = bytes.popFirst() { token.append(escaped) }
                }
                bytes = bytes.drop { $0 <= 0x20 }
                let role: Style.Role = bytes.first == UInt8(ascii: ":") ? .name : .string
                text += style(role, SafeText.json(String(decoding: token, as: UTF8.self)))
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                text.unicodeScalars.append(Unicode.Scalar(byte))
                bytes = bytes.drop { $0 <= 0x20 }
                // The closing bracket has two more in the same column of ASCII.
                guard bytes.first != byte + 2 else {
                    text.unicodeScalars.append(Unicode.Scalar(bytes.removeFirst()))
                    break
                }
                depth += 1
                newLine()
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                newLine()
                text.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: ","):
                text += ","
                newLine()
            case UInt8(ascii: ":"): text += ": "
            default:
                token += bytes.prefix { $0 > 0x20 && !",]}".utf8.contains($0) }
                bytes = bytes.dropFirst(token.count - 1)
                let isWord = "tfn".utf8.contains(byte)
                text += style(isWord ? .word : .number, String(decoding: token, as: UTF8.self))
            }
            bytes = bytes.drop { $0 <= 0x20 }
        }
        return text
    }
}
