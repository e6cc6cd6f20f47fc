// SPDX-License-Identifier: MIT

import CurlewFoundation

/// A reader for consecutive values in DER (Distinguished Encoding Rules, X.690 §10). Never reads beyond its bytes.
struct DERReader {
    struct Value {
        let tag: UInt8
        let content: Data
        /// The content with its tag and length.
        let whole: Data

        /// A reader for the values that `content` contains.
        var values: DERReader { DERReader(content) }
    }

    private var remainder: Data

    init(_ bytes: Data) {
        remainder = bytes
    }

    /// Returns the next value; nil at the end, and if the bytes are not valid DER.
    mutating func next() -> Value? {
        var bytes = remainder
        guard let tag = bytes.popFirst(), var length = bytes.popFirst().map(Int.init) else { return nil }
        if length >= 0x80 {
            // Three length bytes allow 16 MiB, which is more than any certificate needs and fits into 32 bits.
            let count = length & 0x7F
            guard (1...3).contains(count), bytes.count >= count else { return nil }
            length = bytes.prefix(count).reduce(0) { $0 << 8 | Int($1) }
            bytes = bytes.dropFirst(count)
        }
        guard length <= bytes.count else { return nil }
        let content = bytes.prefix(length)
        let whole = remainder[remainder.startIndex..<content.endIndex]
        remainder = bytes.dropFirst(length)
        return Value(tag: tag, content: content, whole: whole)
    }

    /// Returns the next value if it has this tag, otherwise nil. The value is consumed in both cases.
    mutating func next(_ tag: UInt8) -> Value? {
        guard let value = next(), value.tag == tag else { return nil }
        return value
    }
}

/// The tags (X.680 §8.6) that certificates use.
enum DERTag {
    static let octets: UInt8 = 0x04
    static let identifier: UInt8 = 0x06
    static let sequence: UInt8 = 0x30
    static let set: UInt8 = 0x31
    static let utcTime: UInt8 = 0x17
    static let generalizedTime: UInt8 = 0x18
}
