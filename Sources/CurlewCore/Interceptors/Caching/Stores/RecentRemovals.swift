// SPDX-License-Identifier: MIT

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The last removals of a store in memory, by number: who commits an entry asks whether it was removed since its look-up.
struct RecentRemovals: Sendable {
    /// How many are kept at least. What was looked up before them counts as removed.
    static let most = 1024

    /// The number of the last one.
    private(set) var last: Int64 = 0
    private var selections: [CacheSelection] = []

    mutating func note(_ selection: CacheSelection) {
        last += 1
        selections.append(selection)
        if selections.count >= 2 * Self.most { selections.removeFirst(selections.count - Self.most) }
    }

    /// Whether the entry is among what was removed after the one with this number. A removal by a function of the app reaches
    /// everything that is on its way: the function is not called again.
    func reach(_ response: StoredResponse, since start: Int64) -> Bool {
        guard start < last else { return false }
        let count = last - start
        guard start >= 0, count <= Int64(selections.count) else { return true }
        return selections.suffix(Int(count)).contains { selection in
            if case .matching = selection { return true }
            return selection.contains(response)
        }
    }
}

extension StoredResponse {
    /// Whether its request was sent later than that of `other`. A time that lies in the future is a clock's mistake.
    package func isNewer(than other: StoredResponse, now: Date = Date()) -> Bool {
        requestTime > other.requestTime && requestTime <= max(now, other.responseTime)
    }
}
