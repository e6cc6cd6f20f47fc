// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// The messages from the caller, and the tasks that add, send and acknowledge them.
final class OutgoingMessages: Sendable {
    private struct State: Sendable {
        var box: Outbox
        /// Whether a connection is open, so that messages can be sent.
        var isOpen = false
        /// The error of adding a message; nil while messages can be added.
        var failure: NetworkError?
        /// Whether the messages should be sent and acknowledged without delay, because the caller closes.
        var isClosing = false
        var isPingDue = false
        /// The tasks that wait for room, in order.
        var order: [UInt64] = []
        var adders: [UInt64: Adder] = [:]
        var nextAdder: UInt64 = 0
    }

    private struct Adder: Sendable {
        let message: WebSocketMessage
        let continuation: UnsafeContinuation<Result<Void, NetworkError>, Never>
    }

    private let queuesWhileDisconnected: Bool
    private let monitor: Monitor<State>

    init(_ options: ReconnectingWebSocket.Options) {
        queuesWhileDisconnected = options.queuesWhileDisconnected
        monitor = Monitor(State(box: Outbox(messages: options.outgoingMessages, bytes: options.outgoingBytes)))
    }

    private static let disconnected = NetworkError(
        .connectionLost(.requestNotSent), detail: "There is no WebSocket connection at the moment.",
        hint: "Send when the state is open, or set ReconnectingWebSocket.Options.queuesWhileDisconnected.")

    // MARK: The caller

    /// Adds a message when there is room. Throws if the message was not added.
    func add(_ message: WebSocketMessage) async throws(NetworkError) {
        let number = monitor.update { state in
            state.nextAdder += 1
            return state.nextAdder
        }
        let result = await withTaskCancellationHandler {
            await withUnsafeContinuation { (continuation: UnsafeContinuation<Result<Void, NetworkError>, Never>) in
                let result = monitor.update { state -> Result<Void, NetworkError>? in
                    if Task.isCancelled { return .failure(NetworkError(.cancelled)) }
                    if let error = refusal(state) { return .failure(error) }
                    guard state.order.isEmpty, state.box.hasRoom else {
                        state.adders[number] = Adder(message: message, continuation: continuation)
                        state.order.append(number)
                        return nil
                    }
                    state.box.add(message)
                    return .success(())
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            let adder = change { state in
                state.order.removeAll { $0 == number }
                return state.adders.removeValue(forKey: number)
            }
            adder?.continuation.resume(returning: .failure(NetworkError(.cancelled)))
        }
        try result.get()
    }

    private func refusal(_ state: State) -> NetworkError? {
        state.failure ?? (queuesWhileDisconnected || state.isOpen ? nil : Self.disconnected)
    }

    /// Acknowledges the messages that satisfy the condition.
    func acknowledge(where isAcknowledged: (WebSocketMessage) -> Bool) {
        let candidates = monitor.read { $0.box.unacknowledged }
        let numbers = Set(candidates.filter { isAcknowledged($0.message) }.map(\.number))
        if !numbers.isEmpty { change { $0.box.acknowledge(numbers) } }
    }

    /// Changes the state, and adds the messages of waiting tasks while there is room.
    @discardableResult
    private func change<Value: Sendable>(_ body: (inout State) -> Value) -> Value {
        typealias Resumption = (Adder, Result<Void, NetworkError>)
        let (value, resumed) = monitor.update { state -> (Value, [Resumption]) in
            let value = body(&state)
            let error = refusal(state)
            var resumed: [Resumption] = []
            while let number = state.order.first, error != nil || state.box.hasRoom {
                state.order.removeFirst()
                guard let adder = state.adders.removeValue(forKey: number) else { continue }
                if error == nil { state.box.add(adder.message) }
                resumed.append((adder, error.map { .failure($0) } ?? .success(())))
            }
            return (value, resumed)
        }
        for (adder, result) in resumed { adder.continuation.resume(returning: result) }
        return value
    }

    // MARK: The connection

    func open() {
        change { $0.isOpen = true }
    }

    /// Ends sending. Waiting messages stay.
    func disconnect() {
        change { $0.isOpen = false }
    }

    /// The next step of the task that sends.
    enum Step: Sendable {
        case send(Outbox.Item)
        case stop
    }

    /// Waits for the next message. Returns `.stop` once the connection has ended.
    func next(isLost: @Sendable () -> Bool) async -> Step {
        let step = await monitor.wait { state -> Step? in
            guard state.isOpen else { return .stop }
            guard !state.box.isEmpty else { return nil }
            if isLost() { return .stop }
            return state.box.take().map { .send($0) }
        }
        return step ?? .stop
    }

    /// Notes that the transport has accepted the message.
    func accept(_ item: Outbox.Item) {
        change { $0.box.accept(item) }
    }

    /// Waits until a pong would acknowledge a message. Returns false once the connection has ended.
    func waitForUnproven() async -> Bool {
        await monitor.wait { state -> Bool? in
            guard state.isOpen else { return false }
            return state.box.isUnproven ? true : nil
        } ?? false
    }

    /// Waits until `instant`, or until the acknowledgement should not be delayed.
    func delayPing(until instant: MonotonicInstant, on time: any TimeSource) async {
        guard time.now < instant else { return }
        change { $0.isPingDue = false }
        let alarm = Task {
            guard (try? await time.sleep(until: instant)) != nil else { return }
            change { $0.isPingDue = true }
        }
        _ = await monitor.wait { state -> Bool? in
            state.isPingDue || state.isClosing || !state.isOpen || state.box.isHalfFull ? true : nil
        }
        alarm.cancel()
    }

    /// The number before which a ping that is sent now proves the arrival.
    var mark: UInt64 { monitor.read { $0.box.mark } }

    func acknowledge(before number: UInt64) {
        change { $0.box.acknowledge(before: number) }
    }

    // MARK: The end

    var isEmpty: Bool { monitor.read { $0.box.isEmpty } }

    /// The messages that were sent and are not acknowledged.
    var unacknowledged: [Outbox.Item] { monitor.read { $0.box.unacknowledged } }

    /// Hands back the messages that were sent on the lost connection, apart from those that are sent again.
    func lose(
        resending resends: (WebSocketMessage) -> Bool
    ) -> (unacknowledged: [WebSocketMessage], unsent: [WebSocketMessage]) {
        let numbers = Set(unacknowledged.filter { resends($0.message) }.map(\.number))
        return change { state in
            (state.box.lose(resending: numbers), queuesWhileDisconnected ? [] : state.box.takeUnsent())
        }
    }

    /// Refuses further messages with this error, also those of tasks that wait for room.
    func refuse(_ error: NetworkError) {
        change { state in
            state.isClosing = true
            if state.failure == nil { state.failure = error }
        }
    }

    /// Waits until all messages were sent and acknowledged, the connection has ended, or `instant` is reached.
    func flush(until instant: MonotonicInstant, on time: any TimeSource) async {
        let isOver = Locked(false)
        let alarm = Task {
            guard (try? await time.alarm(at: instant)) != nil else { return }
            isOver.withLock { $0 = true }
            change { _ in }
        }
        _ = await monitor.wait { state -> Bool? in
            state.box.isEmpty || !state.isOpen || isOver.withLock({ $0 }) ? true : nil
        }
        alarm.cancel()
    }

    /// Ends sending, and hands back all messages.
    func end(_ error: NetworkError) -> (unacknowledged: [WebSocketMessage], unsent: [WebSocketMessage]) {
        change { state in
            state.isOpen = false
            if state.failure == nil { state.failure = error }
            return state.box.removeAll()
        }
    }
}
