// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Puts the events of one call into the order that `ExchangeEvent` documents, and passes them to its client's sinks.
final class CallEvents: Sendable {
    private struct State {
        var isOver = false
        var attempts = 0
        /// The requests that have begun. Nearly all calls have one, which needs no array.
        var first: AttemptEvents?
        var others: [AttemptEvents] = []
    }

    let sinks: EventSinks
    private let state = LockedField(State())

    init(_ sinks: EventSinks) {
        self.sinks = sinks
    }

    /// Records an event that does not belong to one request on the wire. After the call has ended, the event is
    /// dropped, unless it belongs to a shared exchange or may follow the end of its call.
    func record(_ event: ExchangeEvent, in context: ExchangeContext) {
        if state.withLock({ $0.isOver }), context.sharedDeadline == nil, !event.mayFollowTheEnd { return }
        sinks.receive(.other(event.forObservers(context.secrets)), in: context)
    }

    /// Creates the recorder for the events of a request that leaves the pipeline.
    func begin(_ request: HTTPRequest, in context: ExchangeContext) -> AttemptEvents {
        state.withLock { state in
            state.attempts += 1
            let isLate = state.isOver && context.sharedDeadline == nil
            let attempt = AttemptEvents(state.attempts, sinks, request, in: context, isOver: isLate)
            if !isLate, context.sharedDeadline == nil {
                if state.first == nil { state.first = attempt } else { state.others.append(attempt) }
            }
            return attempt
        }
    }

    /// Ends the call, and returns the number of its requests. A request that is still waiting for its response was
    /// abandoned by an interceptor and is recorded as cancelled.
    ///
    /// - `readsOn`: true after a success. The caller may still read bodies, so requests whose heads have arrived do not
    ///   end yet.
    func end(readsOn: Bool, in context: ExchangeContext) -> Int {
        var first: AttemptEvents?
        var others: [AttemptEvents] = []
        let count = state.withLock { state in
            state.isOver = true
            swap(&state.first, &first)
            if !state.others.isEmpty { swap(&state.others, &others) }
            return state.attempts
        }
        first?.abandon(withHead: !readsOn, in: context)
        for attempt in others { attempt.abandon(withHead: !readsOn, in: context) }
        return count
    }
}

/// The events of one request on the wire, recorded by the task of the call and by the transport's threads.
///
/// A transport reports its measurements when the last byte has arrived, possibly before the task of the call has
/// recorded the head. Events that arrive before the head are therefore kept until then. For a transport that measures
/// nothing, this class measures the time until the end of the body.
final class AttemptEvents: Sendable {
    private enum Phase {
        case sent, responded, over
    }

    private struct State {
        var phase: Phase
        var outcome = NetworkError.Attempt.Outcome.failed(.cancelled)
        var bodySize: Int?
        /// The measurements of the head or, if `isMeasured`, of the complete exchange.
        var metrics: ExchangeMetrics?
        var isMeasured = false
        /// The trailers that the transport recorded before the head.
        var trailers: [HTTPHeaders] = []
        /// The context of the request, without this object, in case it is abandoned. Nil when the request is over,
        /// because it holds the call, and if no sink needs it, which saves copies.
        var base: ExchangeContext?
    }

    /// The number of the request within the call, counted from one.
    let number: Int
    /// The time that the request waited in queues of the pipeline.
    private let queued: Duration
    private let start: SystemTime.Instant
    private let method: HTTPMethod
    private let origin: Origin
    private let sinks: EventSinks
    private let state: LockedField<State>

    init(_ number: Int, _ sinks: EventSinks, _ request: HTTPRequest, in context: ExchangeContext, isOver: Bool) {
        self.number = number
        self.sinks = sinks
        start = context.time.now
        queued = context.queued
        (method, origin) = (request.method, request.origin)
        state = LockedField(
            State(phase: isOver ? .over : .sent, base: isOver || sinks.detail == .calls ? nil : context))
    }

    // Events are passed on under the lock, so that sinks receive them in the order in which the threads took the lock.

    /// Records that the transport receives the request.
    func sent(_ request: HTTPRequest, in context: ExchangeContext) {
        guard sinks.detail > .calls else { return }
        state.withLock { state in
            if state.phase != .over { sinks.receive(.sent(request), in: context) }
        }
    }

