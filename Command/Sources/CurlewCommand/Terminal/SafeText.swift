// SPDX-License-Identifier: MIT

import Curlew

/// Text of a server that is made safe for a terminal.
enum SafeText {
    /// Whether the character can move the cursor, change colours, or reorder text. Line breaks and tabs are not meant.
    static func isActive(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A: false
        case 0..<0x20, 0x7F...0x9F, 0x2028, 0x2029: true
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// Returns the text with its lines, in which active characters are escaped. A CR before a line break is removed.
    static func lines(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isActive) else { return text }
        var result = String.UnicodeScalarView()
        var scalars = text.unicodeScalars[...]
        while let scalar = scalars.popFirst() {
            if scalar == "\r", scalars.first == "\n" { continue }
            if isActive(scalar) {
                result.append(contentsOf: scalar.escaped(asASCII: true).unicodeScalars)
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }

    /// Returns JSON in which active characters are written as escapes. They are only in strings, so it is the same JSON.
    static func json(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isActive) else { return text }
        return text.unicodeScalars.reduce(into: "") { result, scalar in
            guard isActive(scalar) else {
                result.unicodeScalars.append(scalar)
                return
            }
            let digits = String(scalar.value, radix: 16)
            result += "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        }
    }

    /// Whether the bytes are not text: they contain a NUL, or are not UTF-8 at their beginning.
    static func isBinary(_ data: Data) -> Bool {
        let start = data.prefix(4096)
        if start.contains(0) { return true }
        let repairs = String(decoding: start, as: UTF8.self).unicodeScalars.filter { $0 == "\u{FFFD}" }.count
        return repairs > 3
    }

    /// Returns the end of the text that no further bytes change: without the beginning of a character, and without a CR
    /// that may belong to a line break.
    static func endOfCompleteText(_ data: Data) -> Data.Index {
        // A character has at most four bytes, of which those after the first are 10xxxxxx.
        var end = data.endIndex
        if let first = data.suffix(4).lastIndex(where: { $0 & 0xC0 != 0x80 }) {
            let byte = data[first]
            let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
            if first + length > end { end = first }
        }
        return end > data.startIndex && data[end - 1] == 0x0D ? end - 1 : end
    }
}
