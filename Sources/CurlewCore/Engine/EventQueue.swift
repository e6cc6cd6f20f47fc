// SPDX-License-Identifier: MIT

import CurlewHTTP
import Dispatch

/// Delivers the events of a client to the observers of its app, one at a time, on its own dispatch queue.
///
/// Recording an event only enqueues it, so an observer that writes to a disk blocks neither a connection nor a thread
/// of the concurrency runtime. A client without such observers has no queue.
final class EventQueue: EventSink {
    /// The maximum number of waiting events. If the queue is full, new events are dropped, and `.lost` reports their
    /// number.
    static let capacity = 16_384
    /// The maximum time that a call waits at its end for the delivery of its events.
    static let patience = Duration.seconds(5)

    private struct Entry: Sendable {
        let event: ExchangeEvent
        let context: ExchangeContext
    }

    private struct State {
        var waiting: [Entry] = []
        var isDelivering = false
        var lost = 0
        /// The number of events enqueued so far.
        var queued: UInt64 = 0
        /// Whether the timer is set that all waits share.
        var isWatched = false

        mutating func append(_ event: ExchangeEvent, in context: ExchangeContext) {
            waiting.append(Entry(event: event, context: context))
            queued += 1
        }
    }

    private let observers: [any RequestObserver]
    private let capacity: Int
    private let patience: Duration
    private let queue = DispatchQueue(label: "curlew.events")
    private let state = Locked(State())
    private let delivered = Monitor<UInt64>(0)

    init(_ observers: [any RequestObserver], capacity: Int = capacity, patience: Duration = patience) {
        self.observers = observers
        self.capacity = capacity
        self.patience = patience
    }

    var detail: CallEvent.Detail { .connections }

    /// Appends an event to the queue, or counts it as lost if the queue is full.
    func receive(_ event: CallEvent, in context: ExchangeContext) {
        let event = event.forObservers(context.secrets)
        let mustBegin = state.withLock { state in
            guard state.waiting.count < capacity else {
                state.lost += 1
                return false
            }
            if state.lost > 0 { state.append(.lost(state.lost), in: context) }
            state.lost = 0
            state.append(event, in: context)
            defer { state.isDelivering = true }
            return !state.isDelivering
        }
        if mustBegin { queue.async { self.deliverAll() } }
    }

    private func deliverAll() {
        // Reversed, so that `popLast` returns the oldest event, which is released after its delivery.
        var entries: [Entry] = []
        while true {
            if entries.isEmpty {
                entries = state.withLock { state in
                    defer { state.waiting = [] }
                    state.isDelivering = !state.waiting.isEmpty
                    return state.waiting.reversed()
                }
            }
            do {
                guard let entry = entries.popLast() else { return }
                for observer in observers { observer.record(entry.event, in: entry.context) }
            }
            delivered.withLock { $0 += 1 }
        }
    }

    /// Waits until all events queued so far have been delivered, at most five seconds.
    func allDelivered() async {
        let number = state.withLock { $0.queued }
        guard delivered.withLock({ $0 }) < number else { return }
        let isFirst = state.withLock { state in
            defer { state.isWatched = true }
            return !state.isWatched
        }
        if isFirst { watch() }
        // The waits check their conditions when the timer fires, which is at most its interval after this.
        let late = SystemTime().now.advanced(by: patience - interval)
        await delivered.waitThroughCancellation { $0 >= number || SystemTime().now >= late ? () : nil }
    }

    private var interval: Duration { patience / 5 }

    /// Sets the timer that all waits share. It is set again while events wait.
    private func watch() {
        let time = DispatchTime.now() + .nanoseconds(Int(clamping: interval.wholeNanoseconds))
        DispatchQueue.global().asyncAfter(deadline: time) { [weak self] in
            guard let self else { return }
            let isDelivering = state.withLock { state in
                state.isWatched = state.isDelivering
                return state.isDelivering
            }
            if isDelivering { watch() }
            delivered.withLock { _ in }
        }
    }
}
