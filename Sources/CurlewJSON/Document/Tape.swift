// SPDX-License-Identifier: MIT

/// The cells of a document in order: a container, then its contents; a key, then its value.
///
/// The memory is managed manually, because an array in a class would be retained and released around every access. The
/// owner of a tape deallocates it.
///
/// Only the scanner creates indexes: it writes the cells in order, and a container stores the index after its end.
/// Assertions check the indexes, in debug builds only. After scanning, the tape is immutable and any number of threads
/// may read it.
struct Tape {
    /// The value that represents no container: the parent of the root value.
    static let noParent = UInt32.max

    private var cells: UnsafeMutablePointer<Cell>
    private(set) var count = 0
    private var capacity: Int

    /// Creates an empty tape with an initial capacity for a document of `bytes` bytes.
    ///
    /// Apart from a few cells at the beginning, sixteen bytes fill at most nine cells. For large documents, that
    /// capacity is allocated at once: the system commits the memory only as it is written. Small documents usually need
    /// less.
    init(forBytes bytes: Int) {
        let isLarge = bytes >= 1 << 16
        capacity = min(isLarge ? bytes / 16 * 9 : bytes / 4, 1 << 24) + 32
        cells = .allocate(capacity: capacity)
    }

    @inline(__always)
    mutating func append(_ cell: Cell) {
        if count == capacity { grow() }
        (cells + count).initialize(to: cell)
        count &+= 1
    }

    @inline(__always)
    subscript(index: Int) -> Cell {
        get {
            assert(index >= 0 && index < count)
            return cells[index]
        }
        nonmutating set {
            assert(index >= 0 && index < count)
            cells[index] = newValue
        }
    }

    /// Returns the index of the cell after a value and its contents.
    @inline(__always)
    func index(after index: Int) -> Int {
        let cell = self[index]
        if !cell.isContainer { return index &+ 1 &+ Int(truncatingIfNeeded: cell.bits &>> 6 & 1) }
        return cell.has(.extra) ? self[cell.position].high : index &+ cell.smallLength
    }

    @inline(__always)
    func trailer(_ container: Cell) -> Trailer { Trailer(self[container.position], self[container.position &+ 1]) }

    /// Returns the number of elements of an array, or of members of an object.
    @inline(__always)
    func elements(_ container: Cell) -> Int {
        container.has(.extra) ? self[container.position].low : container.smallCount
    }

    /// Returns the index of the cell after the last element of a container.
    @inline(__always)
    func end(of index: Int, _ container: Cell) -> Int {
        container.has(.extra) ? container.position : index &+ container.smallLength
    }

    /// Returns the index of the container around a container; `noParent` for the root.
    func parent(of container: Int) -> UInt32 {
        let cell = self[container]
        return cell.has(.extra) ? trailer(cell).parent : UInt32(truncatingIfNeeded: cell.position)
    }

    /// Returns the index of a key: `index` itself, or the next cell if this cell holds the length of a long key.
    @inline(__always)
    func key(at index: Int) -> Int { self[index].kind == .keyLength ? index &+ 1 : index }

    @inline(__always)
    func keyLength(at index: Int) -> Int {
        let length = self[index].keyLength
        return length == Cell.longKey ? self[index &- 1].position : length
    }

    @inline(__always)
    func stringLength(at index: Int) -> Int {
        let cell = self[index]
        return cell.has(.extra) ? self[index &+ 1].low : Int(truncatingIfNeeded: cell.detail)
    }

    /// Returns a slot of a table. Each slot is half a cell.
    @inline(__always)
    func slot(_ number: Int, ofTableAt table: Int) -> Int {
        let cell = self[table &+ number &>> 1]
        return number & 1 == 0 ? cell.low : cell.high
    }

    @inline(__always)
    func setSlot(_ number: Int, ofTableAt table: Int, to value: Int) {
        let cell = self[table &+ number &>> 1]
        self[table &+ number &>> 1] =
            number & 1 == 0 ? Cell(high: cell.high, low: value) : Cell(high: value, low: cell.low)
    }

    @inline(never)
    private mutating func grow() {
        let larger = UnsafeMutablePointer<Cell>.allocate(capacity: capacity * 2)
        larger.moveInitialize(from: cells, count: count)
        cells.deallocate()
        cells = larger
        capacity *= 2
    }

    func deallocate() { cells.deallocate() }
}

/// The kind of a cell of the tape: a kind of value, a key, or the length of a key. Containers have the highest codes,
/// so that one comparison recognizes them.
struct Kind: Equatable {
    let code: UInt8

    static let null = Kind(code: 0)
    static let `false` = Kind(code: 1)
    static let `true` = Kind(code: 2)
    static let number = Kind(code: 3)
    static let string = Kind(code: 4)
    static let key = Kind(code: 5)
    /// The length of the long key in the next cell.
    static let keyLength = Kind(code: 6)
    static let array = Kind(code: 7)
    static let object = Kind(code: 8)
}

/// Eight bytes of the tape: a value, a key, or a continuation of the previous cell.
///
/// An `Int` has 32 bits on some watches, so no conversion to it may trap.
///
///     bits        from the lowest: 4 for the kind, 4 for the flags, 24 for the detail, 32 for the place
///     number      The detail is the number, below 2^24, and the place is the offset of its text. If `extra` is set,
///                 the detail is the exponent of ten (16 bits), and the next cell holds the digits as an integer.
///     long number `extra` and `long` are set. The next cell holds the number of digits before the point (high), and
///                 the length of sign, digits and point (low).
///     string      The detail is the length, and the place is the offset. If `extra` is set, the next cell holds the
///                 length.
///     key         The detail is the length (8 bits) and 16 bits of the hash, and the place is the offset. A key of
///                 255 bytes or more has 255 as its length, and the cell before it (`keyLength`) holds its length. So
///                 a key is always directly before its value.
///     container   The detail is the number of elements (12 bits) and of cells (12 bits), and the place is the index of
///                 the outer container. If `extra` is set, the place is the index of its `Trailer`.
struct Cell {
    private(set) var bits: UInt64

