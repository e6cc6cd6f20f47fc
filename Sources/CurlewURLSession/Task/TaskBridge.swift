// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Connects the `TaskMachine` of one exchange to the caller, the reader of the body and URLSession.
///
/// Every event is passed to the machine under one lock. The effect of the event resumes at most one continuation, after
/// the lock is released. The bridge does not suspend or cancel the task itself. Instead, the engine's queue requests
/// the next operation, so that two threads cannot issue operations in the wrong order.
final class TaskBridge: SessionExchange, ResponseBodySource {
    private struct State {
        var machine: TaskMachine
        var orders = TaskOrders()
        var clock: TimeoutTracker
        /// Whether silence before the head does not count: there is no network, or the head of a live response is
        /// withheld until its first bytes.
        var isSilenceExpected = false
        /// The time of the next deadline check, in nanoseconds of `TimeoutTracker.now()`.
        var nextCheck = Int64.max
        var task: URLSessionTask?
        var caller: CheckedContinuation<HTTPResponse, any Error>?
        var reader: CheckedContinuation<Data?, any Error>?
        /// Keeps the source of the request body alive while the body is sent.
        var upload: UploadPlan?
        var sent: Int64 = 0
        var engineMetrics: ExchangeMetrics?
        /// Called once when the exchange ends.
        var whenEnded: (@Sendable () -> Void)?
        /// The cause of a failure that URLSession cannot report, such as a body that could not be produced.
        var cause: NetworkError?
    }

    let request: HTTPRequest
    let context: ExchangeContext
    let engine: SessionEngine
    /// The producers of a streamed request body. Unused on Linux, where the body is produced before the task is
    /// created.
    let feeds = BodyFeeds()
    /// Keeps the transport alive while a body is read.
    private let owner: URLSessionTransport
    private let state: Locked<State>

    init(_ request: HTTPRequest, _ context: ExchangeContext, engine: SessionEngine, owner: URLSessionTransport) {
        self.request = request
        self.context = context
        self.engine = engine
        self.owner = owner
        let machine = TaskMachine(
            flow: owner.flow, smallBody: owner.configuration.gatheredBody, streams: context.options.streaming == true,
            limits: context.limits)
        state = Locked(State(machine: machine, clock: TimeoutTracker(context)))
    }

