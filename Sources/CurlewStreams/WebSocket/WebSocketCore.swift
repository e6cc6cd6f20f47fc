// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// The state and the tasks of a WebSocket connection. The tasks keep it alive, and `WebSocket` ends them.
///
///     open ──▶ closing (a close frame was sent) ──▶ ended
///      └─────────────────────────────────────────────▲
final class WebSocketCore: Sendable {
    private struct State {
        var hasSentClose = false
        var closing: WebSocket.Closing?
        var isClosedByCaller = false
        var hasEnded = false
        /// The error of sending, once the connection has ended.
        var failure: NetworkError?
        var lastReceived: SystemTime.Instant
        var newestPing = 0
        /// The number of the newest ping that a pong has answered.
        var answeredPing = 0
        var waitingPings = 0
        var tasks: [Task<Void, Never>] = []
        /// Whether receiving is paused because the reader takes no messages, so that silence is not the server's.
        var isPaused = false
    }

    let incoming: MessageQueue
    private let link: any WebSocketLink
    private let options: WebSocket.Options
    private let time: any TimeSource
    private let name: @Sendable (any Error) -> NetworkError
    private let state: Monitor<State>

    private static let pingLimit = 64

    /// - `name`: adds the request to an error.
    init(
        _ link: any WebSocketLink, options: WebSocket.Options, time: any TimeSource,
        name: @escaping @Sendable (any Error) -> NetworkError
    ) {
        self.link = link
        self.options = options
        self.time = time
        self.name = name
        incoming = MessageQueue(messages: options.incomingMessages, bytes: options.incomingBytes)
        state = Monitor(State(lastReceived: time.now))
    }

    var closing: WebSocket.Closing? { state.withLock { $0.closing } }

    /// Whether the caller has called `close`, before or after the end.
    var isClosedByCaller: Bool { state.withLock { $0.isClosedByCaller } }

    /// Starts receiving, after the head of `response`, and the heartbeat.
    func begin(after response: HTTPResponse) {
        var tasks = [startReceiving(response)]
        if let interval = options.heartbeat, interval > .zero { tasks.append(Task { await sendPings(each: interval) }) }
        let hasEnded = state.withLock { state in
            // The receiving task may have added the alarm of a close already.
            if !state.hasEnded { state.tasks += tasks }
            return state.hasEnded
        }
        if hasEnded { for task in tasks { task.cancel() } }
    }

    // MARK: Receiving

    /// Starts receiving. Messages are decoded on the thread on which bytes arrive, which saves a change of threads,
    /// unless they are compressed: inflating would occupy an event loop for too long.
    private func startReceiving(_ response: HTTPResponse) -> Task<Void, Never> {
        #if os(Linux)
        if let executor = response.arrivalExecutor, !link.inflates {
            return Task(executorPreference: executor) { await self.receive() }
        }
        #endif
        return Task { await receive() }
    }

    private func receive() async {
        do {
            while let events = try await link.receive() {
                state.withLock { $0.lastReceived = time.now }
                for event in events {
                    if try await handle(event) { return }
                }
                guard !incoming.hasRoom else { continue }
                state.withLock { $0.isPaused = true }
                await incoming.waitForRoom()
                state.withLock { state in
                    state.isPaused = false
                    state.lastReceived = time.now
                }
            }
            end(.failure(Self.lost))
        } catch let violation as WebSocketViolation {
            sendClose(violation.code, reason: violation.text)
            let reason: NetworkError.Reason =
                violation.code == .messageTooBig ? .limitExceeded(.responseBody) : .badResponse
            finish(
                .failure(NetworkError(reason, detail: "The server violated the WebSocket protocol: \(violation.text)")))
            await drain()
        } catch {
            end(.failure(NetworkError(error)))
        }
    }

    /// Processes an event. Returns whether the connection has ended.
    private func handle(_ event: WebSocketMachine.Event) async throws -> Bool {
        switch event {
        case .message(let message): incoming.add(message)
        case .ping(let payload):
            if !state.withLock({ $0.hasSentClose }) { link.pong(payload) }
        case .pong(let payload):
            guard let number = ASCII.decimal(String(decoding: payload, as: UTF8.self)[...]).flatMap(Int.init(exactly:))
            else { return false }
            state.withLock { state in
                // A peer may answer only the newest of several pings (RFC 6455 §5.5.3).
                if number <= state.newestPing { state.answeredPing = max(state.answeredPing, number) }
            }
        case .close(let code, let reason):
            // Before the reply, after which sending fails: a caller whose send fails finds the reason.
            let isByServer = state.withLock { state in
                let isByServer = !state.hasSentClose
                state.hasSentClose = true
                state.closing = WebSocket.Closing(code: code, reason: reason, isByServer: isByServer)
                return isByServer
            }
            if isByServer { link.close(code == .noStatus ? nil : code, reason: "") }
            finish(isByServer ? Self.result(code, reason) : .success(()))
            await drain()
            return true
        }
        return false
    }

    /// Waits until the server ends the connection, at most `Options.closeTimeout`: the client's close frame must be
    /// sent, and the server closes first (RFC 6455 §7.1.1).
    private func drain() async {
        endLater()
        do { while try await link.receive() != nil {} } catch {}
        end(.success(()))
    }

    private static func result(_ code: WebSocketCloseCode, _ reason: String) -> Result<Void, NetworkError> {
        switch code {
        case .normal, .goingAway, .noStatus: .success(())
        default:
            .failure(
                NetworkError(
                    .badResponse,
                    detail: "The server closed the WebSocket connection with code \(code)"
                        + (reason.isEmpty ? "." : ": \(reason)")))
        }
    }

    // MARK: Sending

