// SPDX-License-Identifier: MIT

/// Calls for views, where cancellation is not a failure.
extension APIClient {
    /// Sends `endpoint` and returns its decoded response; nil when the task was cancelled, so that `catch` handles real
    /// failures only. Throws `NetworkError` as `send` does, but never an error for which `isCancelled` is true.
    @concurrent
    public func sendUnlessCancelled<E: Endpoint>(_ endpoint: E) async throws(NetworkError) -> E.Response? {
        try await uncancelled { () async throws(NetworkError) in try await send(endpoint) }
    }

    /// Sends `request` and returns the decoded response; nil when the task was cancelled. Throws as for an endpoint.
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

    /// Refuses new calls and waits for running calls to finish, as a service does before it ends. Running calls include
    /// those that wait in a queue of the pipeline or of the transport, and those that pause between attempts.
    ///
    ///     if await client.drain(for: .seconds(20)) { print("no call is running") }
    ///     await client.transport.shutdown()      // for all clients that share it, such as those with the default one
    ///
    /// Once this method is called, new calls throw `.refused(by: .shutdown)`: those of this client, of the client from
    /// which it was derived, and of all copies and clients derived from either. Returns true as soon as no call is
    /// running. Returns false if calls are still running after `limit`, or when the task of the caller is cancelled;
    /// running calls then continue, unless the transport is shut down. A call that streams its response counts as
    /// running until the response head has arrived. `Transport.shutdown(_:)` with `.drain(deadline:)` waits for bodies.
    public func drain(for limit: Duration) async -> Bool {
        let time = core.configuration.time
        return await core.calls.drain(until: SystemTime.Deadline(limit, after: time.now), on: time)
    }
}
