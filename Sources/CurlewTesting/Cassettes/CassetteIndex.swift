// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewRecording

/// The entries of a cassette, found by method and path, and then by the other parts that must match.
///
/// The keys of a route are computed when the first request for that route arrives, so a request never scans the file.
struct CassetteIndex: Sendable {
    struct Slot: Sendable {
        let entry: HARDocument.Entry
        let number: Int
        var isUsed = false
    }

    private(set) var slots: [Slot] = []
    private var options: Cassette.Options
    private var routes: [String: Route] = [:]

    private struct Route: Sendable {
        /// The slots whose keys are not computed yet.
        var pending: [Int] = []
        var queues: [CassetteKey: Queue] = [:]
    }

    private struct Queue: Sendable {
        var slots: [Int] = []
        var next = 0
    }

    init(_ entries: [HARDocument.Entry], options: Cassette.Options) {
        self.options = options
        slots.reserveCapacity(entries.count)
        for entry in entries {
            let path = CassetteURL(CassetteRedactor(redaction: options.redaction).url(entry.request.url)).path
            routes["\(entry.request.method) \(path)", default: Route()].pending.append(slots.count)
            slots.append(Slot(entry: entry, number: slots.count + 1))
        }
    }

    /// Returns the next entry for a request, and marks it as used; nil if there is none.
    mutating func take(_ request: CassetteRequest) -> Slot? {
        guard routes[request.route] != nil else { return nil }
        index(request.route)
        let key = request.key(options.matching)
        guard var queue = routes[request.route]?.queues[key] else { return nil }
        if queue.next >= queue.slots.count {
            guard options.exhaustion == .repeatLast, let last = queue.slots.last else { return nil }
            return slots[last]
        }
        let slot = queue.slots[queue.next]
        queue.next += 1
        routes[request.route]?.queues[key] = queue
        slots[slot].isUsed = true
        return slots[slot]
    }

    /// Marks the entry with this number as used.
    mutating func markUsed(_ number: Int) {
        if slots.indices.contains(number - 1) { slots[number - 1].isUsed = true }
    }

    /// Returns how many entries match a request, used or not.
    mutating func count(_ request: CassetteRequest) -> Int {
        guard routes[request.route] != nil else { return 0 }
        index(request.route)
        return routes[request.route]?.queues[request.key(options.matching)]?.slots.count ?? 0
    }

    private mutating func index(_ route: String) {
        guard let pending = routes[route]?.pending, !pending.isEmpty else { return }
        routes[route]?.pending = []
        for slot in pending {
            let key = CassetteRequest(slots[slot].entry, redaction: options.redaction).key(options.matching)
            routes[route]?.queues[key, default: Queue()].slots.append(slot)
        }
    }
}
