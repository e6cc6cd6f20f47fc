// SPDX-License-Identifier: MIT

extension APIClient {
    /// A handle that cancels a call that was sent with a completion closure.
    ///
    /// The call continues if the handle is released.
    public final class RequestHandle: Sendable {
        private let state = Locked(State())

        private struct State: Sendable {
            var isCancelled = false
            var task: Task<Void, Never>?
        }

        /// Creates a handle and starts `work` with it, in a new task.
        init(_ work: @escaping @Sendable (RequestHandle) async -> Void) {
            let task = Task { await work(self) }
            state.withLock { $0.task = task }
        }

        /// Cancels the call. Its completion still runs, once, with `.cancelled`. Has no effect after the completion has
        /// run.
        ///
        /// May be called from any thread, any number of times. A completion that starts after this method returns
        /// receives `.cancelled`, even if the response has arrived.
        public func cancel() {
            let task = state.withLock { state in
                state.isCancelled = true
                return state.task
            }
            task?.cancel()
        }

        /// True if `cancel` has been called.
        public var isCancelled: Bool {
            state.withLock { $0.isCancelled }
        }
    }
}
