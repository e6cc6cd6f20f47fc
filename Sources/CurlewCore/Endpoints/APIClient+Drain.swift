// SPDX-License-Identifier: MIT

extension APIClient {
    /// Waits for running calls to finish, as a service does before it ends. This includes calls that wait in a queue of
    /// the pipeline or of the transport, and calls that pause between attempts.
    ///
    ///     if await client.drain(for: .seconds(20)) { print("all answered") }
    ///     await client.transport.shutdown()
    ///
    /// From now on this client, its copies and the clients derived from it refuse new calls with `.refused(by:
    /// .shutdown)`. Returns true as soon as no call is running. Returns false if calls are still running after `limit`,
    /// or when the caller is cancelled; those calls continue until the transport is shut down. A streamed response
    /// counts until its head has arrived. `Transport.shutdown(_:)` with `.drain(deadline:)` waits for bodies.
    public func drain(for limit: Duration) async -> Bool {
        let time = core.configuration.time
        return await core.calls.drain(until: Deadline(limit, after: time.now), on: time)
    }
}
