// SPDX-License-Identifier: MIT

import CurlewCore

/// The removals of invalidated entries that a store has not made yet, because it failed or took too long.
///
/// Until a removal is made, the entries of its URL are not used. All caches of the process that share a store object
/// share its pending removals. If the removals of more than 1000 URLs are missing, the store has to remove all entries
/// instead.
final class PendingRemovals: Sendable {
    private struct State: Sendable {
        var targets: [String: UInt64] = [:]
        var everything: UInt64?
        var last: UInt64 = 0
    }

    private struct Known: Sendable {
        weak var removals: PendingRemovals?
    }

    private static let maximum = 1000
    private static let known = Locked<[ObjectIdentifier: Known]>([:])
    private let state = Locked(State())

    /// Returns the pending removals of `store`. If the store is a value type, each cache has its own.
    static func of(_ store: any HTTPCache.Store) -> PendingRemovals {
        guard type(of: store) is AnyClass else { return PendingRemovals() }
        let id = ObjectIdentifier(store as AnyObject)
        return known.withLock { known in
            if let removals = known[id]?.removals { return removals }
            known = known.filter { $0.value.removals != nil }
            let removals = PendingRemovals()
            known[id] = Known(removals: removals)
            return removals
        }
    }

    /// Records that the entries of these URLs must be removed. Returns the number to pass to `finish`.
    func add(_ targets: Set<String>) -> UInt64 {
        state.withLock { state in
            state.last += 1
            if state.targets.count + targets.count > Self.maximum {
                state.targets = [:]
                state.everything = state.last
            } else {
                for target in targets { state.targets[target] = state.last }
            }
            return state.last
        }
    }

    /// Returns the removal that the store must make before an entry of this URL may be used; nil if none is pending.
    func selection(for target: String) -> (selection: HTTPCache.Removal, number: UInt64)? {
        state.withLock { state in
            if state.everything == nil, state.targets.isEmpty { return nil }
            if state.everything != nil { return (.everything, state.last) }
            return state.targets[target] == nil ? nil : (.target(target), state.last)
        }
    }

    /// Records that the store has made a removal. It ends the pending ones up to `number` that it covers.
    func finish(_ selection: HTTPCache.Removal, upTo number: UInt64) {
        state.withLock { state in
            switch selection {
            case .everything:
                if let pending = state.everything, pending <= number { state.everything = nil }
                state.targets = state.targets.filter { $0.value > number }
            case .target(let target):
                if let pending = state.targets[target], pending <= number { state.targets[target] = nil }
            default: break
            }
        }
    }
}
