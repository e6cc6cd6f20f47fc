// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import Dispatch
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Connects the `SocketMachine` of one WebSocket connection to the caller, the reader, the senders and URLSession.
///
/// Every event is passed to the machine under one lock. The effects are performed after the lock is released, so that a
/// handler that URLSession calls immediately cannot wait for it.
final class SocketBridge: SessionExchange {
    private struct State {
        var machine: SocketMachine
        var clock: TimeoutTracker
        /// The time of the next check, in nanoseconds of `TimeoutTracker.now()`.
        var nextCheck = Int64.max
        /// The number of the present wait, while `SocketMachine.isWaitingForEnd`; nil otherwise.
        var wait: UInt64?
        var waits: UInt64 = 0
        var task: (any SocketTask)?
        var engineMetrics: ExchangeMetrics?
        /// The cause of a failure that URLSession cannot report, such as a refused certificate.
        var cause: NetworkError?
    }

    let request: HTTPRequest
    let context: ExchangeContext
    /// The maximum size of a message in bytes, at least 1.
    let messageLimit: Int
    /// Keeps the transport alive while the connection is open.
    private let host: any SocketHost
    private let state: Locked<State>
    private let senders = SocketSenders()
    /// The result of the opening request, until its caller takes it.
    private let opening = Monitor<Result<HTTPResponse, NetworkError>?>(nil)
    /// The message or the end for the reader, until it takes it. One that arrives while its reader is cancelled is for
    /// the next reader.
    private let reading = Monitor<Result<WebSocketMessage?, NetworkError>?>(nil)

    /// The time that a reader waits for what URLSession has not reported about the end of a connection.
    private let grace: Duration

    init(
        _ request: HTTPRequest, _ context: ExchangeContext, messageLimit: Int, host: any SocketHost,
        grace: Duration = .seconds(1)
    ) {
        self.grace = grace
        self.request = request
        self.context = context
        self.messageLimit = max(1, messageLimit)
        self.host = host
        let machine = SocketMachine(
            limit: self.messageLimit, subprotocols: SocketRequest.subprotocols(request))
        state = Locked(State(machine: machine, clock: TimeoutTracker(context)))
    }

    /// Opens the connection and returns the response, or throws an error. Called once.
    func response() async throws -> HTTPResponse {
        guard !Task.isCancelled else { throw named(NetworkError(.cancelled)) }
        host.begin(self)
        if let result = await opening.wait(until: { $0.take() }) { return try result.get() }
        handle(.abandoned(named(NetworkError(.cancelled))))
        return try await opening.waitThroughCancellation { $0.take() }.get()
    }

    /// Passes an event to the machine and performs its effects. `change` is called first, under the lock; if it returns
    /// false, the event is dropped.
    private func handle(
        _ event: SocketMachine.Event, isMeasured: Bool = false,
        _ change: (inout State, Int64) -> Bool = { _, _ in true }
    ) {
        let now = TimeoutTracker.now()
        let step = state.withLock { state -> Step in
            guard change(&state, now) else { return Step() }
            var step = Step(effects: state.machine.handle(event), task: state.task)
            // URLSession may keep handlers that it will never call, and they would keep what they capture.
            if state.machine.isComplete, state.machine.isDrained { state.task = nil }
            step.wait = Self.newWait(&state)
            step.nextCheck = Self.earlierCheck(&state, now)
            if isMeasured || step.effects.caller != nil { step.metrics = metrics(of: state, at: now) }
            return step
        }
        if let nextCheck = step.nextCheck { host.scheduleCheck(of: self, at: nextCheck) }
        if let wait = step.wait { watchEnd(wait) }
        // Observers receive the metrics before the caller is notified of the end.
        if isMeasured { context.record(step.metrics) }
        deliver(step)
        for order in step.effects.orders { perform(order, step.task) }
    }

    private struct Step {
        var effects = SocketMachine.Effects()
        var task: (any SocketTask)?
        var metrics = ExchangeMetrics()
        var nextCheck: Int64?
        /// The number of the wait for the end that begins.
        var wait: UInt64?
    }

    private func deliver(_ step: Step) {
        switch step.effects.caller {
        case .opened(let head, let subprotocol):
            var response = response(head, step)
            response.messageConnection = SocketHandle(self, subprotocol: subprotocol)
            opening.withLock { $0 = .success(response) }
        case .refused(let head): opening.withLock { $0 = .success(response(head, step)) }
        case .failed(let error): opening.withLock { $0 = .failure(named(error)) }
        case nil: break
        }
        if let result = step.effects.reader { reading.withLock { $0 = result.mapError { named($0) } } }
        if let error = step.effects.senders { senders.end(named(error)) }
    }