    /// The error of sending a message now; nil if it would be passed to the transport.
    var sendingFailure: NetworkError? {
        state.withLock { $0.failure ?? ($0.hasSentClose ? Self.closed : nil) }
    }

    func send(_ message: WebSocketMessage) async throws(NetworkError) {
        if let failure = sendingFailure { throw name(failure) }
        do throws(NetworkError) { try await link.send(message) } catch {
            throw name(state.withLock { $0.failure } ?? error)
        }
    }

    private static let lost = NetworkError(
        .connectionLost(.requestMayHaveArrived), detail: "The WebSocket connection ended without a close frame.")
    private static let closed = NetworkError(
        .connectionLost(.requestNotSent), detail: "The WebSocket connection is closed.")

    func ping() async throws(NetworkError) -> Duration {
        let start = time.now
        if let link = link as? MessageLink {
            do { try await link.ownPing() } catch { throw name(error) }
            // The transport keeps the pong to itself, and the heartbeat must know that something has arrived.
            state.withLock { $0.lastReceived = time.now }
            return start.duration(to: time.now)
        }
        let number = state.withLock { state -> Int? in
            guard state.failure == nil, !state.hasSentClose, state.waitingPings < Self.pingLimit else { return nil }
            state.waitingPings += 1
            state.newestPing += 1
            return state.newestPing
        }
        guard let number else {
            let tooMany = NetworkError(
                .invalidRequest, detail: "\(Self.pingLimit) pings already wait for their pongs.")
            throw name(sendingFailure ?? tooMany)
        }
        defer { state.withLock { $0.waitingPings -= 1 } }
        do throws(NetworkError) {
            guard !Task.isCancelled else { throw NetworkError(.cancelled) }
            try link.ping(Data("\(number)".utf8))
            let result = await state.wait { state -> Result<Void, NetworkError>? in
                state.answeredPing >= number ? .success(()) : state.failure.map { .failure($0) }
            }
            try (result ?? .failure(NetworkError(.cancelled))).get()
        } catch {
            throw name(error.isCancelled ? error : sendingFailure ?? error)
        }
        return start.duration(to: time.now)
    }

    // MARK: Heartbeat

    /// Sends a ping when nothing has arrived for `interval`, and ends the connection if nothing arrives after it.
    private func sendPings(each interval: Duration) async {
        while !Task.isCancelled {
            let (last, isPaused) = state.withLock { ($0.lastReceived, $0.isPaused) }
            let next = isPaused ? time.now.advanced(by: interval) : last.advanced(by: interval)
            if next > time.now {
                do { try await time.sleep(until: next) } catch { return }
                continue
            }
            let check = Task { try? await self.ping() }
            do { try await time.alarm(at: time.now.advanced(by: options.heartbeatTimeout)) } catch { return }
            let isDead = state.withLock { $0.lastReceived == last && !$0.isPaused && !$0.hasEnded }
            guard isDead else { continue }
            end(
                .failure(
                    NetworkError(
                        .timedOut(.idle),
                        detail: "Nothing arrived on the WebSocket connection for \(interval.brief), nor within "
                            + "\(options.heartbeatTimeout.brief) of a ping.",
                        hint: "The network or the server failed. Connect again, and repeat lost messages.")))
            check.cancel()
            return
        }
    }

    // MARK: Closing

    /// Sends a close frame if none was sent.
    private func sendClose(_ code: WebSocketCloseCode?, reason: String) {
        let isFirst = state.withLock { state in
            defer { state.hasSentClose = true }
            return !state.hasSentClose
        }
        if isFirst { link.close(code, reason: reason) }
    }

    func close(_ code: WebSocketCloseCode, reason: String) async {
        let hasEnded = state.withLock { state in
            state.isClosedByCaller = true
            return state.hasEnded
        }
        guard !hasEnded else { return }
        sendClose(code, reason: reason)
        incoming.dropAll()
        endLater()
        await ended()
    }

    /// Ends the connection after `Options.closeTimeout`, if it has not ended by then.
    private func endLater() {
        let alarm = Task { [time, options] in
            do { try await time.alarm(at: time.now.advanced(by: options.closeTimeout)) } catch { return }
            end(.success(()))
        }
        let hasEnded = state.withLock { state in
            if !state.hasEnded { state.tasks.append(alarm) }
            return state.hasEnded
        }
        if hasEnded { alarm.cancel() }
    }

    /// Ends the connection immediately, as if it was lost with this error. Received messages can still be read.
    func lose(_ error: NetworkError) {
        end(.failure(error))
    }

    /// Waits until the connection has ended. Cancellation ends the connection.
    func ended() async {
        let isEnded: Void? = await state.wait { $0.hasEnded ? () : nil }
        if isEnded == nil { end(.success(())) }
    }

    /// Closes the connection with 1001, in the background. Called when the last reference to the socket is released.
    func abandon() {
        guard !state.withLock({ $0.hasEnded }) else { return }
        sendClose(.goingAway, reason: "")
        incoming.dropAll()
        endLater()
    }

    /// Ends the messages and the waits for pongs. Only the first result counts.
    private func finish(_ result: Result<Void, NetworkError>) {
        let result = result.mapError { name($0) }
        state.withLock { state in
            if state.failure == nil {
                state.failure = if case .failure(let error) = result { error } else { name(Self.closed) }
            }
        }
        incoming.finish(result)
    }

    /// Ends the connection. Only the first result counts.
    private func end(_ result: Result<Void, NetworkError>) {
        finish(result)
        link.cancel()
        let tasks = state.withLock { state in
            state.hasEnded = true
            defer { state.tasks = [] }
            return state.tasks
        }
        for task in tasks { task.cancel() }
    }
}
