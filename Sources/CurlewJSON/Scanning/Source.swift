// SPDX-License-Identifier: MIT

/// The bytes of a document. Only this type reads them through a pointer, and it checks every offset.
///
/// A `Span` would provide the same checks, but a container that a model keeps cannot store one.
struct Source {
    private let base: UnsafeRawPointer
    let count: Int
    /// The first offset at which fewer than eight bytes are left.
    private let wordEnd: UInt

    /// A non-null address that stands for an empty buffer.
    static var nothing: UnsafePointer<UInt8> { ("" as StaticString).utf8Start }

    init(base: UnsafeRawPointer, count: Int) {
        self.base = base
        self.count = count
        wordEnd = UInt(bitPattern: max(0, count &- 7))
    }

    /// Returns the byte at an offset. Returns 0 outside the document, because the grammar of JSON accepts 0 nowhere.
    @inline(__always)
    subscript(position: Int) -> UInt8 {
        UInt(bitPattern: position) < UInt(bitPattern: count) ? base.load(fromByteOffset: position, as: UInt8.self) : 0
    }

    /// Returns eight bytes as a word, the first byte lowest; nil if fewer bytes are left.
    @inline(__always)
    func word(at position: Int) -> UInt64? {
        guard UInt(bitPattern: position) < wordEnd else { return nil }
        return UInt64(littleEndian: base.loadUnaligned(fromByteOffset: position, as: UInt64.self))
    }

    /// Returns fewer than eight bytes as a word, the first byte lowest, with zeros above.
    @inline(__always)
    func partialWord(at position: Int, count length: Int) -> UInt64 {
        if let word = word(at: position) { return word & ((1 &<< UInt64(truncatingIfNeeded: length &* 8)) &- 1) }
        return lastWord(at: position, count: length)
    }

    /// Returns a partial word where fewer than eight bytes are left, as in a short name. Reads groups of one, two and
    /// four bytes instead of single bytes.
    @inline(__always)
    private func lastWord(at position: Int, count length: Int) -> UInt64 {
        guard position >= 0, length >= 0, length < 8, position <= count &- length else { return 0 }
        var word: UInt64 = 0
        var end = length
        if length & 1 != 0 {
            end &-= 1
            word = UInt64(base.load(fromByteOffset: position &+ end, as: UInt8.self))
        }
        if length & 2 != 0 {
            end &-= 2
            let pair = base.loadUnaligned(fromByteOffset: position &+ end, as: UInt16.self)
            word = word &<< 16 | UInt64(UInt16(littleEndian: pair))
        }
        if length & 4 != 0 {
            let four = base.loadUnaligned(fromByteOffset: position, as: UInt32.self)
            word = word &<< 32 | UInt64(UInt32(littleEndian: four))
        }
        return word
    }

    /// Returns a range of the bytes as a buffer for the standard library, clamped to the end of the document.
    @inline(__always)
    func slice(_ position: Int, _ length: Int) -> UnsafeBufferPointer<UInt8> {
        let start = max(0, min(position, count))
        let bytes = UnsafeRawBufferPointer(start: base + start, count: max(0, min(length, count &- start)))
        return bytes.assumingMemoryBound(to: UInt8.self)
    }

    /// All bytes, for errors and copies.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }
}