    /// Runs the exchange and returns the response, or throws an error. Called once.
    func response() async throws -> HTTPResponse {
        let response = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                // The exchange may have been cancelled before the continuation was set.
                let isOver = state.withLock { state in
                    if !state.machine.hasResult { state.caller = continuation }
                    return state.machine.hasResult
                }
                if isOver { return continuation.resume(throwing: completed(NetworkError(.cancelled))) }
                owner.begin(self)
            }
        } onCancel: {
            fail(NetworkError(.cancelled))
        }
        showOrder()
        return response
    }

    /// Shows ThreadSanitizer that results are made under the lock before the task receives them. It does not see the
    /// order of a continuation that is resumed before its task has suspended.
    private func showOrder() {
        state.withLock { _ in }
    }

    /// Passes an event to the machine and performs its effect.
    func handle(_ event: TaskMachine.Event) {
        perform(event) { _, _ in }
    }

    /// Ends the exchange with an error of the transport, without waiting for URLSession.
    func fail(_ error: NetworkError) {
        perform(.broken(completed(error))) { _, _ in }
    }

    /// Ends the exchange after URLSession has finished the task. `map` converts URLSession's error.
    func end(_ map: (_ hasHead: Bool) -> NetworkError?) {
        let (hasHead, cause) = state.withLock { ($0.machine.head != nil, $0.cause) }
        let error = map(hasHead).map { completed(cause ?? $0) }
        feeds.release()
        perform(.ended(error), isMeasured: true) { state, _ in
            state.task = nil
            state.upload = nil
        }
        endUnstarted()
    }

    /// Handles a received response head or a received piece of the body.
    func receive(_ event: TaskMachine.Event) {
        perform(event) { state, now in state.clock.receive(at: now) }
    }

    /// Records that the request body is being produced before the task is created. Like sending, this does not count
    /// towards the attempt timeout.
    func markProducing() {
        state.withLock { _ = $0.clock.send(at: TimeoutTracker.now()) }
    }

    /// Records that `total` bytes of the request body have been sent, of `expected` bytes if that is positive.
    func recordSent(_ total: Int64, of expected: Int64) {
        let now = TimeoutTracker.now()
        let nextCheck = state.withLock { state in
            state.sent = total
            state.clock.send(at: now)
            let isComplete = expected > 0 && total >= expected
            if isComplete { state.clock.awaitHead(at: now) }
            state.isSilenceExpected = isComplete && withholdsHead
            Self.hold(&state, now)
            return Self.earlierCheck(&state, now)
        }
        if let nextCheck { owner.scheduleCheck(of: self, at: nextCheck) }
    }

    func waitForNetwork() {
        let now = TimeoutTracker.now()
        state.withLock { state in
            state.isSilenceExpected = true
            Self.hold(&state, now)
        }
    }

    /// Whether the system may report the head of a live response only with the first bytes of its body.
    private var withholdsHead: Bool { Platform.current == .apple && context.options.isLive }

    /// Stops or continues the clock. The time until it continues does not count as silence of the server.
    private static func hold(_ state: inout State, _ now: Int64) {
        let isHeld = state.machine.wantsSuspension || state.isSilenceExpected && state.machine.head == nil
        if state.clock.isHeld, !isHeld { state.clock.lastActivity = now }
        state.clock.isHeld = isHeld
    }

    /// Returns the time of the next deadline check if it is earlier than the scheduled one.
    private static func earlierCheck(_ state: inout State, _ now: Int64) -> Int64? {
        let next = state.clock.check(at: now).next
        guard next < state.nextCheck, !state.machine.isEnded else { return nil }
        state.nextCheck = next
        return next
    }

    func recordMetrics(_ metrics: ExchangeMetrics) {
        state.withLock { $0.engineMetrics = metrics }
    }

    /// Records the cause of the failure that URLSession is about to report. The first cause is kept.
    func recordCause(_ error: NetworkError) {
        state.withLock { state in
            if state.cause == nil { state.cause = error }
        }
    }

    /// Returns the next chunk of the body for the reader, or nil at the end. Throws if the exchange has failed.
    func next() async throws -> Data? {
        let data = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                perform(.read) { state, _ in state.reader = continuation }
            }
        } onCancel: {
            cancel()
        }
        showOrder()
        return data
    }

    /// Ends the exchange because the body will not be read further.
    func cancel() {
        handle(.abandoned)
    }

    private func perform(
        _ event: TaskMachine.Event, isMeasured: Bool = false, _ change: (inout State, Int64) -> Void
    ) {
        let now = TimeoutTracker.now()
        let step = state.withLock { state -> Step in
            change(&state, now)
            let wasControlled = (state.machine.wantsEnd, state.machine.wantsSuspension)
            let effect = state.machine.handle(event)
            Self.hold(&state, now)
            var step = Step(effect: effect)
            step.metrics = metrics(of: state, at: now)
            switch effect {
            case .respond(let head, let data):
                let body = ResponseBody(data, limit: context.limits.responseBody)
                step.response = response(head, body, step.metrics)
                (step.caller, state.caller) = (state.caller, nil)
            case .stream(let head):
                let body = ResponseBody(self, limit: context.limits.responseBody, length: head.length)
                step.response = response(head, body, step.metrics)
                (step.caller, state.caller) = (state.caller, nil)
            case .fail: (step.caller, state.caller) = (state.caller, nil)
            case .chunk, .breakOff: (step.reader, state.reader) = (state.reader, nil)
            case nil: break
            }
            step.nextCheck = Self.earlierCheck(&state, now)
            step.isEnded = state.machine.isEnded
            if step.isEnded { (step.ending, state.whenEnded) = (state.whenEnded, nil) }
            step.mustControl = wasControlled != (state.machine.wantsEnd, state.machine.wantsSuspension)
            return step
        }
        if step.mustControl { engine.control(self) }
        if let nextCheck = step.nextCheck { owner.scheduleCheck(of: self, at: nextCheck) }
        if step.isEnded { feeds.stop() }
        step.ending?()
        // Observers receive the metrics before the caller or the reader is notified of the end.
        if isMeasured { context.record(step.metrics) }
        deliver(step)
    }

    private struct Step {
        var effect: TaskMachine.Effect?
        /// The response of the effects `respond` and `stream`.
        var response: HTTPResponse?
        var caller: CheckedContinuation<HTTPResponse, any Error>?
        var reader: CheckedContinuation<Data?, any Error>?
        var metrics = ExchangeMetrics()
        var mustControl = false
        var nextCheck: Int64?
        var isEnded = false
        var ending: (@Sendable () -> Void)?
    }

    private func deliver(_ step: Step) {
        switch step.effect {
        case .respond, .stream:
            if let response = step.response { step.caller?.resume(returning: response) }
        case .fail(let error): step.caller?.resume(throwing: error)
        case .chunk(let data): step.reader?.resume(returning: data)
        case .breakOff(let error): step.reader?.resume(throwing: error)
        case nil: break
        }
    }

    private func response(
        _ head: TaskMachine.Head, _ body: ResponseBody, _ metrics: ExchangeMetrics
    ) -> HTTPResponse {
        HTTPResponse(
            status: head.status, headers: head.headers, body: body, version: metrics.version ?? .http1_1,
            metrics: metrics, url: request.urlString)
    }

    private func metrics(of state: State, at now: Int64) -> ExchangeMetrics {
        // URLSession has no time for a phase that has not ended, and reports nothing on Linux.
        var metrics = state.engineMetrics ?? ExchangeMetrics()
        metrics.queue = metrics.queue ?? state.clock.queued(at: now)
        metrics.firstByte = metrics.firstByte ?? state.clock.untilResponse(at: now)
        if state.machine.isEnded { metrics.transfer = metrics.transfer ?? state.clock.sinceResponse(at: now) }
        metrics.total = metrics.total ?? state.clock.elapsed(at: now)
        if state.sent > 0 { metrics.bytesSent = metrics.bytesSent ?? state.sent }
        return metrics
    }

    private func completed(_ error: NetworkError) -> NetworkError {
        var error = error
        error.request = NetworkError.RequestLine(request)
        let (head, excerpt) = state.withLock {
            ($0.machine.head, $0.machine.excerpt(context.limits.errorExcerpt))
        }
        if let head, error.response == nil {
            error.response = NetworkError.Response(
                status: head.status, headers: head.headers, body: excerpt, isTruncated: true, date: context.time.date)
        }
        return error
    }
}

