// SPDX-License-Identifier: MIT

import CurlewCore
import Dispatch

/// Checks the deadlines of all exchanges of a transport with one timer.
///
/// Each exchange specifies when it must be checked next. Activity of the exchange before that time costs nothing here.
/// The timer is rescheduled only for an earlier time.
final class DeadlineWatch: Sendable {
    /// An object with deadlines. `checkDeadlines` ends the object if a deadline has passed. It returns the time of the
    /// next check, or nil if the object has ended.
    protocol Watched: AnyObject, Sendable {
        func checkDeadlines(at now: Int64) -> Int64?
    }

    private struct State {
        var watched: [ObjectIdentifier: any Watched] = [:]
        var next = Int64.max
    }

    private let state = Locked(State())
    private let queue = DispatchQueue(label: "curlew.urlsession.deadlines")

    /// Adds `item`, to be checked at `moment` or earlier.
    func add(_ item: any Watched, at moment: Int64) {
        let mustArm = state.withLock { state in
            state.watched[ObjectIdentifier(item)] = item
            guard moment < state.next else { return false }
            state.next = moment
            return true
        }
        if mustArm { arm(for: moment) }
    }

    /// Removes `item`. Only a check that has already begun may still reach it.
    func remove(_ item: any Watched) {
        state.withLock { $0.watched[ObjectIdentifier(item)] = nil }
    }

    /// The number of items whose deadlines are checked.
    var count: Int { state.withLock { $0.watched.count } }

    private func arm(for moment: Int64) {
        queue.asyncAfter(deadline: Self.time(of: moment, now: TimeoutTracker.now())) { [weak self] in
            self?.fire(moment)
        }
    }

    /// Returns the time of the next check, at most a day from now, because the queue cannot represent distant times.
    ///
    /// The queue uses the same clock as the deadlines; both stop while the device sleeps. No value is an `Int`, because
    /// an `Int` of 32 bits overflows after two seconds of nanoseconds.
    static func time(of moment: Int64, now: Int64) -> DispatchTime {
        let wait = moment > now ? min(UInt64(bitPattern: moment &- now), 86_400_000_000_000) : 0
        return DispatchTime(uptimeNanoseconds: UInt64(max(0, now)) + wait)
    }

    private func fire(_ moment: Int64) {
        // A timer that an earlier one has replaced has no effect.
        let items = state.withLock { state in
            guard state.next == moment else { return [any Watched]() }
            state.next = .max
            return Array(state.watched.values)
        }
        var earliest = Int64.max
        let now = TimeoutTracker.now()
        for item in items {
            if let next = item.checkDeadlines(at: now) { earliest = min(earliest, next) } else { remove(item) }
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