    /// Records an event from any thread, in any order.
    func take(_ event: ExchangeEvent, in context: ExchangeContext) {
        switch event {
        case .sent: return
        case .answered(let response): return answered(response, in: context)
        case .attemptFailed(let error): return failed(error.withholding(context.secrets), in: context)
        case .measured(let metrics): return measured(metrics, in: context)
        default: break
        }
        let event = event.forObservers(context.secrets)
        state.withLock { state in
            switch (event, state.phase) {
            case (_, .over), (.interim, .responded), (.connecting, .responded): return
            case (.trailers(let fields), .sent): state.trailers.append(fields)
            default: sinks.receive(.other(event), in: context)
            }
        }
    }

    func answered(_ response: HTTPResponse, in context: ExchangeContext) {
        state.withLock { state in
            guard state.phase != .over else { return }
            if sinks.detail > .calls { sinks.receive(.answered(response), in: context) }
            state.phase = .responded
            state.outcome = .status(response.status)
            state.bodySize = response.body.bufferedData?.count
            if !state.trailers.isEmpty {
                for fields in state.trailers { sinks.receive(.other(.trailers(fields)), in: context) }
                state.trailers = []
            }
            if state.isMeasured { return end(&state, context) }
            var metrics = response.metrics
            if metrics.firstByte == nil { metrics.firstByte = start.duration(to: context.time.now) }
            state.metrics = metrics
            if response.body.isAtHand { finish(&state, context) }
        }
    }

    /// Records that the request ended without a response.
    func failed(_ error: NetworkError, in context: ExchangeContext) {
        state.withLock { fail(&$0, error, context) }
    }

    /// Records the measurements of the transport. They are large, so they are not copied.
    func measured(_ metrics: consuming ExchangeMetrics, in context: ExchangeContext) {
        var metrics = Optional(metrics)
        state.withLock { state in
            guard state.phase != .over else { return }
            swap(&state.metrics, &metrics)
            state.isMeasured = true
            if state.phase == .responded { end(&state, context) }
        }
    }

    /// Records the end of the body, whether it is complete, has failed or was cancelled.
    func endBody(in context: ExchangeContext) {
        state.withLock { finish(&$0, context) }
    }

    /// Records that the call no longer waits for the request. Without a response head, the request is recorded as
    /// cancelled; with one, it ends only if `withHead` is true. `context` is that of the call.
    func abandon(withHead: Bool, in context: ExchangeContext) {
        state.withLock { state in
            guard state.phase == .sent || state.phase == .responded && withHead else { return }
            let context = (state.base ?? context).sending(self)
            if state.phase == .sent { fail(&state, NetworkError(.cancelled), context) } else { finish(&state, context) }
        }
    }

    private func fail(_ state: inout State, _ error: NetworkError, _ context: ExchangeContext) {
        guard state.phase != .over else { return }
        if sinks.detail > .calls { sinks.receive(.attemptFailed(error), in: context) }
        state.outcome = .failed(error.reason)
        finish(&state, context)
    }

    /// Records the measurements of this class, unless the transport has reported its own.
    private func finish(_ state: inout State, _ context: ExchangeContext) {
        guard state.phase != .over else { return }
        if !state.isMeasured {
            var metrics = state.metrics ?? ExchangeMetrics()
            let total = start.duration(to: context.time.now)
            let firstByte = metrics.firstByte ?? total
            metrics.firstByte = firstByte
            metrics.transfer = max(.zero, total - firstByte)
            metrics.total = total + queued
            if metrics.queue == nil, queued > .zero { metrics.queue = queued }
            state.metrics = metrics
        }
        end(&state, context)
    }

    private func end(_ state: inout State, _ context: ExchangeContext) {
        state.phase = .over
        state.base = nil
        var metrics: ExchangeMetrics?
        swap(&metrics, &state.metrics)
        guard let metrics = consume metrics else { return }
        sinks.receive(.ended(method, origin, state.outcome, bodySize: state.bodySize, metrics), in: context)
    }
}

extension ExchangeEvent {
    /// True for events that may be recorded after `end(readsOn:)`: the last event of the call, and those of a body that
    /// is read later.
    fileprivate var mayFollowTheEnd: Bool {
        switch self {
        case .trailers, .measured, .succeeded, .failed: true
        default: false
        }
    }
}
