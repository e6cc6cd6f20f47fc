// SPDX-License-Identifier: MIT

import CurlewCore
package import CurlewFoundation

/// The most recent removals of a memory store, by number. A commit checks whether one of them has removed its entry
/// since the lookup.
struct RecentRemovals: Sendable {
    /// The minimum number of removals to keep. An entry whose lookup preceded all kept removals counts as removed.
    static let maximum = 1024

    /// The number of the last removal.
    private(set) var last: Int64 = 0
    private var selections: [HTTPCache.Removal] = []

    mutating func note(_ selection: HTTPCache.Removal) {
        last += 1
        selections.append(selection)
        if selections.count >= 2 * Self.maximum { selections.removeFirst(selections.count - Self.maximum) }
    }

    /// Returns whether a removal after number `start` contains the entry. A removal with a function of the app counts
    /// as containing every entry that is being written, because the function is not called again.
    func reach(_ response: HTTPCache.Entry, since start: Int64) -> Bool {
        guard start < last else { return false }
        let count = last - start
        guard start >= 0, count <= Int64(selections.count) else { return true }
        return selections.suffix(Int(count)).contains { selection in
            if case .matching = selection { return true }
            return selection.contains(response)
        }
    }
}

extension HTTPCache.Entry {
    /// Whether the request of this response was sent later than the request of `other`. A request time in the future is
    /// a clock error, and does not count as later.
    package func isNewer(than other: HTTPCache.Entry, now: Date = Date()) -> Bool {
        requestTime > other.requestTime && requestTime <= max(now, other.responseTime)
    }
}
