// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The shell around a `TaskMachine`: one exchange between its caller, the reader of its body and URLSession.
///
/// Whatever happens is told to the machine under one lock; what follows from it, at most one continuation to resume, is
/// done after the lock is free. What the task should do (stand still, end) is not ordered from here: the engine's queue
/// asks, so that two threads cannot give their orders in the wrong order.
final class TaskBridge: ResponseBodySource {
    private struct State {
        var machine: TaskMachine
        var orders = TaskOrders()
        var clock: ExchangeClock
        /// When the watch looks next.
        var nextLook = Int64.max
        var task: URLSessionTask?
        var caller: CheckedContinuation<HTTPResponse, any Error>?
        var reader: CheckedContinuation<Data?, any Error>?
        /// What keeps the body's source alive while it is sent.
        var upload: UploadPlan?
        var sent: Int64 = 0
        var engineMetrics: ExchangeMetrics?
        /// What to do when it is over, while there is no task.
        var whenEnded: (@Sendable () -> Void)?
        /// What the engine does not know about a failure: a body that could not be produced.
        var cause: NetworkError?
    }

    let request: HTTPRequest
    let context: ExchangeContext
    let engine: SessionEngine
    /// What produces a streamed body; nothing on Linux, where it is produced before there is a task.
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
        state = Locked(State(machine: machine, clock: ExchangeClock(context)))
    }

    /// The outcome for the caller. Called once.
    func response() async throws -> HTTPResponse {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                // A cancellation may have come before there was anybody to tell.
                let isOver = state.withLock { state in
                    if !state.machine.isAnswered { state.caller = continuation }
                    return state.machine.isAnswered
                }
                if isOver { return continuation.resume(throwing: completed(NetworkError(.cancelled))) }
                owner.begin(self)
            }
        } onCancel: {
            fail(NetworkError(.cancelled))
        }
    }

    /// Tells the machine, and whoever waits for what follows.
    func handle(_ event: TaskMachine.Event) {
        perform(event) { _, _ in }
    }

    /// Ends the exchange with an error of ours, without waiting for URLSession.
    func fail(_ error: NetworkError) {
        perform(.broken(completed(error))) { _, _ in }
    }

    /// URLSession is done. `map` gives its error in the package's words.
    func end(_ map: (_ hasHead: Bool) -> NetworkError?) {
        let (hasHead, cause) = state.withLock { ($0.machine.head != nil, $0.cause) }
        let error = map(hasHead).map { completed(cause ?? $0) }
        feeds.release()
        perform(.ended(error), isMeasured: true) { state, _ in
            state.task = nil
            state.upload = nil
        }
        owner.finished(self)
    }

    /// The head or a piece of the body has come.
    func receive(_ event: TaskMachine.Event) {
        perform(event) { state, now in state.clock.receive(at: now) }
    }

    /// The body is produced before there is a task: like sending it, that takes no time of the attempt.
    func noteProducing() {
        state.withLock { _ = $0.clock.send(at: ExchangeClock.now()) }
    }

    /// So many bytes of the request's body have left, of so many if that is known.
    func noteSent(_ total: Int64, of expected: Int64) {
        let now = ExchangeClock.now()
        let look = state.withLock { state in
            state.sent = total
            state.clock.send(at: now)
            if expected > 0, total >= expected { state.clock.awaitHead(at: now) }
            return Self.earlierLook(&state, now)
        }
        if let look { owner.look(at: self, look) }
    }

    /// The moment of the next look if it is earlier than the one that the watch knows.
    private static func earlierLook(_ state: inout State, _ now: Int64) -> Int64? {
        let next = state.clock.check(at: now).next
        guard next < state.nextLook, !state.machine.isEnded else { return nil }
        state.nextLook = next
        return next
    }

    /// What the engine measured.
    func noteMetrics(_ metrics: ExchangeMetrics) {
        state.withLock { $0.engineMetrics = metrics }
    }

    /// Why the engine is about to fail.
    func noteCause(_ error: NetworkError) {
        state.withLock { state in
            if state.cause == nil { state.cause = error }
        }
    }

    /// The next chunk for the reader.
    func next() async throws -> Data? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                perform(.read) { state, _ in state.reader = continuation }
            }
        } onCancel: {
            cancel()
        }
    }

    /// Nobody reads on.
    func cancel() {
        handle(.abandoned)
    }

    private func perform(
        _ event: TaskMachine.Event, isMeasured: Bool = false, _ change: (inout State, Int64) -> Void
    ) {
        let now = ExchangeClock.now()
        let step = state.withLock { state -> Step in
            change(&state, now)
            let wasControlled = (state.machine.wantsEnd, state.machine.wantsSuspension)
            let effect = state.machine.handle(event)
            state.clock.isHeld = state.machine.wantsSuspension
            var step = Step(effect: effect)
            switch effect {
            case .answer, .stream, .fail: (step.caller, state.caller) = (state.caller, nil)
            case .chunk, .breakOff: (step.reader, state.reader) = (state.reader, nil)
            case nil: break
            }
            step.look = Self.earlierLook(&state, now)
            step.metrics = metrics(of: state, at: now)
            step.isEnded = state.machine.isEnded
            if step.isEnded { (step.ending, state.whenEnded) = (state.whenEnded, nil) }
            step.mustControl = wasControlled != (state.machine.wantsEnd, state.machine.wantsSuspension)
            return step
        }
        if step.mustControl { engine.control(self) }
        if let look = step.look { owner.look(at: self, look) }
        if step.isEnded { feeds.stop() }
        step.ending?()
        // Before the caller or the reader hears of the end.
        if isMeasured { context.record(.measured(step.metrics)) }
        deliver(step)
    }

    private struct Step {
        var effect: TaskMachine.Effect?
        var caller: CheckedContinuation<HTTPResponse, any Error>?
        var reader: CheckedContinuation<Data?, any Error>?
        var metrics = ExchangeMetrics()
        var mustControl = false
        var look: Int64?
        var isEnded = false
        var ending: (@Sendable () -> Void)?
    }

    private func deliver(_ step: Step) {
        switch step.effect {
        case .answer(let head, let data):
            let body = ResponseBody(data, limit: context.limits.responseBody)
            step.caller?.resume(returning: response(head, body, step))
        case .stream(let head):
            let body = ResponseBody(self, limit: context.limits.responseBody, length: head.length)
            step.caller?.resume(returning: response(head, body, step))
        case .fail(let error): step.caller?.resume(throwing: error)
        case .chunk(let data): step.reader?.resume(returning: data)
        case .breakOff(let error): step.reader?.resume(throwing: error)
        case nil: break
        }
    }

    private func response(_ head: TaskMachine.Head, _ body: ResponseBody, _ step: Step) -> HTTPResponse {
        HTTPResponse(
            status: head.status, headers: head.headers, body: body, version: step.metrics.version ?? .http1_1,
            metrics: step.metrics,
            url: request.urlString)
    }

    private func metrics(of state: State, at now: Int64) -> ExchangeMetrics {
        if let measured = state.engineMetrics { return measured }
        var metrics = ExchangeMetrics()
        metrics.queue = state.clock.queued(at: now)
        metrics.firstByte = state.clock.untilAnswer
        metrics.transfer = state.machine.isEnded ? state.clock.sinceAnswer(at: now) : nil
        metrics.total = state.clock.elapsed(at: now)
        metrics.bytesSent = state.sent > 0 ? state.sent : nil
        return metrics
    }

    private func completed(_ error: NetworkError) -> NetworkError {
        var error = error
        error.request = RequestLine(request)
        let (head, excerpt) = state.withLock {
            ($0.machine.head, $0.machine.excerpt(context.limits.errorExcerpt))
        }
        if let head, error.response == nil {
            error.response = NetworkError.Answer(
                status: head.status, headers: head.headers, body: excerpt, isTruncated: true, date: context.time.date)
        }
        return error
    }
}

