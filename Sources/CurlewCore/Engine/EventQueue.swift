// SPDX-License-Identifier: MIT

import CurlewHTTP
import Dispatch

/// Delivers the events of a client to its observers, one at a time, on its own dispatch queue.
///
/// Recording an event only enqueues it, so an observer that writes to a disk blocks neither a connection nor a thread
/// of the concurrency runtime. A client without observers has no queue.
///
/// An `ImmediateObserver` needs no queue: it receives each event on the thread that records it.
package final class EventQueue: Sendable {
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
    }

    private struct Immediate: Sendable {
        let observer: any ImmediateObserver
        let kinds: ExchangeEvent.Kinds
    }

    /// The kinds of events that an observer of this queue, or of the shared one, receives. Others need not be created.
    let kinds: ExchangeEvent.Kinds
    private let immediate: [Immediate]
    private let summarizing: [any ImmediateObserver]
    /// The observers that receive the heads of messages.
    private let reading: [any ImmediateObserver]
    private let observers: [any RequestObserver]
    /// Whether there are observers for which calls wait at their ends.
    let mustDeliver: Bool
    /// The queue that receives the events too, because several clients share it.
    private let shared: EventQueue?
    private let capacity: Int
    private let patience: Duration
    private let queue = DispatchQueue(label: "curlew.events")
    private let state = Locked(State())
    /// The number of events delivered so far.
    private let delivered = Monitor<UInt64>(0)

    init(
        _ observers: [any RequestObserver], before shared: EventQueue? = nil, capacity: Int = capacity,
        patience: Duration = patience
    ) {
        self.shared = shared
        immediate = observers.compactMap { $0 as? any ImmediateObserver }
            .map { Immediate(observer: $0, kinds: $0.kinds) }
        self.observers = observers.filter { !($0 is any ImmediateObserver) }
        summarizing = immediate.filter { $0.kinds.contains(.summaries) }.map(\.observer)
        reading = immediate.filter { $0.kinds.contains(.heads) }.map(\.observer)
        kinds = immediate.reduce(shared?.kinds ?? []) { $0.union($1.kinds) }
            .union(self.observers.isEmpty ? [] : .events)
        mustDeliver = !self.observers.isEmpty || shared?.mustDeliver ?? false
        self.capacity = capacity
        self.patience = patience
    }

    /// Returns a queue for `observers`; nil if there are none.
    static func serving(_ observers: [any RequestObserver]) -> EventQueue? {
        observers.isEmpty ? nil : EventQueue(observers)
    }

    /// Returns a queue for the interceptors of a client that observe, which receive each event before `shared`. Returns
    /// `shared` if there are none.
    static func serving(_ observers: [any ImmediateObserver], before shared: EventQueue?) -> EventQueue? {
        observers.isEmpty ? shared : EventQueue(observers, before: shared)
    }

    /// Appends an event to the queue, or counts it as lost if the queue is full. Immediate observers receive it first.
    func enqueue(_ event: ExchangeEvent, in context: ExchangeContext) {
        let kind = event.kind
        guard kinds.contains(kind) else { return }
        for each in immediate where each.kinds.contains(kind) { each.observer.record(event, in: context) }
        shared?.enqueue(event, in: context)
        guard !observers.isEmpty else { return }
        let mustBegin = state.withLock { state in
            guard state.waiting.count < capacity else {
                state.lost += 1
                return false
            }
            if state.lost > 0 { Self.append(.lost(state.lost), in: context, to: &state) }
            state.lost = 0
            Self.append(event, in: context, to: &state)
            defer { state.isDelivering = true }
            return !state.isDelivering
        }
        if mustBegin { queue.async { self.deliverAll() } }
    }

    // The observers that receive summaries are called in loops without closures, which would copy what they capture.

    /// Records that a call begins.
    func begin(_ request: HTTPRequest, in context: ExchangeContext) {
        if kinds.contains(.began) { enqueue(context.withholding(.began(request)), in: context) }
        if kinds.contains(.summaries) { summarize(beginningOf: request, in: context) }
    }

    private func summarize(beginningOf request: HTTPRequest, in context: ExchangeContext) {
        for observer in summarizing { observer.callBegan(request, in: context) }
        shared?.summarize(beginningOf: request, in: context)
    }

    /// Records that the transport receives a request.
    func send(_ request: HTTPRequest, in context: ExchangeContext) {
        if kinds.contains(.sent) { enqueue(context.withholding(.sent(request)), in: context) }
        if kinds.contains(.heads) { show(request, in: context) }
    }

    private func show(_ request: HTTPRequest, in context: ExchangeContext) {
        for observer in reading { observer.requestSent(request, in: context) }
        shared?.show(request, in: context)
    }

    /// Records the head of a response.
    func receive(_ response: HTTPResponse, in context: ExchangeContext) {
        if kinds.contains(.answered) {
            enqueue(context.withholding(.answered(response.withoutTransfer)), in: context)
        }
        if kinds.contains(.heads) { show(response, in: context) }
    }

    private func show(_ response: HTTPResponse, in context: ExchangeContext) {
        for observer in reading { observer.responseReceived(response, in: context) }
        shared?.show(response, in: context)
    }

    /// Records that a request has ended without a response.
    func fail(_ error: NetworkError, in context: ExchangeContext) {
        if kinds.contains(.attemptFailed) { enqueue(context.withholding(.attemptFailed(error)), in: context) }
        if kinds.contains(.heads) { show(error.withholding(context.secrets), in: context) }
    }

    private func show(_ error: NetworkError, in context: ExchangeContext) {
        for observer in reading { observer.requestFailed(error, in: context) }
        shared?.show(error, in: context)
    }

    /// Records the end of a request on the wire.
    func finish(
        _ request: SentRequest, _ outcome: RequestOutcome, _ metrics: ExchangeMetrics, in context: ExchangeContext
    ) {
        if kinds.contains(.measured) { enqueue(.measured(metrics), in: context) }
        if kinds.contains(.summaries) { summarize(request, outcome, metrics, in: context) }
    }

    private func summarize(
        _ request: SentRequest, _ outcome: RequestOutcome, _ metrics: ExchangeMetrics, in context: ExchangeContext
    ) {
        for observer in summarizing { observer.requestEnded(request, outcome, metrics, in: context) }
        shared?.summarize(request, outcome, metrics, in: context)
    }

    /// Passes the response of a call to the immediate observers that receive summaries.
    func finish(
        _ request: HTTPRequest, with response: HTTPResponse, _ outcome: CallOutcome, in context: ExchangeContext
    ) {
        for observer in summarizing { observer.callSucceeded(request, with: response, outcome, in: context) }
        shared?.finish(request, with: response, outcome, in: context)
    }

    /// Passes the error of a call to the immediate observers that receive summaries.
    func finish(
        _ request: HTTPRequest, with error: NetworkError, _ outcome: CallOutcome, in context: ExchangeContext
    ) {
        for observer in summarizing { observer.callFailed(request, with: error, outcome, in: context) }
        shared?.finish(request, with: error, outcome, in: context)
    }

    /// Passes the error of a call that was not sent to the immediate observers that receive summaries.
    func fail(_ error: NetworkError, after duration: Duration, in context: ExchangeContext) {
        for observer in summarizing { observer.callNotSent(error, after: duration, in: context) }
        shared?.fail(error, after: duration, in: context)
    }

    private static func append(_ event: ExchangeEvent, in context: ExchangeContext, to state: inout State) {
        state.waiting.append(Entry(event: event, context: context))
        state.queued += 1
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
        await shared?.allDelivered()
        guard !observers.isEmpty else { return }
        let number = state.withLock { $0.queued }
        guard delivered.withLock({ $0 }) < number else { return }
        watch()
        // The waits check their conditions when the timer fires, which is at most its interval after this.
        let late = Self.now.advanced(by: patience - interval)
        await delivered.waitThroughCancellation { $0 >= number || Self.now >= late ? () : nil }
    }

    private var interval: Duration { patience / 5 }

    /// Sets the timer that all waits share, unless it is set. It is set again while events wait.
    private func watch() {
        let isFirst = state.withLock { state in
            defer { state.isWatched = true }
            return !state.isWatched
        }
        guard isFirst else { return }
        let time = DispatchTime.now() + .nanoseconds(Int(clamping: interval.wholeNanoseconds))
        DispatchQueue.global().asyncAfter(deadline: time) { [weak self] in
            guard let self else { return }
            let isWaiting = state.withLock { state in
                state.isWatched = false
                return state.isDelivering
            }
            if isWaiting { watch() }
            delivered.withLock { _ in }
        }
    }

    private static var now: SystemTime.Instant {
        SystemTime.Instant(nanoseconds: Int64(clamping: DispatchTime.now().uptimeNanoseconds))
    }
}
