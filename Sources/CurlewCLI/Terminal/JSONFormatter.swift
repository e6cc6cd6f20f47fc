// SPDX-License-Identifier: MIT

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Indents and colours JSON. Only white space between tokens changes, and characters that could act on a terminal are
/// written as JSON escapes, so the result is the same JSON.
struct JSONFormatter {
    let style: Style
    private var text = ""
    private var bytes: ArraySlice<UInt8>
    private var depth = 0

    /// Deeper nesting is not formatted.
    static let depthLimit = 256

    /// Returns the formatted text; nil if the bytes are not one JSON value, or are nested too deeply.
    static func format(_ data: Data, style: Style) -> String? {
        var formatter = JSONFormatter(style: style, bytes: Array(data)[...])
        guard formatter.value() else { return nil }
        formatter.skipSpace()
        return formatter.bytes.isEmpty ? formatter.text : nil
    }

    private init(style: Style, bytes: ArraySlice<UInt8>) {
        self.style = style
        self.bytes = bytes
    }

    private mutating func skipSpace() {
        bytes = bytes.drop { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        skipSpace()
        guard bytes.first == UInt8(ascii: scalar) else { return false }
        bytes = bytes.dropFirst()
        return true
    }

    private mutating func newLine() {
        text += "\n"
        text += String(repeating: "  ", count: depth)
    }

    private mutating func value() -> Bool {
        skipSpace()
        switch bytes.first {
        case UInt8(ascii: "{"): return container("{", "}") { $0.member() }
        case UInt8(ascii: "["): return container("[", "]") { $0.value() }
        case UInt8(ascii: "\""): return string(.string)
        default: return word()
        }
    }

    private mutating func container(
        _ open: Unicode.Scalar, _ close: Unicode.Scalar, _ element: (inout JSONFormatter) -> Bool
    ) -> Bool {
        guard depth < Self.depthLimit, take(open) else { return false }
        text.unicodeScalars.append(open)
        if take(close) {
            text.unicodeScalars.append(close)
            return true
        }
        depth += 1
        repeat {
            newLine()
            guard element(&self) else { return false }
            skipSpace()
            if bytes.first == UInt8(ascii: ",") { text += "," }
        } while take(",")
        depth -= 1
        newLine()
        guard take(close) else { return false }
        text.unicodeScalars.append(close)
        return true
    }

    private mutating func member() -> Bool {
        skipSpace()
        guard string(.name), take(":") else { return false }
        text += ": "
        return value()
    }

    private mutating func string(_ role: Style.Role) -> Bool {
        guard bytes.first == UInt8(ascii: "\"") else { return false }
        var index = bytes.index(after: bytes.startIndex)
        while index < bytes.endIndex, bytes[index] != UInt8(ascii: "\"") {
            guard bytes[index] >= 0x20 else { return false }
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        guard index < bytes.endIndex else { return false }
        text += style(role, SafeText.json(String(decoding: bytes[...index], as: UTF8.self)))
        bytes = bytes[(index + 1)...]
        return true
    }

    private mutating func word() -> Bool {
        let word = bytes.prefix {
            (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x2B || $0 == 0x2D || $0 == 0x2E
                || $0 == 0x45
        }
        guard let first = word.first else { return false }
        let isNumber = first == 0x2D || (0x30...0x39).contains(first)
        let literal = String(decoding: word, as: UTF8.self)
        guard isNumber || ["true", "false", "null"].contains(literal) else { return false }
        text += style(isNumber ? .number : .word, literal)
        bytes = bytes[word.endIndex...]
        return true
    }
}
