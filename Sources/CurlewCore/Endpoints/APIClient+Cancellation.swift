// SPDX-License-Identifier: MIT

/// For views, where a cancelled call is no failure.
extension APIClient {
    /// Sends `endpoint`; nil when the task was cancelled, so that `catch` is left with failures to show.
    ///
    /// Throws `NetworkError` as `send` does, but never one that `isCancelled`.
    @concurrent
    public func sendUnlessCancelled<E: Endpoint>(_ endpoint: E) async throws(NetworkError) -> E.Response? {
        do {
            return try await send(endpoint)
        } catch {
            guard error.isCancelled else { throw error }
            return nil
        }
    }

    /// Sends an inline request; nil when the task was cancelled.
    @concurrent
    public func sendUnlessCancelled<Value>(_ request: Request<Value>) async throws(NetworkError) -> Value? {
        do {
            return try await send(request)
        } catch {
            guard error.isCancelled else { throw error }
            return nil
        }
    }

    /// Sends `route` and decodes its answer; nil when the task was cancelled.
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
