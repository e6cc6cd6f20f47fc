// SPDX-License-Identifier: MIT

import CurlewCore
import Dispatch

/// Looks after the deadlines of all exchanges of a transport with one timer.
///
/// An exchange says when to look at it next; what it does in between costs nothing here. The timer is set only for a
/// moment that is earlier than the one it is set for already.
final class DeadlineWatch: Sendable {
    /// Something with deadlines: ends what is late and says when to look again, nil when it is over.
    protocol Watched: AnyObject, Sendable {
        func look(at now: Int64) -> Int64?
    }

    private struct State {
        var watched: [ObjectIdentifier: any Watched] = [:]
        var next = Int64.max
    }

    private let state = Locked(State())
    private let queue = DispatchQueue(label: "curlew.urlsession.deadlines")

    /// Looks at `item` from now on, first at `moment`.
    func add(_ item: any Watched, at moment: Int64) {
        let mustArm = state.withLock { state in
            state.watched[ObjectIdentifier(item)] = item
            guard moment < state.next else { return false }
            state.next = moment
            return true
        }
        if mustArm { arm(for: moment) }
    }

    /// Forgets `item`.
    func remove(_ item: any Watched) {
        state.withLock { $0.watched[ObjectIdentifier(item)] = nil }
    }

    /// How many are looked after.
    var count: Int { state.withLock { $0.watched.count } }

    private func arm(for moment: Int64) {
        queue.asyncAfter(deadline: Self.time(of: moment, now: ExchangeClock.now())) { [weak self] in
            self?.fire(moment)
        }
    }

    /// When to look, at most a day from now: the queue has no name for times far away.
    ///
    /// The queue's clock is the one of the deadlines; both stand still while the device sleeps. Nothing here is an `Int`,
    /// which holds two seconds where it has 32 bits.
    static func time(of moment: Int64, now: Int64) -> DispatchTime {
        let wait = moment > now ? min(UInt64(bitPattern: moment &- now), 86_400_000_000_000) : 0
        return DispatchTime(uptimeNanoseconds: UInt64(max(0, now)) + wait)
    }

    private func fire(_ moment: Int64) {
        // A timer that was overtaken by an earlier one has nothing to do.
        let items = state.withLock { state in
            guard state.next == moment else { return [any Watched]() }
            state.next = .max
            return Array(state.watched.values)
        }
        var earliest = Int64.max
        let now = ExchangeClock.now()
        for item in items {
            if let next = item.look(at: now) { earliest = min(earliest, next) } else { remove(item) }
        }
        let next = earliest
        let mustArm = state.withLock { state in
            guard next < state.next else { return false }
            state.next = next
            return true
        }
        if mustArm { arm(for: next) }
    }
}
