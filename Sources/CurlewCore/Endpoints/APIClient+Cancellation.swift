// SPDX-License-Identifier: MIT

/// Calls for views, where cancellation is not a failure.
extension APIClient {
    /// Sends `endpoint`. Returns nil when the task was cancelled, so that `catch` handles real failures only.
    ///
    /// Throws `NetworkError` as `send` does, but never an error for which `isCancelled` is true.
    @concurrent
    public func sendUnlessCancelled<E: Endpoint>(_ endpoint: E) async throws(NetworkError) -> E.Response? {
        do {
            return try await send(endpoint)
        } catch {
            guard error.isCancelled else { throw error }
            return nil
        }
    }

    /// Sends an inline request. Returns nil when the task was cancelled.
    @concurrent
    public func sendUnlessCancelled<Value>(_ request: Request<Value>) async throws(NetworkError) -> Value? {
        do {
            return try await send(request)
        } catch {
            guard error.isCancelled else { throw error }
            return nil
        }
    }

    /// Sends `route` and decodes its response. Returns nil when the task was cancelled.
    @concurrent
    public func sendUnlessCancelled<Value: Decodable & Sendable>(
        _ route: some Route, as type: Value.Type = Value.self
    ) async throws(NetworkError) -> Value? {
        do {
            return try await send(route, as: type)
        } catch {
            guard error.isCancelled else { throw error }
            return nil
        }
    }
}
