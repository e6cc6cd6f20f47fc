// SPDX-License-Identifier: MIT

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Finds a text in another one, in each form in which a program may have written it there: as it is, percent-encoded as
/// in a URL, escaped as in JSON, or as references of HTML. Each character may have another form.
enum EncodedText {
    /// Returns whether the bytes contain the text.
    static func holds(_ wanted: String, in data: Data) -> Bool {
        let wanted = Array(wanted.utf8)
        return data.withUnsafeBytes { bytes in
            bytes.indices.contains { end(of: wanted, in: bytes, from: $0) != nil }
        }
    }

    /// Returns the text with every occurrence of `wanted` replaced.
    static func replacing(_ wanted: String, in text: String, with mark: String) -> String {
        let wanted = Array(wanted.utf8)
        var output: [UInt8] = []
        var text = text
        let isFound = text.withUTF8 { utf8 in
            let bytes = UnsafeRawBufferPointer(utf8)
            var (index, copied) = (0, 0)
            while index < bytes.count {
                guard let end = end(of: wanted, in: bytes, from: index) else {
                    index += 1
                    continue
                }
                output += bytes[copied..<index]
                output += mark.utf8
                (index, copied) = (end, end)
            }
            if copied > 0 { output += bytes[copied...] }
            return copied > 0
        }
        return isFound ? String(decoding: output, as: UTF8.self) : text
    }

    /// Returns the end of the text that begins at `start`; nil if another text begins there.
    private static func end(of wanted: [UInt8], in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var index = start
        for byte in wanted {
            guard index < bytes.count else { return nil }
            if bytes[index] == byte {
                index += 1
                continue
            }
            guard let length = lengthOfEscape(for: byte, in: bytes, at: index) else { return nil }
            index += length
        }
        return index > start ? index : nil
    }

    /// Returns the length of an escape that stands for `byte`; nil if there is none at `index`.
    private static func lengthOfEscape(for byte: UInt8, in bytes: UnsafeRawBufferPointer, at index: Int) -> Int? {
        func next(_ offset: Int) -> UInt8 { index + offset < bytes.count ? bytes[index + offset] : 0 }
        switch bytes[index] {
        case UInt8(ascii: "%"):
            return number(16, 2, in: bytes, at: index + 1) == UInt32(byte) ? 3 : nil
        case UInt8(ascii: "\\"):
            if next(1) == byte { return 2 }
            return next(1) | 0x20 == UInt8(ascii: "u") && number(16, 4, in: bytes, at: index + 2) == UInt32(byte)
                ? 6 : nil
        case UInt8(ascii: "&") where next(1) == UInt8(ascii: "#"):
            let isHex = next(2) | 0x20 == UInt8(ascii: "x")
            let start = index + (isHex ? 3 : 2)
            for count in 1...7 where start + count < bytes.count && bytes[start + count] == UInt8(ascii: ";") {
                return number(isHex ? 16 : 10, count, in: bytes, at: start) == UInt32(byte)
                    ? start + count + 1 - index : nil
            }
            return nil
        case UInt8(ascii: "&"):
            guard let name = names[byte], (index + 1 + name.count) <= bytes.count,
                bytes[(index + 1)..<(index + 1 + name.count)].elementsEqual(name)
            else { return nil }
            return name.count + 1
        default: return nil
        }
    }

    private static let names: [UInt8: [UInt8]] = [
        UInt8(ascii: "&"): Array("amp;".utf8), UInt8(ascii: "<"): Array("lt;".utf8),
        UInt8(ascii: ">"): Array("gt;".utf8), UInt8(ascii: "\""): Array("quot;".utf8),
        UInt8(ascii: "'"): Array("apos;".utf8),
    ]

    private static func number(_ radix: UInt32, _ count: Int, in bytes: UnsafeRawBufferPointer, at start: Int)
        -> UInt32?
    {
        guard start + count <= bytes.count else { return nil }
        var value: UInt32 = 0
        for byte in bytes[start..<(start + count)] {
            let digit: UInt32
            switch byte {
            case 0x30...0x39: digit = UInt32(byte - 0x30)
            case 0x41...0x46: digit = UInt32(byte - 0x41 + 10)
            case 0x61...0x66: digit = UInt32(byte - 0x61 + 10)
            default: return nil
            }
            guard digit < radix else { return nil }
            value = value &* radix &+ digit
        }
        return value
    }
}