/// Operations on the task, on the engine's queue.
extension TaskBridge {
    /// Returns the next operation for the task; nil if there is none. Called on the engine's queue.
    func nextOrder() -> (task: URLSessionTask, order: TaskOrders.Order)? {
        state.withLock { state in
            guard let task = state.task else { return nil }
            let (end, suspension) = (state.machine.wantsEnd, state.machine.wantsSuspension)
            return state.orders.next(wantsEnd: end, wantsSuspension: suspension).map { (task, $0) }
        }
    }

    /// Whether the exchange has ended. URLSession may not have finished the task yet.
    var isEnded: Bool { state.withLock { $0.machine.isEnded } }

    var hasHead: Bool { state.withLock { $0.machine.head != nil } }

    var upload: UploadPlan? { state.withLock { $0.upload } }

    /// The length of the body that the response head declares; nil if it declares none.
    var declaredLength: Int64? { state.withLock { $0.machine.head?.length } }

    /// Sets the task of the exchange just before the task starts.
    func adopt(_ task: URLSessionTask, _ upload: UploadPlan) {
        let now = TimeoutTracker.now()
        let nextCheck = state.withLock { state in
            state.task = task
            state.upload = upload
            state.clock.begin(at: now)
            state.isSilenceExpected = withholdsHead
            Self.hold(&state, now)
            return Self.earlierCheck(&state, now)
        }
        if let nextCheck { owner.scheduleCheck(of: self, at: nextCheck) }
    }

    /// Calls `work` when the exchange ends, or immediately if it has ended.
    func whenEnded(_ work: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            if !state.machine.isEnded { state.whenEnded = work }
            return state.machine.isEnded
        }
        if isOver { work() }
    }

    /// Removes an exchange that ended without a task, or whose task has ended.
    func endUnstarted() {
        engine.finished(self)
        owner.finished(self)
    }

    var metrics: ExchangeMetrics {
        let now = TimeoutTracker.now()
        return state.withLock { metrics(of: $0, at: now) }
    }
}

extension TaskBridge {
    func watchDeadlines() {
        let now = TimeoutTracker.now()
        if let nextCheck = state.withLock({ Self.earlierCheck(&$0, now) }) {
            owner.scheduleCheck(of: self, at: nextCheck)
        }
    }

    /// Ends the exchange if a deadline has passed. Returns the time of the next check, or nil if the exchange has
    /// ended.
    func checkDeadlines(at now: Int64) -> Int64? {
        let (isEnded, check, clock) = state.withLock { state in
            let check = state.clock.check(at: now)
            state.nextCheck = check.next
            return (state.machine.isEnded, check, state.clock)
        }
        if isEnded { return nil }
        guard let phase = check.expired else { return check.next }
        fail(NetworkError.timeout(phase, context.timeouts, clock))
        return nil
    }
}
