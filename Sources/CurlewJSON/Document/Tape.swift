// SPDX-License-Identifier: MIT

/// The cells of a document in their order: a container, then what it holds; a key, then its value.
///
/// Memory by hand, because an array in a class would be retained and released around every look at it. The scanner
/// alone makes the indices: it writes cells in order, and a container says where the next one begins. They are
/// asserted, so only debug builds check them. Once the scanner is done nothing changes any more, and any number of
/// threads may read. The owner of a tape deallocates it.
struct Tape {
    /// The parent of the root.
    static let noParent = UInt32.max

    private var cells: UnsafeMutablePointer<Cell>
    private(set) var count = 0
    private var capacity: Int

    /// No document fills more than nine cells with sixteen bytes, but for a few at its beginning. For large ones memory
    /// is only set aside, and the system hands it out as it is written to; small ones mostly need less.
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

    /// The cell after a value and all that it holds.
    @inline(__always)
    func index(after index: Int) -> Int {
        let cell = self[index]
        if !cell.isContainer { return index &+ 1 &+ Int(truncatingIfNeeded: cell.bits &>> 6 & 1) }
        return cell.has(.extra) ? self[cell.place].high : index &+ cell.smallLength
    }

    @inline(__always)
    func trailer(_ container: Cell) -> Trailer { Trailer(self[container.place], self[container.place &+ 1]) }

    /// The elements of an array, or the members of an object.
    @inline(__always)
    func elements(_ container: Cell) -> Int {
        container.has(.extra) ? self[container.place].low : container.smallCount
    }

    /// The cell after the last element of a container.
    @inline(__always)
    func end(of index: Int, _ container: Cell) -> Int {
        container.has(.extra) ? container.place : index &+ container.smallLength
    }

    /// The container that a container stands in.
    func parent(of container: Int) -> UInt32 {
        let cell = self[container]
        return cell.has(.extra) ? trailer(cell).parent : UInt32(truncatingIfNeeded: cell.place)
    }

    /// The key at a cell, or the one whose length stands there.
    @inline(__always)
    func key(at index: Int) -> Int { self[index].kind == .keyLength ? index &+ 1 : index }

    @inline(__always)
    func keyLength(at index: Int) -> Int {
        let length = self[index].keyLength
        return length == Cell.longKey ? self[index &- 1].place : length
    }

    @inline(__always)
    func stringLength(at index: Int) -> Int {
        let cell = self[index]
        return cell.has(.extra) ? self[index &+ 1].low : Int(truncatingIfNeeded: cell.detail)
    }

    /// Half a cell of a table.
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
