// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Orders the events of one call as `ExchangeEvent` documents.
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

    /// Records an event that does not belong to one request on the wire. After the call has ended, the
    /// event is dropped, unless it belongs to a shared exchange or may follow the end of its call.
    func tell(_ event: ExchangeEvent, in context: ExchangeContext) {
        if state.withLock({ $0.isOver }), context.sharedDeadline == nil, !event.mayFollowTheEnd { return }
        queue.tell(event.withoutTransfer, in: context)
    }

    /// Begins the events of a request that leaves the pipeline.
    func begin(in context: ExchangeContext) -> AttemptEvents {
        state.withLock { state in
            state.attempts += 1
            let isLate = state.isOver && context.sharedDeadline == nil
            let attempt = AttemptEvents(state.attempts, queue, at: context.time.now, isOver: isLate)
            if !isLate, context.sharedDeadline == nil { state.open.append(attempt) }
            return attempt
        }
    }

    /// Ends the call. Requests that an interceptor has abandoned are recorded as cancelled. If the call succeeds,
    /// bodies may still be read.
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
/// A transport measures when the last byte has arrived, possibly before the task of the call has recorded the head.
/// Early events are therefore queued. If the transport measures nothing, the end of the body is measured here.
final class AttemptEvents: Sendable {
    private enum Phase {
        case begun, sent, answered, over
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
        // The queue is filled under the lock, so that events of two threads keep the order in which they took it.
        state.withLock { state in
            switch (event, state.phase) {
            case (_, .over): return
            case (.sent, _):
                state.phase = .sent
                state.context = context
            case (.answered(let response), _):
                queue.tell(event.withoutTransfer, in: context)
                state.phase = .answered
                state.metrics = response.metrics
                if state.metrics.firstByte == nil { state.metrics.firstByte = start.duration(to: context.time.now) }
                deliverEarly(&state, context, with: { _ in true })
                if response.body.isAtHand { finish(&state, context) }
                return
            case (.attemptFailed, _):
                queue.tell(event, in: context)
                deliverEarly(&state, context) { if case .measured = $0 { true } else { false } }
                return finish(&state, context)
            case (.trailers, .sent), (.measured, .sent): return state.early.append(event)
            case (.interim, .answered), (.connecting, .answered): return
            default: break
            }
            queue.tell(event, in: context)
            if case .measured = event { over(&state) }
        }
    }

    private func deliverEarly(
        _ state: inout State, _ context: ExchangeContext, with isFit: (ExchangeEvent) -> Bool
    ) {
        for event in state.early where isFit(event) {
            queue.tell(event, in: context)
            if case .measured = event { over(&state) }
        }
        state.early = []
    }

    /// Records the end of the body, for whatever reason.
    func endBody(in context: ExchangeContext) {
        state.withLock { finish(&$0, context) }
    }

    /// Records that the call no longer waits for the request.
    func abandon(withHead: Bool) {
        state.withLock { state in
            guard let context = state.context else { return over(&state) }
            if state.phase == .sent { queue.tell(.attemptFailed(NetworkError(.cancelled)), in: context) }
            if state.phase == .sent || withHead { finish(&state, context) }
        }
    }

    /// Records the measurements that the transport did not make.
    private func finish(_ state: inout State, _ context: ExchangeContext) {
        guard state.phase != .over else { return }
        var metrics = state.metrics
        let total = start.duration(to: context.time.now)
        metrics.total = total
        if let firstByte = metrics.firstByte { metrics.transfer = max(.zero, total - firstByte) }
        if metrics.queue == nil { metrics.queue = context.queued > .zero ? context.queued : nil }
        queue.tell(.measured(metrics), in: context)
        over(&state)
    }

    private func over(_ state: inout State) {
        state.phase = .over
        state.context = nil
    }
}

extension ExchangeEvent {
    /// True for events that may follow the end of a call: those of a body that is read later, and of a store.
    fileprivate var mayFollowTheEnd: Bool {
        switch self {
        case .trailers, .measured, .succeeded, .failed: true
        case .feature(let event as any CapabilityEvent): event.mayFollowTheEnd
        default: false
        }
    }
}
