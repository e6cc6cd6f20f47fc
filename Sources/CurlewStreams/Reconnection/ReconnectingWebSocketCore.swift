// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// The task that connects, and what it shares with `ReconnectingWebSocket`, which ends it.
///
///     connecting ──▶ open ──▶ waiting ──▶ connecting …
///          └───────────┴─────────┴──▶ closed
final class ReconnectingWebSocketCore: Sendable {
    typealias Options = ReconnectingWebSocket.Options
    typealias Loss = ReconnectingWebSocket.Loss

    private struct Shared {
        var driver: Task<Void, Never>?
        /// The open connection.
        var socket: WebSocket?
        /// Whether the caller has closed or released the socket.
        var isClosing = false
    }

    /// The end of one connection.
    private struct Ending {
        var error: NetworkError?
        var closing: WebSocket.Closing?
        var isOfHook = false
        /// The time for which the connection was open; nil if it was not.
        var openFor: Duration?
    }

    let control = ReconnectionControl(ReconnectingWebSocket.State.connecting)
    let incoming = IncomingConnections()
    let outgoing: OutgoingMessages
    private let options: Options
    private let time: any TimeSource
    private let onOpen: @Sendable (WebSocket) async throws -> Void
    private let onLoss: @Sendable (Loss) -> Void
    private let connect: @Sendable () async throws(NetworkError) -> WebSocket
    private let shared = Locked(Shared())

    init(
        _ options: Options, time: any TimeSource, onOpen: @escaping @Sendable (WebSocket) async throws -> Void,
        onLoss: @escaping @Sendable (Loss) -> Void,
        connect: @escaping @Sendable () async throws(NetworkError) -> WebSocket
    ) {
        self.options = options
        self.time = time
        self.onOpen = onOpen
        self.onLoss = onLoss
        self.connect = connect
        outgoing = OutgoingMessages(options)
    }

    private static let closed = NetworkError(
        .connectionLost(.requestNotSent), detail: "The WebSocket is closed.")
    private static let restarted = NetworkError(
        .connectionLost(.requestMayHaveArrived), detail: "The caller has restarted the WebSocket.")

    /// Starts connecting. Called once.
    func begin() {
        _ = control.claim()
        let driver = Task { await drive() }
        shared.withLock { $0.driver = driver }
    }

    // MARK: Connecting

    private func drive() async {
        var delay = ReconnectionDelay(initial: options.retryDelay, maximum: options.maximumDelay)
        var outage = time.now
        while true {
            await incoming.waitForRoom()
            control.change(to: .connecting)
            let ending = await connection()
            let isRestart = control.takeRestart()
            if isRestart || ending.openFor.map({ $0 >= options.stableAfter }) ?? false { delay.succeed() }
            if ending.openFor != nil { outage = time.now }
            var loss = Loss(error: ending.error, closing: ending.closing)
            guard !isClosing else { return finish(loss, nil) }
            if isRestart {
                if ending.openFor != nil { report(&loss) }
                continue
            }
            delay.fail()
            loss.failures = delay.failures
            loss.isOfHook = ending.isOfHook
            loss.unacknowledged = outgoing.unacknowledged.map(\.message)
            let wait = delay.wait(retryAfter: loss.error?.retryAfter, random: .random(in: 0..<1))
            if case .end(let error) = verdict(loss, outage: outage.duration(to: time.now.advanced(by: wait))) {
                return finish(loss, error)
            }
            report(&loss)
            let date = time.date.addingTimeInterval(Double(wait.wholeNanoseconds) / 1e9)
            control.change(to: .waiting(until: date, after: loss.error))
            // An error means that the socket is closed, which the next attempt notices.
            try? await control.pause(for: wait, on: time)
        }
    }

    private enum Verdict {
        case connectAgain
        case end(NetworkError?)
    }

    /// - `outage`: the time without a connection at the next attempt.
    private func verdict(_ loss: Loss, outage: Duration) -> Verdict {
        guard options.reconnects(loss) else { return .end(loss.error) }
        let isTooOften = options.maximumFailures.map { loss.failures > $0 } ?? false
        let isTooLong = options.maximumOutage.map { outage > $0 } ?? false
        guard isTooOften || isTooLong else { return .connectAgain }
        let error = NetworkError(
            .connectionLost(.requestNotSent),
            detail: "The server closed the WebSocket connection \(loss.failures) times in a row.")
        return .end(loss.error ?? error)
    }

    /// Hands back messages of the lost connection.
    private func report(_ loss: inout Loss) {
        (loss.unacknowledged, loss.unsent) = outgoing.lose(resending: options.resends)
        onLoss(loss)
    }

