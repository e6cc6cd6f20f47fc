// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation

/// The bytes from a script, which runs in a task, to the thread of its connection.
final class MockChannel: MockEventOutput {
    private struct State: Sendable {
        var outbox = Data()
        /// Whether the thread has taken bytes that the system has not accepted yet.
        var isSending = false
        var ending: MockEventScript.Ending?
        var isClosed = false
    }

    let pipe: WakePipe
    private let state = Monitor(State())
    /// The maximum number of bytes that wait for the thread.
    private static let limit = 64 << 20

    init() throws(MockServerError) {
        pipe = try WakePipe()
    }

    // MARK: The script's side

    private static let lost = NetworkError(
        .connectionLost(.requestMayHaveArrived), detail: "The connection of the mock server has ended.")

    /// Adds bytes without waiting. Throws `.limitExceeded` if too many wait.
    func enqueue(_ bytes: Data) throws(NetworkError) {
        let failure = state.withLock { state -> NetworkError? in
            guard state.ending == nil, !state.isClosed else { return Self.lost }
            guard state.outbox.count + bytes.count <= Self.limit else {
                return NetworkError(
                    .limitExceeded(.responseBody), detail: "\(Self.limit) bytes wait for the client.",
                    hint: "Let the script wait with flush() until the client has received more.")
            }
            state.outbox.append(bytes)
            return nil
        }
        if let failure { throw failure }
        pipe.wake()
    }

    /// Waits until the system has accepted all bytes.
    func flush() async throws(NetworkError) {
        let isClosed = await state.wait { state in
            (state.outbox.isEmpty && !state.isSending) || state.isClosed ? state.isClosed : nil
        }
        guard let isClosed else { throw NetworkError(.cancelled) }
        if isClosed { throw Self.lost }
    }

    func write(_ bytes: Data) async throws(NetworkError) {
        try enqueue(bytes)
        try await flush()
    }

    func pause(_ duration: Duration) async throws(NetworkError) {
        // The task of the script is cancelled when the connection ends.
        do { try await SystemTime().sleep(for: duration) } catch { throw NetworkError(error) }
        if state.withLock({ $0.isClosed || $0.ending != nil }) { throw Self.lost }
    }

    /// Ends the channel after the bytes in it. Only the first call counts.
    func end(_ ending: MockEventScript.Ending) {
        state.withLock { state in
            if state.ending == nil { state.ending = ending }
        }
        pipe.wake()
    }

    // MARK: The thread's side

    /// The end that the script has requested, once all bytes have been taken.
    var ending: MockEventScript.Ending? { state.withLock { $0.outbox.isEmpty ? $0.ending : nil } }

    /// The number of bytes that the thread has not taken.
    var waitingBytes: Int { state.withLock { $0.outbox.count } }

    /// Removes and returns the bytes that wait.
    func take() -> Data {
        state.withLock { state in
            guard !state.outbox.isEmpty else { return Data() }
            defer { state.outbox = Data() }
            state.isSending = true
            return state.outbox
        }
    }

    /// Called when the system has accepted what `take` returned.
    func hasSent() {
        state.withLock { $0.isSending = false }
    }

    /// Ends the script's writing: the connection has ended.
    func close() {
        state.withLock { state in
            state.isClosed = true
            state.outbox = Data()
        }
    }

    enum Piece {
        case bytes(Data)
        case ended(MockEventScript.Ending)
        /// The client has closed the connection, or the server stops.
        case gone
    }

    /// Waits for bytes or the end. Leaves bytes that the client has sent unread.
    func next(on socket: Int32, _ signal: StopSignal) -> Piece {
        var watched = StopSignal.peerEnd
        while true {
            pipe.drain()
            let bytes = take()
            if !bytes.isEmpty { return .bytes(bytes) }
            if let ending { return .ended(ending) }
            let (wake, events) = signal.wait(for: watched, on: socket, or: pipe, until: .never)
            if wake == .stopped { return .gone }
            guard events != 0 else { continue }
            if events & Int32(POLLERR | POLLHUP) != 0 || LoopbackSocket.isClosed(socket) { return .gone }
            #if canImport(Darwin)
            // The bytes of the next request must not wake the thread repeatedly.
            watched = 0
            #else
            return .gone
            #endif
        }
    }
}
