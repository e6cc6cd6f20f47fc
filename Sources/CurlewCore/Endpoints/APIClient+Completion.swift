// SPDX-License-Identifier: MIT

#if canImport(Dispatch)
public import Dispatch
#endif

/// Calls with completion closures. Each method calls its closure exactly once, even when the call is cancelled.
extension APIClient {
    /// Sends `endpoint` and calls `completion` on the main actor, exactly once. After `cancel()` the result is
    /// `.cancelled`. The call continues if the handle is released.
    ///
    ///     let handle = client.send(GetUser(id: 1)) { result in
    ///         switch result {
    ///         case .success(let user): label.text = user.name
    ///         case .failure(let error): if !error.isCancelled { label.text = error.message }
    ///         }
    ///     }
    @discardableResult
    public func send<E: Endpoint>(
        _ endpoint: E, completion: @escaping @MainActor (Result<E.Response, NetworkError>) -> Void
    ) -> RequestHandle {
        start({ () async throws(NetworkError) in try await send(endpoint) }, thenOnMain: completion)
    }

    /// Sends `request` and calls `completion` on the main actor, exactly once. The rules are those for an endpoint.
    @discardableResult
    public func send<Value>(
        _ request: Request<Value>, completion: @escaping @MainActor (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        start({ () async throws(NetworkError) in try await send(request) }, thenOnMain: completion)
    }

    /// Sends `endpoint` and calls `completion` on `executor`, exactly once, even when the call is cancelled.
    @discardableResult
    public func send<E: Endpoint>(
        _ endpoint: E, deliverOn executor: CompletionExecutor,
        completion: @escaping @Sendable (Result<E.Response, NetworkError>) -> Void
    ) -> RequestHandle {
        start({ () async throws(NetworkError) in try await send(endpoint) }, then: completion, on: executor)
    }

    /// Sends `request` and calls `completion` on `executor`, exactly once. The rules are those for an endpoint.
    @discardableResult
    public func send<Value>(
        _ request: Request<Value>, deliverOn executor: CompletionExecutor,
        completion: @escaping @Sendable (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        start({ () async throws(NetworkError) in try await send(request) }, then: completion, on: executor)
    }

    private func start<Value: Sendable>(
        _ call: @escaping @Sendable () async throws(NetworkError) -> Value,
        thenOnMain completion: @escaping @MainActor (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        start(call) { result in await MainActor.run { completion(result()) } }
    }

    private func start<Value: Sendable>(
        _ call: @escaping @Sendable () async throws(NetworkError) -> Value,
        then completion: @escaping @Sendable (Result<Value, NetworkError>) -> Void, on executor: CompletionExecutor
    ) -> RequestHandle {
        start(call) { result in executor.run { completion(result()) } }
    }

    /// Starts `call`, and passes `deliver` a closure that returns the result. The result is `.cancelled` if the handle
    /// has been cancelled before that closure runs.
    private func start<Value: Sendable>(
        _ call: @escaping @Sendable () async throws(NetworkError) -> Value,
        deliver: @escaping @Sendable (@escaping @Sendable () -> Result<Value, NetworkError>) async -> Void
    ) -> RequestHandle {
        RequestHandle { handle in
            let result: Result<Value, NetworkError>
            do throws(NetworkError) { result = .success(try await call()) } catch { result = .failure(error) }
            await deliver { handle.isCancelled ? .failure(NetworkError(.cancelled)) : result }
        }
    }

    /// A handle that cancels a call with a completion closure. The call continues if the handle is released.
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

        /// Cancels the call. The completion closure still runs once, with `.cancelled` even if the response has
        /// arrived. Has no effect once the closure has started.
        ///
        /// May be called from any thread, any number of times.
        public func cancel() {
            let task = state.withLock { state in
                state.isCancelled = true
                return state.task
            }
            task?.cancel()
        }

        /// True if `cancel` has been called, even after the completion closure has run.
        public var isCancelled: Bool {
            state.withLock { $0.isCancelled }
        }
    }

    /// An executor that runs completion closures, such as a dispatch queue.
    public struct CompletionExecutor: Sendable {
        let run: @Sendable (@escaping @Sendable () -> Void) -> Void

        /// Creates an executor that passes each closure to `run`, which must call the closure exactly once.
        public init(_ run: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
            self.run = run
        }

        /// An executor that runs closures on the thread on which the call ended. That thread belongs to the concurrency
        /// runtime, so the closures must return quickly.
        public static let anywhere = CompletionExecutor { $0() }

        #if canImport(Dispatch)
        /// Returns an executor that runs closures on a dispatch queue, after the call has ended. A serial queue keeps
        /// the order in which calls end.
        public static func queue(_ queue: DispatchQueue) -> CompletionExecutor {
            CompletionExecutor { work in queue.async(execute: work) }
        }
        #endif
    }
}