    private func finish(_ loss: Loss, _ error: NetworkError?) {
        var loss = loss
        loss.isFinal = true
        (loss.unacknowledged, loss.unsent) = outgoing.end(error ?? Self.closed)
        onLoss(loss)
        if isClosing { incoming.dropAll() }
        incoming.finish(error.map { .failure($0) } ?? .success(()))
        control.release(as: .closed(error))
    }

    // MARK: One connection

    /// Opens a connection and waits for its end.
    private func connection() async -> Ending {
        let opening: (WebSocket, Ending?)
        do throws(NetworkError) {
            opening = try await control.run { () throws(NetworkError) in
                let socket = try await self.connect()
                do { try await self.runHook(socket) } catch {
                    let ending = Ending(error: NetworkError(error), closing: socket.closing, isOfHook: true)
                    socket.core.abandon()
                    return (socket, ending)
                }
                return (socket, nil)
            }
        } catch {
            return Ending(error: error)
        }
        let (socket, failure) = opening
        if let failure { return failure }
        let begin = time.now
        await serve(socket)
        var ending = Ending(closing: socket.closing, openFor: begin.duration(to: time.now))
        if case .failure(let error) = socket.core.incoming.end { ending.error = error }
        return ending
    }

    /// Runs the hook, within its time limit.
    private func runHook(_ socket: WebSocket) async throws {
        let hook = Task { try await onOpen(socket) }
        let isLate = Locked(false)
        let alarm = Task {
            guard (try? await time.alarm(at: time.now.advanced(by: options.hookTimeout))) != nil else { return }
            isLate.withLock { $0 = true }
            hook.cancel()
        }
        defer { alarm.cancel() }
        do {
            try await withTaskCancellationHandler {
                try await hook.value
            } onCancel: {
                hook.cancel()
            }
        } catch {
            guard isLate.withLock({ $0 }) else { throw error }
            throw NetworkError(
                .timedOut(.total), detail: "The hook of the WebSocket took longer than \(options.hookTimeout.brief).",
                hint: "Check what the hook waits for, or raise ReconnectingWebSocket.Options.hookTimeout.")
        }
    }

    /// Sends and receives until the connection has ended.
    private func serve(_ socket: WebSocket) async {
        incoming.add(socket.core.incoming)
        outgoing.open()
        let isClosing = shared.withLock { shared in
            shared.socket = socket
            return shared.isClosing
        }
        if isClosing { socket.core.abandon() }
        control.change(to: .open)
        control.interruptible { socket.core.lose(Self.restarted) }
        let tasks = [Task { await send(to: socket) }, Task { await prove(socket) }]
        await socket.core.ended()
        control.interruptible(by: nil)
        outgoing.disconnect()
        for task in tasks {
            task.cancel()
            await task.value
        }
        shared.withLock { $0.socket = nil }
    }

    /// Sends the waiting messages until the connection has ended.
    private func send(to socket: WebSocket) async {
        let core = socket.core
        while case .send(let item) = await outgoing.next(isLost: { core.sendingFailure != nil }) {
            do throws(NetworkError) {
                try await core.send(item.message)
                outgoing.accept(item)
            } catch {
                // A lost connection ends where it is received, after the messages that have arrived.
                if case .connectionLost = error.reason { return }
                if core.sendingFailure == nil { core.lose(error) }
                return
            }
        }
    }

    /// Sends a ping after messages, until the connection has ended. Its pong acknowledges them.
    private func prove(_ socket: WebSocket) async {
        guard options.acknowledgement == .pong else { return }
        var next = time.now
        while await outgoing.waitForUnproven() {
            await outgoing.delayPing(until: next, on: time)
            let mark = outgoing.mark
            next = time.now.advanced(by: options.pingInterval)
            do throws(NetworkError) { try await socket.ping() } catch { return }
            outgoing.acknowledge(before: mark)
        }
    }

    // MARK: Closing

    private var isClosing: Bool { shared.withLock { $0.isClosing } }

    func close(_ code: WebSocketCloseCode, reason: String) async {
        let (isFirst, socket, driver) = shared.withLock { shared in
            defer { shared.isClosing = true }
            return (!shared.isClosing, shared.socket, shared.driver)
        }
        outgoing.refuse(Self.closed)
        if isFirst {
            if let socket {
                let limit = time.now.advanced(by: options.socket.closeTimeout)
                await outgoing.flush(until: limit, on: time)
                await socket.core.close(code, reason: reason)
            } else {
                driver?.cancel()
            }
        }
        await driver?.value
    }

    /// Closes the socket with 1001, in the background. Called when nothing refers to it any more.
    func abandon() {
        let (socket, driver) = shared.withLock { shared in
            shared.isClosing = true
            return (shared.socket, shared.driver)
        }
        if let socket { socket.core.abandon() } else { driver?.cancel() }
    }
}
