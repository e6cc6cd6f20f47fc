// SPDX-License-Identifier: MIT

/// The table in the trailer of a large array. It holds the position of every 128th element, so that the index of an
/// element in the coding path of an error is found quickly.
///
/// A slot holds the distance of the element from the array, in cells.
enum ElementIndex {
    private static let step = 128

    static func slots(for elements: Int) -> Int { max(0, elements - 1) / step }

    static func fill(_ tape: Tape, _ array: Int, count: Int, table: Int) {
        var element = array + 1
        for number in 0..<count {
            if number > 0, number % step == 0 {
                tape.setSlot(number / step - 1, ofTableAt: table, to: element - array)
            }
            element = tape.index(after: element)
        }
    }

    /// Returns the nearest element with a known index, at or before the cell `index`, and its index in the array. In a
    /// large array, it is less than 128 elements away; in a small array, it is the first element.
    static func nearest(to index: Int, in array: Int, _ tape: Tape) -> (element: Int, number: Int) {
        let head = tape[array]
        guard head.has(.extra) else { return (array + 1, 0) }
        let table = head.position + Trailer.fixedCells
        // A binary search for the last slot whose element is not after `index`.
        var low = 0
        var high = slots(for: tape.elements(head))
        while low < high {
            let middle = (low + high) / 2
            if array + tape.slot(middle, ofTableAt: table) <= index { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? (array + 1, 0) : (array + tape.slot(low - 1, ofTableAt: table), low * step)
    }
}
