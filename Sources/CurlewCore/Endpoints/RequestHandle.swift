// SPDX-License-Identifier: MIT

/// A call in flight that nobody awaits; made by the completion forms of `APIClient.send`.
///
/// May be dropped: the call goes on without it.
public final class RequestHandle: Sendable {
    private let state = Locked(State())

    private struct State: Sendable {
        var isCancelled = false
        var task: Task<Void, Never>?
    }

    /// Begins `work`, which is told whether the handle was cancelled by asking it.
    init(_ work: @escaping @Sendable (RequestHandle) async -> Void) {
        let task = Task { await work(self) }
        state.withLock { $0.task = task }
    }

    /// Ends the call. Its completion still runs, once, with `.cancelled`; nothing happens when it has run.
    ///
    /// From any thread, as often as you like. A completion that begins after this has returned reports `.cancelled`,
    /// whatever the server said.
    public func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }

    /// Whether `cancel` has been called.
    public var isCancelled: Bool {
        state.withLock { $0.isCancelled }
    }
}
