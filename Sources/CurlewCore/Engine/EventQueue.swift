// SPDX-License-Identifier: MIT

import Dispatch

/// Tells the observers of a client what happens, one event after the other, on a dispatch queue of its own.
///
/// Recording an event only puts it into the queue, so that an observer that writes to a disk holds up neither a
/// connection nor a thread of the concurrency runtime. A client without observers has no queue.
package final class EventQueue: Sendable {
    /// The most events that wait. Of more the newest are dropped, and `.lost` says how many.
    static let capacity = 16_384
    /// The longest that a call waits at its end for its events to be told.
    static let patience = Duration.seconds(5)

    private struct Entry: Sendable {
        let event: ExchangeEvent
        let context: ExchangeContext
    }

    private struct Waiter {
        /// So many events have to be told first.
        let number: UInt64
        let since: MonotonicInstant
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var waiting: [Entry] = []
        var isTelling = false
        var lost = 0
        /// How many have been put into the queue, and how many of them are told.
        var queued: UInt64 = 0
        var told: UInt64 = 0
        var waiters: [Waiter] = []
        var isWatched = false
    }

    private let observers: [any RequestObserver]
    private let capacity: Int
    private let patience: Duration
    private let queue = DispatchQueue(label: "curlew.events")
    private let state = Locked(State())

    init(_ observers: [any RequestObserver], capacity: Int = capacity, patience: Duration = patience) {
        self.observers = observers
        self.capacity = capacity
        self.patience = patience
    }

    /// A queue for `observers`; nil without any.
    static func serving(_ observers: [any RequestObserver]) -> EventQueue? {
        observers.isEmpty ? nil : EventQueue(observers)
    }

    /// Puts an event behind those that wait.
    func tell(_ event: ExchangeEvent, in context: ExchangeContext) {
        let mustBegin = state.withLock { state in
            guard state.waiting.count < capacity else {
                state.lost += 1
                return false
            }
            if state.lost > 0 { Self.append(.lost(state.lost), in: context, to: &state) }
            state.lost = 0
            Self.append(event, in: context, to: &state)
            defer { state.isTelling = true }
            return !state.isTelling
        }
        if mustBegin { queue.async { self.tellAll() } }
    }

    private static func append(_ event: ExchangeEvent, in context: ExchangeContext, to state: inout State) {
        state.waiting.append(Entry(event: event, context: context))
        state.queued += 1
    }

    private func tellAll() {
        // Backwards, so that each is let go when it has been told.
        var entries: [Entry] = []
        while true {
            let (batch, finished) = state.withLock { state -> ([Entry]?, [Waiter]) in
                guard entries.isEmpty else { return (nil, Self.finished(&state)) }
                let batch = state.waiting
                state.waiting = []
                state.isTelling = !batch.isEmpty
                return (batch, Self.finished(&state))
            }
            for waiter in finished { waiter.continuation.resume() }
            if let batch {
                if batch.isEmpty { return }
                entries = batch.reversed()
            }
            if let entry = entries.popLast() {
                for observer in observers { observer.record(entry.event, in: entry.context) }
            }
            state.withLock { $0.told += 1 }
        }
    }

    private static func finished(_ state: inout State) -> [Waiter] {
        guard !state.waiters.isEmpty else { return [] }
        let told = state.told
        defer { state.waiters.removeAll { $0.number <= told } }
        return state.waiters.filter { $0.number <= told }
    }

    /// Returns when everything that is in the queue has been told, and after five seconds if an observer holds it up.
    func told() async {
        await withCheckedContinuation { continuation in
            let (isTold, mustWatch) = state.withLock { state in
                if state.told == state.queued { return (true, false) }
                state.waiters.append(Waiter(number: state.queued, since: Self.now, continuation: continuation))
                defer { state.isWatched = true }
                return (false, !state.isWatched)
            }
            if isTold { continuation.resume() }
            if mustWatch { watch(after: patience) }
        }
    }

    /// One timer for all waiters: it looks after five seconds, and again as long as there are some.
    private func watch(after delay: Duration) {
        let time = DispatchTime.now() + .nanoseconds(Int(clamping: delay.wholeNanoseconds))
        DispatchQueue.global().asyncAfter(deadline: time) { [weak self] in self?.look() }
    }

    private func look() {
        let (now, patience) = (Self.now, patience)
        let (late, rest) = state.withLock { state -> ([Waiter], Duration?) in
            let late = state.waiters.filter { $0.since.duration(to: now) >= patience }
            state.waiters.removeAll { $0.since.duration(to: now) >= patience }
            state.isWatched = !state.waiters.isEmpty
            return (late, state.waiters.first.map { patience - $0.since.duration(to: now) })
        }
        for waiter in late { waiter.continuation.resume() }
        if let rest { watch(after: rest) }
    }

    private static var now: MonotonicInstant {
        MonotonicInstant(nanoseconds: Int64(clamping: DispatchTime.now().uptimeNanoseconds))
    }
}