    struct Flags {
        let bits: UInt64

        /// A value with more than one cell, or a container with a trailer.
        static let extra = Flags(bits: 1 << 6)
        /// A string or key with a backslash.
        static let escaped = Flags(bits: 1 << 4)
        /// A snake-case key of ASCII letters and digits. It is converted to camel case byte by byte.
        static let converted = Flags(bits: 1 << 5)
        /// A key that is converted to camel case with the Unicode rules of `String`.
        static let uncommon = Flags(bits: 1 << 6)
        /// A key, or an object with a key, that has more consecutive combining marks than `CombiningMarks` allows.
        static let crowded = Flags(bits: 1 << 7)
        /// A negative number, or minus zero.
        static let negative = Flags(bits: 1 << 4)
        /// A number that is read from its text, because it has more digits or a larger exponent than the tape can hold.
        static let long = Flags(bits: 1 << 5)
        /// An object that may contain two equal keys. Every search in it begins at its first key.
        static let repeated = Flags(bits: 1 << 4)
        /// An object with a key that has escapes or non-ASCII characters.
        static let foreign = Flags(bits: 1 << 5)
    }

    /// Creates a cell from all of its bits.
    @inline(__always)
    init(bits: UInt64) { self.bits = bits }

    @inline(__always)
    init(_ kind: Kind, at position: Int, detail: UInt64 = 0) {
        bits = UInt64(kind.code) | detail &<< 8 | UInt64(UInt32(truncatingIfNeeded: position)) &<< 32
    }

    @inline(__always)
    init(high: Int, low: Int) {
        bits = UInt64(UInt32(truncatingIfNeeded: high)) &<< 32 | UInt64(UInt32(truncatingIfNeeded: low))
    }

    @inline(__always) var kind: Kind { Kind(code: UInt8(truncatingIfNeeded: bits) & 15) }
    @inline(__always) var isContainer: Bool { kind.code >= Kind.array.code }
    @inline(__always) var position: Int { Int(truncatingIfNeeded: bits &>> 32) }
    @inline(__always) var detail: UInt64 { bits &>> 8 & 0xFF_FFFF }
    @inline(__always) func has(_ flag: Flags) -> Bool { bits & flag.bits != 0 }
    @inline(__always) mutating func set(_ flag: Flags) { bits |= flag.bits }
    mutating func clear(_ flag: Flags) { bits &= ~flag.bits }

    // Continuation cells.
    @inline(__always) var high: Int { Int(truncatingIfNeeded: bits &>> 32) }
    @inline(__always) var low: Int { Int(truncatingIfNeeded: UInt32(truncatingIfNeeded: bits)) }

    // Keys.
    /// The value of `keyLength` in the cell of a key with this length or more.
    static var longKey: Int { 255 }
    @inline(__always) var keyLength: Int { Int(truncatingIfNeeded: bits &>> 8 & 0xFF) }
    @inline(__always) var hash: UInt16 { UInt16(truncatingIfNeeded: bits &>> 16) }
    /// Whether the bytes of a key can be compared without conversion: it has no escapes, and is not converted to camel
    /// case.
    @inline(__always)
    var isPlainKey: Bool {
        bits & (Flags.escaped.bits | Flags.converted.bits | Flags.uncommon.bits) == 0
    }

    // Numbers with an extra cell.
    @inline(__always) var exponent: Int { Int(Int16(truncatingIfNeeded: bits &>> 8)) }

    // Small containers.
    /// A container with this number of cells or more has a trailer, and so does an array with this number of elements
    /// or more, or an object with more than `KeyIndex.threshold` keys.
    static var smallCells: Int { 1 << 12 }
    static var smallElements: Int { 1 << 8 }
    @inline(__always) var smallCount: Int { Int(truncatingIfNeeded: bits &>> 8 & 0xFFF) }
    @inline(__always) var smallLength: Int { Int(truncatingIfNeeded: bits &>> 20 & 0xFFF) }
    @inline(__always)
    mutating func setSize(elements: Int, cells: Int) {
        bits |= UInt64(UInt32(truncatingIfNeeded: elements | cells &<< 12)) &<< 8
    }
    /// Replaces the index of the outer container with the index of the trailer. The trailer contains the outer
    /// container and the size.
    mutating func setTrailer(_ index: Int) {
        bits = bits & 0xFFFF_FFFF | Flags.extra.bits | UInt64(UInt32(truncatingIfNeeded: index)) &<< 32
    }
    /// Whether the container is empty. An empty object has no first key.
    @inline(__always) var isEmptyContainer: Bool { bits & (0xFFF &<< 8 | Flags.extra.bits) == 0 }
}

/// The cells that follow the elements of a large container.
///
/// Its first cell holds the index of the cell after the trailer, and the number of elements. Its second cell holds the
/// outer container, and the size of the table. The table follows: it finds keys by their hashes, or elements by their
/// indexes.
struct Trailer {
    /// The number of cells before the table.
    static let fixedCells = 2

    let next: Int
    let count: Int
    let parent: UInt32
    /// The binary logarithm of the number of slots in the table of an object; 0 without a table.
    let logarithm: Int

    @inline(__always)
    init(_ first: Cell, _ second: Cell) {
        (next, count) = (first.high, first.low)
        (parent, logarithm) = (UInt32(truncatingIfNeeded: second.high), second.low)
    }
}
