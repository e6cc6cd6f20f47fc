// SPDX-License-Identifier: MIT

/// What an entry of the tape stands for. Containers come last, so that one comparison finds them.
struct Kind: Equatable {
    let code: UInt8

    static let null = Kind(code: 0)
    static let `false` = Kind(code: 1)
    static let `true` = Kind(code: 2)
    static let number = Kind(code: 3)
    static let string = Kind(code: 4)
    static let key = Kind(code: 5)
    static let array = Kind(code: 6)
    static let object = Kind(code: 7)
}

/// One value or key of a document in 16 bytes.
///
/// An `Int` has 32 bits on some watches, so nothing is converted to it in a way that could trap.
///
///     head  kind 8 bits, flags 24, place 32 (where the text starts; for an object, where the next search starts, or the
///           number of its key index)
///     body  a string or a key: hash of the key 32, length 32
///           a number: its digits as an integer; the exponent of ten is in the upper 16 flags
///           a long number: digits before the point 32, length of sign, digits and point 32
///           a container: the entry after it 32, number of elements 32
struct Entry {
    private(set) var head: UInt64
    private(set) var body: UInt64

    struct Flags {
        let bits: UInt64

        /// A string or key with a backslash.
        static let escaped = Flags(bits: 1 << 8)
        /// A key in snake case, to be compared in camel case.
        static let converted = Flags(bits: 1 << 9)
        /// A number below zero, or minus zero.
        static let negative = Flags(bits: 1 << 8)
        /// A number with more digits or a greater exponent than an entry holds; its text decides.
        static let long = Flags(bits: 1 << 9)
        /// An object with keys that bytes cannot compare: escapes, other scripts, uncommon snake case.
        static let uncommonKeys = Flags(bits: 1 << 8)
        /// An object that was read as a dictionary, whose keys stay as they are written.
        static let dictionary = Flags(bits: 1 << 9)
        /// An object of few keys with two of the same hash, so that searches have to begin with the first key.
        static let repeatedKeys = Flags(bits: 1 << 10)
        /// An object that has a key index.
        static let indexed = Flags(bits: 1 << 11)
    }

    @inline(__always)
    init(_ kind: Kind, at place: Int, body: UInt64 = 0) {
        head = UInt64(kind.code) | UInt64(UInt32(truncatingIfNeeded: place)) &<< 32
        self.body = body
    }

    /// The digits of a number that fits.
    @inline(__always)
    init(number digits: UInt64, exponent: Int16, isNegative: Bool, at place: Int) {
        head =
            UInt64(Kind.number.code) | (isNegative ? Flags.negative.bits : 0)
            | UInt64(UInt16(bitPattern: exponent)) &<< 16 | UInt64(UInt32(truncatingIfNeeded: place)) &<< 32
        body = digits
    }

    @inline(__always) var kind: Kind { Kind(code: UInt8(truncatingIfNeeded: head)) }
    @inline(__always) var isContainer: Bool { kind.code >= Kind.array.code }
    @inline(__always) var place: Int { Int(truncatingIfNeeded: head &>> 32) }
    @inline(__always) func has(_ flag: Flags) -> Bool { head & flag.bits != 0 }

    // Strings and keys.
    @inline(__always) var length: Int { Int(truncatingIfNeeded: UInt32(truncatingIfNeeded: body)) }
    @inline(__always) var hash: UInt32 { UInt32(truncatingIfNeeded: body &>> 32) }

    // Numbers.
    @inline(__always) var digits: UInt64 { body }
    var wholeDigits: Int { next }
    var mantissaLength: Int { length }
    @inline(__always) var exponent: Int { Int(Int16(truncatingIfNeeded: head &>> 16)) }
    /// Digits and perhaps a sign, nothing else: most numbers.
    @inline(__always) var isWhole: Bool { head & (Flags.long.bits | 0xFFFF_0000) == 0 }

    // Containers.
    @inline(__always) var count: Int { Int(truncatingIfNeeded: UInt32(truncatingIfNeeded: body)) }
    @inline(__always) var next: Int { Int(truncatingIfNeeded: body &>> 32) }

    @inline(__always) mutating func set(_ flag: Flags) { head |= flag.bits }
    mutating func clear(_ flag: Flags) { head &= ~flag.bits }
    @inline(__always)
    mutating func setPlace(_ place: Int) {
        head = head & 0xFFFF_FFFF | UInt64(UInt32(truncatingIfNeeded: place)) &<< 32
    }
    @inline(__always) mutating func setBody(high: Int, low: Int) { body = Entry.body(high: high, low: low) }

    @inline(__always)
    static func body(high: Int, low: Int) -> UInt64 {
        UInt64(UInt32(truncatingIfNeeded: high)) &<< 32 | UInt64(UInt32(truncatingIfNeeded: low))
    }
}