/// What the engine's queue does with the task.
extension TaskBridge {
    /// What to tell the task, for the engine's queue.
    func nextOrder() -> (task: URLSessionTask, order: TaskOrders.Order)? {
        state.withLock { state in
            guard let task = state.task else { return nil }
            let (end, suspension) = (state.machine.wantsEnd, state.machine.wantsSuspension)
            return state.orders.next(wantsEnd: end, wantsSuspension: suspension).map { (task, $0) }
        }
    }

    /// The exchange is over for everybody but, maybe, URLSession.
    var isEnded: Bool { state.withLock { $0.machine.isEnded } }

    /// A head has come.
    var hasHead: Bool { state.withLock { $0.machine.head != nil } }

    /// The length of the body as the head declares it.
    var declaredLength: Int64? { state.withLock { $0.machine.head?.length } }

    /// The task that belongs to it begins.
    func adopt(_ task: URLSessionTask, _ upload: UploadPlan) {
        let now = ExchangeClock.now()
        let look = state.withLock { state in
            state.task = task
            state.upload = upload
            state.clock.begin(at: now)
            return Self.earlierLook(&state, now)
        }
        if let look { owner.look(at: self, look) }
    }

    /// Calls `work` when the exchange ends, now if it has.
    func whenEnded(_ work: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            if !state.machine.isEnded { state.whenEnded = work }
            return state.machine.isEnded
        }
        if isOver { work() }
    }

    /// It ended before there was a task.
    func endUnstarted() {
        owner.finished(self)
    }

    /// What has been measured so far.
    var metrics: ExchangeMetrics {
        let now = ExchangeClock.now()
        return state.withLock { metrics(of: $0, at: now) }
    }
}

extension TaskBridge: DeadlineWatch.Watched {
    /// Asks for the first look.
    func watchDeadlines() {
        let now = ExchangeClock.now()
        if let look = state.withLock({ Self.earlierLook(&$0, now) }) { owner.look(at: self, look) }
    }

    /// Ends the exchange if it is late.
    func look(at now: Int64) -> Int64? {
        let (isEnded, check) = state.withLock { state in
            let check = state.clock.check(at: now)
            state.nextLook = check.next
            return (state.machine.isEnded, check)
        }
        if isEnded { return nil }
        guard let phase = check.expired else { return check.next }
        fail(NetworkError.timeout(phase, context.timeouts))
        return nil
    }
}
