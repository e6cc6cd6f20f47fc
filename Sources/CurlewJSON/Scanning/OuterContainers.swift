// SPDX-License-Identifier: MIT

/// A stack of the open containers around the innermost one. Its memory is managed manually, as for the tape: the
/// scanner deallocates it.
struct OuterContainers {
    struct Element {
        let container: UInt32
        let elements: UInt32
        let filter: KeyFilter
    }

    private var memory: UnsafeMutablePointer<Element>
    private var count = 0
    private var capacity = 16

    init() { memory = .allocate(capacity: capacity) }

    func deallocate() { memory.deallocate() }

    @inline(__always)
    mutating func append(_ element: Element) {
        if count == capacity { grow() }
        (memory + count).initialize(to: element)
        count &+= 1
    }

    /// Removes and returns the innermost of these containers. The stack must not be empty.
    @inline(__always)
    mutating func removeLast() -> Element {
        assert(count > 0)
        count &-= 1
        return memory[count]
    }

    @inline(never)
    private mutating func grow() {
        let larger = UnsafeMutablePointer<Element>.allocate(capacity: capacity * 2)
        larger.moveInitialize(from: memory, count: count)
        memory.deallocate()
        memory = larger
        capacity *= 2
    }
}
