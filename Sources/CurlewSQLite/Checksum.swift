// SPDX-License-Identifier: MIT

import CurlewFoundation

/// A checksum of 64 bits that detects damage: flipped bits, lost pages, and bytes that belong to another entry.
///
/// It is not a protection against a user who can write to the store, and who could compute any checksum. Without that
/// demand, eight bytes cost one multiplication: a digest such as SHA-256 would double the time of a hit with a large
/// body. CRC-32 is not faster, and would accept one of four billion damaged bodies. Four independent chains keep the
/// multiplications from waiting for each other.
struct Checksum: Sendable {
    /// The chains of words. The first one takes the next word.
    private var chains: (UInt64, UInt64, UInt64, UInt64)
    private var count: UInt64 = 0
    /// The last bytes, until there are eight.
    private var word: UInt64 = 0

    /// - `seed`: a number on which the checksum depends, such as that of the entry.
    init(seed: Int64) {
        let start = Self.mixed(0x9E37_79B9_7F4A_7C15, UInt64(bitPattern: seed))
        chains = (start, start &+ 0x9E37_79B9_7F4A_7C15, start &+ 0x3C6E_F372_FE94_F82A, start &+ 0xDAA6_6D2C_7DDF_743F)
    }

    static func of(_ bytes: Data, seed: Int64 = 0) -> Int64 {
        var sum = Checksum(seed: seed)
        sum.add(bytes)
        return sum.value
    }

    /// Adds the next bytes. It does not matter how they are divided.
    mutating func add(_ bytes: Data) {
        bytes.withUnsafeBytes { add($0) }
    }

    /// Adds the next bytes, like those of a buffer that is read again and again.
    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var position = 0
        while position < bytes.count, count & 7 != 0 { addByte(bytes, &position) }
        position += addBlocks(UnsafeRawBufferPointer(rebasing: bytes[position...]))
        while bytes.count - position >= 8 {
            addWord(UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)))
            (position, count) = (position + 8, count + 8)
        }
        while position < bytes.count { addByte(bytes, &position) }
    }

    private mutating func addByte(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) {
        word |= UInt64(bytes[position]) << (56 - 8 * (count & 7))
        (position, count) = (position + 1, count + 1)
        guard count & 7 == 0 else { return }
        addWord(word)
        word = 0
    }

    private mutating func addWord(_ word: UInt64) {
        chains = (chains.1, chains.2, chains.3, Self.mixed(chains.0, word))
    }

    /// Adds as many blocks of four words as there are, and returns the number of their bytes. On x86-64, the compiler
    /// would move little-endian words through vectors, which takes longer than the multiplications.
    private mutating func addBlocks(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard let start = bytes.baseAddress else { return 0 }
        var (first, second, third, fourth) = chains
        let end = bytes.count & ~31
        var position = 0
        while position < end {
            let words = start + position
            first = Self.mixed(first, UInt64(bigEndian: words.loadUnaligned(as: UInt64.self)))
            second = Self.mixed(second, UInt64(bigEndian: words.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
            third = Self.mixed(third, UInt64(bigEndian: words.loadUnaligned(fromByteOffset: 16, as: UInt64.self)))
            fourth = Self.mixed(fourth, UInt64(bigEndian: words.loadUnaligned(fromByteOffset: 24, as: UInt64.self)))
            position &+= 32
        }
        chains = (first, second, third, fourth)
        count += UInt64(end)
        return end
    }

    var value: Int64 {
        let combined = [chains.1, chains.2, chains.3, word, count].reduce(chains.0, Self.mixed)
        return Int64(bitPattern: combined)
    }

    @inline(__always)
    private static func mixed(_ state: UInt64, _ word: UInt64) -> UInt64 {
        let product = (state ^ word).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
        return product.high ^ product.low
    }
}
