// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import Dispatch

/// The bytes from a script, which runs in a task, to what carries them: a response body, or the thread of a connection.
final class ScriptOutput: Sendable {
    private struct State: Sendable {
        var outbox = Data()
        /// Whether bytes were taken that the system has not accepted yet.
        var isSending = false
        var ending: MockEventScript.Ending?
        var isClosed = false
    }

    private let state = Monitor(State())
    private let clock: any TimeSource
    private let onChange: @Sendable () -> Void
    /// The maximum number of bytes that wait to be taken.
    private static let limit = 64 << 20

    /// - `clock`: the clock of the pauses.
    /// - `onChange`: called after the script has added bytes or the end.
    init(on clock: any TimeSource = SystemTime(), onChange: @escaping @Sendable () -> Void = {}) {
        self.clock = clock
        self.onChange = onChange
    }

    // MARK: The script's side

    private static let lost = NetworkError(
        .connectionLost(.requestMayHaveArrived), detail: "The connection of the mock has ended.")

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
        onChange()
    }

    /// Waits until all bytes have been accepted.
    func flush() async throws(NetworkError) {
        let isClosed = await state.wait { state in
            (state.outbox.isEmpty && !state.isSending) || state.isClosed ? state.isClosed : nil
        }
        guard let isClosed else { throw NetworkError(.cancelled) }
        if isClosed { throw Self.lost }
    }

    /// Sends bytes, and waits until they have been accepted.
    func write(_ bytes: Data) async throws(NetworkError) {
        try enqueue(bytes)
        try await flush()
    }

    func pause(_ duration: Duration) async throws(NetworkError) {
        // The task of the script is cancelled when the connection ends.
        do { try await clock.sleep(for: duration) } catch { throw NetworkError(error) }
        if state.withLock({ $0.isClosed || $0.ending != nil }) { throw Self.lost }
    }

    /// Ends the output after the bytes in it. Only the first call counts.
    func end(_ ending: MockEventScript.Ending) {
        state.withLock { state in
            if state.ending == nil { state.ending = ending }
        }
        onChange()
    }

    // MARK: The other side

    /// The end that the script has requested, once all bytes have been taken.
    var ending: MockEventScript.Ending? { state.withLock { $0.outbox.isEmpty ? $0.ending : nil } }

    /// The number of bytes that have not been taken.
    var waitingBytes: Int { state.withLock { $0.outbox.count } }

    /// Removes and returns the bytes that wait. `hasSent` must follow.
    func take() -> Data {
        state.withLock { state in
            defer { state.outbox = Data() }
            if !state.outbox.isEmpty { state.isSending = true }
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

    /// Waits for bytes or the end.
    func next() async throws -> Data? {
        let result = await state.wait { state -> Result<Data?, any Error>? in
            if !state.outbox.isEmpty {
                defer { state.outbox = Data() }
                return .success(state.outbox)
            }
            if state.isClosed { return .failure(NetworkError(.cancelled)) }
            return switch state.ending {
            case nil, .interrupted(.stall): nil
            case .failed(let error): .failure(error)
            case .interrupted: .failure(Self.lost)
            case .complete: .success(nil)
            }
        }
        guard let result else { throw CancellationError() }
        return try result.get()
    }
}

/// The task in which a mock runs a script.
enum ScriptTask {
    /// Starts the task. On systems that support it, the script runs on a queue of its own: it makes progress even if
    /// tests block all of Swift's cooperative threads.
    static func start(_ script: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            return Task(executorPreference: ScriptExecutor()) { await script() }
        }
        return Task { await script() }
    }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private final class ScriptExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "curlew.mock.script")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
