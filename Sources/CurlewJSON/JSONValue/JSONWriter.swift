// SPDX-License-Identifier: MIT

package import CurlewFoundation

/// Writes a `JSONValue` as JSON and keeps the order of its members, unlike Foundation's encoder.
struct JSONWriter {
    private(set) var bytes: [UInt8] = []
    let convertsToSnakeCase: Bool
    let sortsMembers: Bool

    /// Writes a value. Returns false if it contains a number that JSON cannot represent.
    mutating func write(_ value: JSONValue) -> Bool {
        switch value {
        case .null: write(text: "null")
        case .bool(let value): write(text: value ? "true" : "false")
        case .integer(let value): write(text: "\(value)")
        case .unsigned(let value): write(text: "\(value)")
        case .number(let value):
            guard value.isFinite else { return false }
            let text = "\(value)"
            // Whole numbers are written as Foundation's encoder writes them: 1, not 1.0.
            write(text: text.utf8.suffix(2).elementsEqual(".0".utf8) ? String(text.dropLast(2)) : text)
        case .string(let value): write(string: value)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                guard write(element) else { return false }
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            var isFirst = true
            for (name, value) in sortsMembers ? members.ordered(by: { $0.key < $1.key }) : Array(members) {
                if !isFirst { bytes.append(UInt8(ascii: ",")) }
                isFirst = false
                write(string: convertsToSnakeCase ? SnakeCase.converted(to: name) : name)
                bytes.append(UInt8(ascii: ":"))
                guard write(value) else { return false }
            }
            bytes.append(UInt8(ascii: "}"))
        }
        return true
    }

    private mutating func write(text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    /// Writes a string (RFC 8259 §7). Only characters that require escaping are escaped.
    private mutating func write(string: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in string.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0x0A: write(text: "\\n")
            case 0x0D: write(text: "\\r")
            case 0x09: write(text: "\\t")
            case 0..<0x20:
                let digits = Array("0123456789abcdef".utf8)
                write(text: "\\u00")
                bytes += [digits[Int(byte >> 4)], digits[Int(byte & 0xF)]]
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}

extension JSONValue {
    /// Returns the value as UTF-8 JSON on one line; nil if a number is infinite or NaN.
    ///
    /// - `convertsToSnakeCase`: whether `firstName` is written as `first_name`, as by an encoder with
    ///   `.convertToSnakeCase`. Default false.
    /// - `sortsMembers`: whether members are sorted by name. Default false: they keep their order.
    package func encoded(convertsToSnakeCase: Bool = false, sortsMembers: Bool = false) -> Data? {
        var writer = JSONWriter(convertsToSnakeCase: convertsToSnakeCase, sortsMembers: sortsMembers)
        return writer.write(self) ? Data(writer.bytes) : nil
    }
}
