// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Puts the events of one call into the order that `ExchangeEvent` documents.
final class CallEvents: Sendable {
    private struct State {
        var isOver = false
        var attempts = 0
        var open: [AttemptEvents] = []
    }

    let queue: EventQueue
    private let state = Locked(State())

    init(_ queue: EventQueue) {
        self.queue = queue
    }

    /// Records an event that does not belong to one request on the wire. After the call has ended, the event is
    /// dropped, unless it belongs to a shared exchange or may follow the end of its call.
    func record(_ event: ExchangeEvent, in context: ExchangeContext) {
        if state.withLock({ $0.isOver }), context.sharedDeadline == nil, !event.mayFollowTheEnd { return }
        queue.enqueue(event.withoutTransfer, in: context)
    }

    /// Creates the recorder for the events of a request that leaves the pipeline.
    func begin(in context: ExchangeContext) -> AttemptEvents {
        state.withLock { state in
            state.attempts += 1
            let isLate = state.isOver && context.sharedDeadline == nil
            let attempt = AttemptEvents(state.attempts, queue, at: context.time.now, isOver: isLate)
            if !isLate, context.sharedDeadline == nil { state.open.append(attempt) }
            return attempt
        }
    }

    /// Ends the call. A request that is still waiting for its response was abandoned by an interceptor and is recorded
    /// as cancelled.
    ///
    /// - `readsOn`: true after a success. The caller may still read bodies, so requests whose heads have arrived do not
    ///   end yet.
    func end(readsOn: Bool) {
        let left = state.withLock { state -> [AttemptEvents] in
            state.isOver = true
            defer { state.open = [] }
            return state.open
        }
        for attempt in left { attempt.abandon(withHead: !readsOn) }
    }
}

/// The events of one request on the wire, recorded by the task of the call and by the transport's threads.
///
/// A transport reports its measurements when the last byte has arrived, possibly before the task of the call has
/// recorded the head. Events that arrive before the head are therefore queued. For a transport that measures nothing,
/// this class measures the time until the end of the body.
final class AttemptEvents: Sendable {
    private enum Phase {
        case begun, sent, responded, over
    }

    private struct State {
        var phase = Phase.begun
        /// The events that the transport recorded before the head.
        var early: [ExchangeEvent] = []
        var metrics = ExchangeMetrics()
        var context: ExchangeContext?
    }

    /// The number of the request within the call, counted from one.
    let number: Int
    private let start: MonotonicInstant
    private let queue: EventQueue
    private let state: Locked<State>

    init(_ number: Int, _ queue: EventQueue, at start: MonotonicInstant, isOver: Bool) {
        self.number = number
        self.queue = queue
        self.start = start
        state = Locked(State(phase: isOver ? .over : .begun))
    }

    /// Records an event from any thread, in any order.
    func take(_ event: ExchangeEvent, in context: ExchangeContext) {
        // Events are appended under the lock, so that the queue keeps the order in which the threads took the lock.
        state.withLock { state in
            switch (event, state.phase) {
            case (_, .over): return
            case (.sent, _):
                state.phase = .sent
                state.context = context
            case (.answered(let response), _):
                queue.enqueue(event.withoutTransfer, in: context)
                state.phase = .responded
                state.metrics = response.metrics
                if state.metrics.firstByte == nil { state.metrics.firstByte = start.duration(to: context.time.now) }
                deliverEarly(&state, context, with: { _ in true })
                if response.body.isAtHand { finish(&state, context) }
                return
            case (.attemptFailed, _):
                queue.enqueue(event, in: context)
                deliverEarly(&state, context) { if case .measured = $0 { true } else { false } }
                return finish(&state, context)
            case (.trailers, .sent), (.measured, .sent): return state.early.append(event)
            case (.interim, .responded), (.connecting, .responded): return
            default: break
            }
            queue.enqueue(event, in: context)
            if case .measured = event { over(&state) }
        }
    }

    private func deliverEarly(
        _ state: inout State, _ context: ExchangeContext, with isFit: (ExchangeEvent) -> Bool
    ) {
        for event in state.early where isFit(event) {
            queue.enqueue(event, in: context)
            if case .measured = event { over(&state) }
        }
        state.early = []
    }

    /// Records the end of the body, whether it is complete, has failed or was cancelled.
    func endBody(in context: ExchangeContext) {
        state.withLock { finish(&$0, context) }
    }

    /// Records that the call is no longer waiting for the request. If the response head has not arrived, the request is
    /// recorded as cancelled. If it has arrived, the request ends only if `withHead` is true.
    func abandon(withHead: Bool) {
        state.withLock { state in
            guard let context = state.context else { return over(&state) }
            if state.phase == .sent { queue.enqueue(.attemptFailed(NetworkError(.cancelled)), in: context) }
            if state.phase == .sent || withHead { finish(&state, context) }
        }
    }

    /// Records the measurements of this class, unless the transport has reported its own.
    private func finish(_ state: inout State, _ context: ExchangeContext) {
        guard state.phase != .over else { return }
        var metrics = state.metrics
        let total = start.duration(to: context.time.now)
        metrics.total = total
        if let firstByte = metrics.firstByte { metrics.transfer = max(.zero, total - firstByte) }
        if metrics.queue == nil { metrics.queue = context.queued > .zero ? context.queued : nil }
        queue.enqueue(.measured(metrics), in: context)
        over(&state)
    }

    private func over(_ state: inout State) {
        state.phase = .over
        state.context = nil
    }
}

extension ExchangeEvent {
    /// True for events that may be recorded after `end(readsOn:)`: the last event of the call, those of a body that is
    /// read later, and events of capabilities whose `mayFollowTheEnd` is true.
    fileprivate var mayFollowTheEnd: Bool {
        switch self {
        case .trailers, .measured, .succeeded, .failed: true
        case .feature(let event as any CapabilityEvent): event.mayFollowTheEnd
        default: false
        }
    }
}
