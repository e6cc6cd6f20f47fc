// SPDX-License-Identifier: MIT

/// Calls with completion closures. Each form calls its closure exactly once, also when the call is cancelled.
extension APIClient {
    /// Sends `endpoint` and calls `completion` on the main actor: exactly once. After `cancel()` the result is
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
        deliver(completion) { () async throws(NetworkError) in try await send(endpoint) }
    }

    /// Sends an inline request and calls `completion` on the main actor, exactly once.
    @discardableResult
    public func send<Value>(
        _ request: Request<Value>, completion: @escaping @MainActor (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        deliver(completion) { () async throws(NetworkError) in try await send(request) }
    }

    /// Sends `route`, decodes its response as `type` and calls `completion` on the main actor, exactly once.
    @discardableResult
    public func send<Value: Decodable & Sendable>(
        _ route: some Route, as type: Value.Type,
        completion: @escaping @MainActor (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        deliver(completion) { () async throws(NetworkError) in try await send(route, as: type) }
    }

    /// Sends `route`, ignores the response body and calls `completion` on the main actor, exactly once.
    @discardableResult @_disfavoredOverload
    public func send(
        _ route: some Route, completion: @escaping @MainActor (Result<Void, NetworkError>) -> Void
    ) -> RequestHandle {
        deliver(completion) { () async throws(NetworkError) in try await send(route) }
    }

    /// Sends `endpoint` and calls `completion` on `executor`, exactly once, also when the call is cancelled. `.client`
    /// is the executor of the configuration.
    @discardableResult
    public func send<E: Endpoint>(
        _ endpoint: E, deliverOn executor: CompletionExecutor,
        completion: @escaping @Sendable (Result<E.Response, NetworkError>) -> Void
    ) -> RequestHandle {
        deliver(on: executor, completion) { () async throws(NetworkError) in try await send(endpoint) }
    }

    /// Sends an inline request and calls `completion` on `executor`, exactly once.
    @discardableResult
    public func send<Value>(
        _ request: Request<Value>, deliverOn executor: CompletionExecutor,
        completion: @escaping @Sendable (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        deliver(on: executor, completion) { () async throws(NetworkError) in try await send(request) }
    }

    /// Sends `route`, decodes its response as `type` and calls `completion` on `executor`, exactly once.
    @discardableResult
    public func send<Value: Decodable & Sendable>(
        _ route: some Route, as type: Value.Type, deliverOn executor: CompletionExecutor,
        completion: @escaping @Sendable (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        deliver(on: executor, completion) { () async throws(NetworkError) in try await send(route, as: type) }
    }

    /// Sends `route`, ignores the response body and calls `completion` on `executor`, exactly once.
    @discardableResult @_disfavoredOverload
    public func send(
        _ route: some Route, deliverOn executor: CompletionExecutor,
        completion: @escaping @Sendable (Result<Void, NetworkError>) -> Void
    ) -> RequestHandle {
        deliver(on: executor, completion) { () async throws(NetworkError) in try await send(route) }
    }

    private func deliver<Value: Sendable>(
        _ completion: @escaping @MainActor (Result<Value, NetworkError>) -> Void,
        _ call: @escaping @Sendable () async throws(NetworkError) -> Value
    ) -> RequestHandle {
        RequestHandle { handle in
            let result = await outcome(of: call)
            await MainActor.run { completion(handle.isCancelled ? .failure(NetworkError(.cancelled)) : result) }
        }
    }

    private func deliver<Value: Sendable>(
        on executor: CompletionExecutor, _ completion: @escaping @Sendable (Result<Value, NetworkError>) -> Void,
        _ call: @escaping @Sendable () async throws(NetworkError) -> Value
    ) -> RequestHandle {
        let run = executor.run ?? core.configuration.completionExecutor.run ?? { $0() }
        return RequestHandle { handle in
            let result = await outcome(of: call)
            run { completion(handle.isCancelled ? .failure(NetworkError(.cancelled)) : result) }
        }
    }

    private func outcome<Value: Sendable>(
        of call: @Sendable () async throws(NetworkError) -> Value
    ) async -> Result<Value, NetworkError> {
        do throws(NetworkError) { return .success(try await call()) } catch { return .failure(error) }
    }
}