    private func perform(_ order: SocketMachine.Order, _ task: (any SocketTask)?) {
        switch order {
        case .receive: task?.receive { [weak self] in self?.received($0) }
        case .close(let closing): task?.close(SocketClose.sent(closing.code), SocketClose.bytes(closing.reason))
        case .cancel: task?.cancel()
        }
    }

    private func response(_ head: TaskMachine.Head, _ step: Step) -> HTTPResponse {
        HTTPResponse(
            status: head.status, headers: head.headers, body: ResponseBody(Data()),
            version: step.metrics.version ?? .http1_1, metrics: step.metrics, url: request.urlString)
    }

    private func metrics(of state: State, at now: Int64) -> ExchangeMetrics {
        if let measured = state.engineMetrics { return measured }
        var metrics = ExchangeMetrics()
        metrics.queue = state.clock.queued(at: now)
        metrics.firstByte = state.clock.untilResponse(at: now)
        metrics.transfer = state.machine.isComplete ? state.clock.sinceResponse(at: now) : nil
        metrics.total = state.clock.elapsed(at: now)
        return metrics
    }

    private func named(_ error: NetworkError) -> NetworkError {
        var error = error
        if error.request == nil { error.request = NetworkError.RequestLine(request) }
        return error
    }

    private func mapped(_ error: any Error) -> NetworkError {
        let (isOpening, cause) = state.withLock { ($0.machine.isOpening, $0.cause) }
        if let cause { return cause }
        let result = SystemFailure.error(error, isSecure: request.origin.isSecure, hasHead: !isOpening)
        guard result.reason == .limitExceeded(.responseBody) else { return result }
        return SocketMachine.tooLarge(messageLimit, underlying: result.underlying)
    }
}

// MARK: What URLSession reports

extension SocketBridge {
    /// Sets the task just before it starts.
    func adopt(_ task: any SocketTask) {
        let now = TimeoutTracker.now()
        let (nextCheck, isCancelled) = state.withLock { state in
            state.task = task
            state.clock.begin(at: now)
            return (Self.earlierCheck(&state, now), state.machine.isCancelled)
        }
        // The exchange may have ended when there was no task to cancel.
        if isCancelled { task.cancel() }
        if let nextCheck { host.scheduleCheck(of: self, at: nextCheck) }
    }

    /// Removes an exchange that ended without a task.
    func endUnstarted() {
        host.finished(self)
    }

    /// Handles the switch to WebSocket.
    ///
    /// - `subprotocol`: the one that the server has selected; nil or empty if there is none.
    func opened(subprotocol: String?, response: URLResponse?) {
        let subprotocol = subprotocol.flatMap { $0.isEmpty ? nil : $0 }
        do throws(NetworkError) {
            var head = TaskMachine.Head(status: 101, headers: [:])
            if let response = response as? HTTPURLResponse {
                head = try TaskMachine.Head(response, for: request.method, context.limits)
                // URLSession has checked the response, whatever it stores.
                head.status = 101
            } else if let subprotocol {
                head.headers["Sec-WebSocket-Protocol"] = subprotocol
            }
            handle(.opened(head, subprotocol: subprotocol)) { state, now in
                if state.machine.isOpening { state.clock.receive(at: now) }
                return true
            }
        } catch {
            fail(error)
        }
    }

    /// Handles a close frame, or the report that there was none.
    func closed(code: Int, reason: Data?) {
        handle(.closed(SocketClose.end(code, reason) ?? .failure(SocketMachine.lost)))
    }

    private func received(_ result: Result<WebSocketMessage, any Error>) {
        switch result {
        case .success(let message): handle(.received(message))
        case .failure(let error):
            let closing = state.withLock { $0.task }?.closing
            handle(.notReceived(mapped(error), end: closing.flatMap { SocketClose.end($0.code, $0.reason) }))
        }
    }

    func complete(_ error: (any Error)?, response: URLResponse?) {
        let closing = state.withLock { $0.task }?.closing
        let cause = state.withLock { $0.cause }
        let head = (response as? HTTPURLResponse).flatMap {
            try? TaskMachine.Head($0, for: request.method, context.limits)
        }
        handle(
            .completed(
                error.map(mapped), head: cause == nil ? head : nil,
                end: closing.flatMap { SocketClose.end($0.code, $0.reason) }),
            isMeasured: true)
        host.finished(self)
    }

    /// Ends the connection or the opening request with an error of the transport.
    func fail(_ error: NetworkError) {
        handle(.broken(named(error)))
    }

    func recordMetrics(_ metrics: ExchangeMetrics) {
        state.withLock { $0.engineMetrics = metrics }
    }

