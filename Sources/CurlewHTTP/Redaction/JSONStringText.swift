// SPDX-License-Identifier: MIT

/// Decodes and encodes the text of a JSON string. Decoding never fails: an invalid escape loses its backslash, or its
/// `\u`.
enum JSONStringText {
    private static let backslash = UInt8(ascii: "\\")

    /// Returns the text of a JSON string. `bytes` are those between its quotes.
    static func read(_ bytes: ArraySlice<UInt8>) -> String {
        guard bytes.contains(backslash) else { return String(decoding: bytes, as: UTF8.self) }
        var text: [UInt8] = []
        var high: UInt32?
        var rest = bytes
        while let byte = rest.popFirst() {
            guard byte == backslash, let escape = rest.popFirst() else {
                text.append(byte)
                continue
            }
            switch escape {
            case UInt8(ascii: "n"): text.append(0x0A)
            case UInt8(ascii: "r"): text.append(0x0D)
            case UInt8(ascii: "t"): text.append(0x09)
            case UInt8(ascii: "b"): text.append(0x08)
            case UInt8(ascii: "f"): text.append(0x0C)
            case UInt8(ascii: "u"):
                guard let unit = UInt32(String(decoding: rest.prefix(4), as: UTF8.self), radix: 16) else { continue }
                rest = rest.dropFirst(4)
                if unit & 0xFC00 == 0xD800 {
                    high = unit
                    continue
                }
                let pair = high.map { 0x10000 + ($0 & 0x3FF) << 10 + unit & 0x3FF }
                let value = unit & 0xFC00 == 0xDC00 ? pair ?? 0xFFFD : unit
                text.append(contentsOf: String(Unicode.Scalar(value) ?? "\u{FFFD}").utf8)
                high = nil
            default: text.append(escape)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the bytes of `text` as a JSON string, without the quotes.
    static func written(_ text: String) -> [UInt8] {
        text.utf8.flatMap { byte -> [UInt8] in
            switch byte {
            case UInt8(ascii: "\""), backslash: [backslash, byte]
            case 0x0A: [backslash, UInt8(ascii: "n")]
            case 0x0D: [backslash, UInt8(ascii: "r")]
            case 0x09: [backslash, UInt8(ascii: "t")]
            case 0..<0x20: Array("\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8)
            default: [byte]
            }
        }
    }
}
