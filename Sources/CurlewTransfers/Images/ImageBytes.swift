// SPDX-License-Identifier: MIT

import CurlewFoundation

/// The bytes of a file, or of a part of it, read at positions that may lie outside: then the result is nil.
struct ImageBytes {
    private let bytes: Data

    init(_ bytes: Data) {
        self.bytes = bytes
    }

    var count: Int { bytes.count }

    subscript(position: Int) -> UInt8? {
        guard position >= 0, position < bytes.count else { return nil }
        return bytes[bytes.startIndex + position]
    }

    /// The bytes of `range`, numbered from 0; nil unless all of them are there.
    subscript(range: Range<Int>) -> ImageBytes? {
        guard range.lowerBound >= 0, range.upperBound <= bytes.count else { return nil }
        return ImageBytes(bytes[bytes.startIndex + range.lowerBound..<bytes.startIndex + range.upperBound])
    }

    /// Returns whether the bytes at `position` are those of an ASCII text.
    func holds(_ text: StaticString, at position: Int) -> Bool {
        guard position >= 0, position <= bytes.count, bytes.count - position >= text.utf8CodeUnitCount else {
            return false
        }
        return text.withUTF8Buffer { bytes[(bytes.startIndex + position)...].starts(with: $0) }
    }

    /// Returns the number of `width` bytes at `position`, at most four; the first byte is the most significant one
    /// unless `isLittle`.
    func number(at position: Int, _ width: Int, isLittle: Bool = false) -> UInt32? {
        guard position >= 0, position <= bytes.count, bytes.count - position >= width else { return nil }
        var value: UInt32 = 0
        for offset in 0..<width {
            let place = isLittle ? width - 1 - offset : offset
            value = value << 8 | UInt32(bytes[bytes.startIndex + position + place])
        }
        return value
    }
}
