// SPDX-License-Identifier: MIT

import CurlewCore

/// Removals that a store still has to make, because it failed or took too long when the responses were invalidated.
///
/// Until then, what is stored for these URLs is not used. All caches of the process that share a store share its debts.
/// Beyond 1000 URLs everything counts as owed.
final class CacheDebts: Sendable {
    private struct State: Sendable {
        var targets: [String: UInt64] = [:]
        var everything: UInt64?
        var last: UInt64 = 0
    }

    private struct Known: Sendable {
        weak var debts: CacheDebts?
    }

    private static let most = 1000
    private static let known = Locked<[ObjectIdentifier: Known]>([:])
    private let state = Locked(State())

    /// Returns the debts of `store`. A store that is a value type has separate debts for each cache.
    static func of(_ store: any CacheStore) -> CacheDebts {
        guard type(of: store) is AnyClass else { return CacheDebts() }
        let id = ObjectIdentifier(store as AnyObject)
        return known.withLock { known in
            if let debts = known[id]?.debts { return debts }
            known = known.filter { $0.value.debts != nil }
            let debts = CacheDebts()
            known[id] = Known(debts: debts)
            return debts
        }
    }

    /// Records that the entries of these URLs are to be removed. Returns the number for `settle`.
    func owe(_ targets: Set<String>) -> UInt64 {
        state.withLock { state in
            state.last += 1
            if state.targets.count + targets.count > Self.most {
                state.targets = [:]
                state.everything = state.last
            } else {
                for target in targets { state.targets[target] = state.last }
            }
            return state.last
        }
    }

    /// Returns the removal to make before an entry of this URL may be used.
    func selection(for target: String) -> (selection: CacheRemoval, number: UInt64)? {
        state.withLock { state in
            if state.everything == nil, state.targets.isEmpty { return nil }
            if state.everything != nil { return (.everything, state.last) }
            return state.targets[target] == nil ? nil : (.target(target), state.last)
        }
    }

    /// Records that a removal has been made, for all debts up to `number`.
    func settle(_ selection: CacheRemoval, upTo number: UInt64) {
        state.withLock { state in
            switch selection {
            case .everything:
                if let owed = state.everything, owed <= number { state.everything = nil }
                state.targets = state.targets.filter { $0.value > number }
            case .target(let target):
                if let owed = state.targets[target], owed <= number { state.targets[target] = nil }
            default: break
            }
        }
    }
}
