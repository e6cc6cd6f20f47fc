// SPDX-License-Identifier: MIT

/// Calls for views, where cancellation is not a failure.
extension APIClient {
    /// Sends `endpoint`. Returns nil when the task was cancelled, so that `catch` handles real failures only.
    ///
    /// Throws `NetworkError` as `send` does, but never an error for which `isCancelled` is true.
    @concurrent
    public func sendUnlessCancelled<E: Endpoint>(_ endpoint: E) async throws(NetworkError) -> E.Response? {
        try await uncancelled { () async throws(NetworkError) in try await send(endpoint) }
    }

    /// Sends `request`. Returns nil when the task was cancelled, and throws as the form for endpoints does.
    @concurrent
    public func sendUnlessCancelled<Value>(_ request: Request<Value>) async throws(NetworkError) -> Value? {
        try await uncancelled { () async throws(NetworkError) in try await send(request) }
    }

    private func uncancelled<Value>(
        _ call: () async throws(NetworkError) -> Value
    ) async throws(NetworkError) -> Value? {
        do throws(NetworkError) {
            return try await call()
        } catch {
            guard error.isCancelled else { throw error }
            return nil
        }
    }
}
