// SPDX-License-Identifier: MIT

/// The encoding of a document, detected by its byte order mark, or by the positions of zeros among its first bytes.
///
/// JSON begins with an ASCII character, so in UTF-16 and UTF-32 some of the first bytes are zeros (RFC 4627 §3).
struct TextEncoding {
    /// The number of bytes of a code unit: 1 for UTF-8, 2 for UTF-16, 4 for UTF-32.
    private(set) var unit = 1
    private var isBigEndian = false
    /// The length of the byte order mark in bytes; 0 without a mark.
    private(set) var start = 0

    var isUTF8: Bool { unit == 1 }

    init(of bytes: UnsafeRawBufferPointer) {
        // UTF-8 without a mark, the usual case.
        guard bytes.count >= 2, bytes[0] == 0 || bytes[1] == 0 || bytes[0] >= 0xEF else { return }
        let first = (0..<4).map { $0 < bytes.count ? bytes[$0] : nil }
        switch (first[0], first[1], first[2], first[3]) {
        case (0xEF, 0xBB, 0xBF, _): start = 3
        case (0, 0, 0xFE, 0xFF): (unit, isBigEndian, start) = (4, true, 4)
        case (0xFF, 0xFE, 0, 0): (unit, start) = (4, 4)
        case (0xFE, 0xFF, _, _): (unit, isBigEndian, start) = (2, true, 2)
        case (0xFF, 0xFE, _, _): (unit, start) = (2, 2)
        case (0, 0, 0, .some(1...)): (unit, isBigEndian) = (4, true)
        case (.some(1...), 0, 0, 0): unit = 4
        case (0, .some(1...), 0, .some(1...)), (0, .some(1...), nil, nil): (unit, isBigEndian) = (2, true)
        case (.some(1...), 0, .some(1...), 0), (.some(1...), 0, nil, nil): unit = 2
        default: break
        }
    }

    /// Converts UTF-16 or UTF-32 to UTF-8. `bytes` are the bytes after the byte order mark.
    ///
    /// Throws if the text contains a lone surrogate or a value above U+10FFFF. The position of the error is the number
    /// of bytes of UTF-8 that precede it. An incomplete character at the end is omitted, see `remainder`.
    func utf8(of bytes: UnsafeRawBufferPointer) throws(SyntaxFailure) -> ContiguousArray<UInt8> {
        var text: ContiguousArray<UInt8> = []
        text.reserveCapacity(bytes.count / unit + 16)
        var position = 0
        while let (scalar, length) = scalar(at: position, in: bytes) {
            guard let scalar = Unicode.Scalar(scalar) else { throw SyntaxFailure(.invalidText, at: text.count) }
            if scalar.isASCII {
                text.append(UInt8(truncatingIfNeeded: scalar.value))
            } else {
                text.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            }
            position += length
        }
        return text
    }

    /// Returns the number of bytes at the end that form no character: half a code unit, or half a surrogate pair.
    func remainder(of bytes: UnsafeRawBufferPointer) -> Int {
        let left = bytes.count % unit
        guard unit == 2, bytes.count >= 2, let last = unit16(at: bytes.count - left - 2, in: bytes) else { return left }
        return UTF16.isLeadSurrogate(last) ? left + 2 : left
    }

    /// Converts an offset in the UTF-8 to an offset in the document, with its line and column.
    ///
    /// Used only for errors: a valid document needs no line and column.
    func position(of offset: Int, in bytes: UnsafeRawBufferPointer) -> (offset: Int, line: Int, column: Int) {
        var position = 0
        var utf8 = 0
        var line = 1
        var lineStart = 0
        var follows = false
        while utf8 < offset, let (scalar, length) = scalar(at: position, in: bytes) {
            position += length
            utf8 += unit == 1 ? length : Unicode.Scalar(scalar).map { UTF8.width($0) } ?? 3
            // LF, CR, or CR LF ends a line.
            if scalar == UInt32(Byte.newline), follows {
                lineStart = position
            } else if scalar == UInt32(Byte.newline) || scalar == UInt32(Byte.carriageReturn) {
                line += 1
                lineStart = position
            }
            follows = scalar == UInt32(Byte.carriageReturn)
        }
        return (position, line, position - lineStart + 1)
    }

    /// Returns the byte of UTF-8 or the character of UTF-16 or UTF-32 at `position`, and its length in bytes; nil at the
    /// end of the text, or if the character is incomplete.
    @inline(__always)
    private func scalar(at position: Int, in bytes: UnsafeRawBufferPointer) -> (value: UInt32, length: Int)? {
        if unit == 1 { return position < bytes.count ? (UInt32(bytes[position]), 1) : nil }
        guard unit == 2 else { return unit32(at: position, in: bytes).map { ($0, 4) } }
        guard let first = unit16(at: position, in: bytes) else { return nil }
        guard UTF16.isLeadSurrogate(first) else { return (UInt32(first), 2) }
        guard let second = unit16(at: position + 2, in: bytes) else { return nil }
        guard UTF16.isTrailSurrogate(second) else { return (UInt32(first), 2) }
        return (0x1_0000 + (UInt32(first & 0x3FF) << 10 | UInt32(second & 0x3FF)), 4)
    }

    @inline(__always)
    private func unit16(at position: Int, in bytes: UnsafeRawBufferPointer) -> UInt16? {
        guard position >= 0, position <= bytes.count - 2 else { return nil }
        let unit = bytes.loadUnaligned(fromByteOffset: position, as: UInt16.self)
        return isBigEndian ? UInt16(bigEndian: unit) : UInt16(littleEndian: unit)
    }

    @inline(__always)
    private func unit32(at position: Int, in bytes: UnsafeRawBufferPointer) -> UInt32? {
        guard position <= bytes.count - 4 else { return nil }
        let unit = bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self)
        return isBigEndian ? UInt32(bigEndian: unit) : UInt32(littleEndian: unit)
    }
}
