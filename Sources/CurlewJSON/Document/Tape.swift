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
