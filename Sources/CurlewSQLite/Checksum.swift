// SPDX-License-Identifier: MIT

import CurlewFoundation

/// A checksum of 64 bits that detects damage: flipped bits, lost pages, and bytes that belong to another entry.
///
/// It is not a protection against a user who can write to the store, and who could compute any checksum. Without that
/// demand, eight bytes cost one multiplication: a digest such as SHA-256 would double the time of a hit with a large
/// body. CRC-32 is not faster, and would accept one of four billion damaged bodies.
struct Checksum: Sendable {
    private var state: UInt64
    private var count: UInt64 = 0
    /// The last bytes, until there are eight.
    private var word: UInt64 = 0

    /// - `seed`: a number on which the checksum depends, such as that of the entry.
    init(seed: Int64) {
        state = Self.mixed(0x9E37_79B9_7F4A_7C15, UInt64(bitPattern: seed))
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
        while position < bytes.count {
            if count & 7 == 0, bytes.count - position >= 8 {
                let next = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
                (state, position, count) = (Self.mixed(state, next), position + 8, count + 8)
            } else {
                word |= UInt64(bytes[position]) << (56 - 8 * (count & 7))
                (position, count) = (position + 1, count + 1)
                if count & 7 == 0 { (state, word) = (Self.mixed(state, word), 0) }
            }
        }
    }

    var value: Int64 { Int64(bitPattern: Self.mixed(Self.mixed(state, word), count)) }

    @inline(__always)
    private static func mixed(_ state: UInt64, _ word: UInt64) -> UInt64 {
        let product = (state ^ word).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
        return product.high ^ product.low
    }
}
