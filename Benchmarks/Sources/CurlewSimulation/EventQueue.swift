// SPDX-License-Identifier: MIT

/// What happens next, in virtual time: a binary heap, first in first out among what happens at the same moment.
struct EventQueue {
    enum Kind {
        /// A caller sends a call.
        case arrival
        /// The call in this slot is sent, for the first time or again.
        case send(Int)
        /// The call in this slot receives the outcome of its latest request.
        case outcome(Int, Answer)
    }

    struct Event {
        /// Nanoseconds since the start.
        let time: Int64
        fileprivate let order: UInt64
        let kind: Kind

        fileprivate func precedes(_ other: Event) -> Bool {
            time == other.time ? order < other.order : time < other.time
        }
    }

    private var heap: [Event] = []
    private var last: UInt64 = 0

    mutating func add(_ kind: Kind, at time: Int64) {
        last += 1
        heap.append(Event(time: time, order: last, kind: kind))
        var index = heap.count - 1
        while index > 0 {
            let parent = (index - 1) / 2
            guard heap[index].precedes(heap[parent]) else { return }
            heap.swapAt(index, parent)
            index = parent
        }
    }

    mutating func next() -> Event? {
        guard let first = heap.first, let tail = heap.popLast() else { return nil }
        guard !heap.isEmpty else { return first }
        heap[0] = tail
        var index = 0
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2] where child < heap.count && heap[child].precedes(heap[least]) {
                least = child
            }
            guard least != index else { return first }
            heap.swapAt(index, least)
            index = least
        }
    }
}