    func waitForNetwork() { state.withLock { $0.clock.isHeld = true } }

    /// Records the cause of the failure that URLSession is about to report. The first cause is kept.
    func recordCause(_ error: NetworkError) {
        state.withLock { state in
            if state.cause == nil { state.cause = error }
        }
    }

    /// Whether the opening request has failed, or the connection has ended. URLSession may not have finished the task
    /// yet.
    var isOver: Bool { state.withLock { $0.machine.isOver } }
}

// MARK: The connection

extension SocketBridge {
    var closing: SocketMachine.Closing? { state.withLock { $0.machine.closing } }

    func close(_ code: WebSocketCloseCode, reason: String) {
        handle(.close(SocketMachine.Closing(code: code, reason: reason)))
    }

    func cancel() {
        handle(.cancel)
    }

    /// Returns the next message; nil at the end. A message that arrives after a cancellation is kept for the next call.
    func receive() async throws -> WebSocketMessage? {
        if let result = reading.withLock({ $0.take() }) { return try result.get() }
        guard !Task.isCancelled else { throw named(NetworkError(.cancelled)) }
        var isSecond = false
        handle(.read) { state, _ in
            isSecond = state.machine.isBeingRead
            return !isSecond
        }
        guard !isSecond else {
            let detail = "Two tasks read one WebSocket connection at the same time."
            throw named(NetworkError(.invalidRequest, detail: detail))
        }
        if let result = await reading.wait(until: { $0.take() }) { return try result.get() }
        handle(.stoppedReading)
        throw named(NetworkError(.cancelled))
    }

    func send(_ message: WebSocketMessage) async throws {
        try await senders.wait { start($0) { $0.send(message, $1) } }
    }

    func ping() async throws {
        try await senders.waitForPong { start($0) { $0.ping($1) } }
    }

    /// Starts an operation of the task. Returns an error if the connection has ended.
    private func start(
        _ handler: @escaping SocketSenders.Handler,
        _ operation: (any SocketTask, @escaping @Sendable ((any Error)?) -> Void) -> Void
    ) -> NetworkError? {
        let (task, failure) = state.withLock { ($0.task, $0.machine.sendFailure) }
        if let failure { return named(failure) }
        guard let task else { return named(SocketMachine.lost) }
        operation(task) { [weak self] error in
            handler(error.map { .failure(self?.sendError($0) ?? SocketMachine.lost) } ?? .success(()))
        }
        return nil
    }

    private func sendError(_ error: any Error) -> NetworkError {
        var result = SystemFailure.error(error, isSecure: request.origin.isSecure, hasHead: true)
        if result.reason == .limitExceeded(.responseBody) {
            result = NetworkError(
                .invalidRequest, detail: "URLSession does not send a message of this size.",
                underlying: result.underlying)
        }
        return named(result)
    }
}

// MARK: Time

extension SocketBridge {
    func watchDeadlines() {
        let now = TimeoutTracker.now()
        if let nextCheck = state.withLock({ Self.earlierCheck(&$0, now) }) {
            host.scheduleCheck(of: self, at: nextCheck)
        }
    }

    /// Returns the time of the next check if it is earlier than the scheduled one.
    private static func earlierCheck(_ state: inout State, _ now: Int64) -> Int64? {
        guard state.machine.isOpening else { return nil }
        let next = state.clock.check(at: now).next
        guard next < state.nextCheck else { return nil }
        state.nextCheck = next
        return next
    }

    /// The deadlines limit the opening only.
    func checkDeadlines(at now: Int64) -> Int64? {
        let check = state.withLock { state -> (expired: NetworkError.Phase?, next: Int64)? in
            guard state.machine.isOpening else { return nil }
            let check = state.clock.check(at: now)
            state.nextCheck = check.next
            return check
        }
        guard let check else { return nil }
        guard let phase = check.expired else { return check.next }
        handle(.abandoned(named(NetworkError.timeout(phase, context.timeouts, state.withLock { $0.clock }))))
        return nil
    }

    /// Begins or ends the wait for the end of the connection. Returns its number if it begins.
    private static func newWait(_ state: inout State) -> UInt64? {
        guard state.machine.isWaitingForEnd else {
            state.wait = nil
            return nil
        }
        guard state.wait == nil else { return nil }
        state.waits += 1
        state.wait = state.waits
        return state.waits
    }

    /// Ends the wait for the end of the connection after `grace`. The timer of an earlier wait has no effect.
    private func watchEnd(_ wait: UInt64) {
        DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(Int(clamping: grace.wholeNanoseconds))) {
            [weak self] in
            self?.handle(.overdue) { state, _ in state.wait == wait }
        }
    }
}
