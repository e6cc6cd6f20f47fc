// SPDX-License-Identifier: MIT

extension APIClient {
    /// Lets the calls under way finish, as a service does before it ends: those that are sent, those that wait in a queue of
    /// the pipeline or of the transport, and those that pause between attempts.
    ///
    ///     if await client.drain(for: .seconds(20)) { print("all answered") }
    ///     await client.transport.shutdown()
    ///
    /// From now on this client, its copies and the clients derived from it begin no more calls: those throw
    /// `.refused(by: .shutdown)`. Returns true as soon as no call is under way, and false if some are after `limit`, or when
    /// the caller is cancelled; what is left goes on until the transport is shut down. A response that streams counts until
    /// its head is there; `Transport.shutdown(_:)` with `.drain(deadline:)` waits for bodies.
    public func drain(for limit: Duration) async -> Bool {
        let time = core.configuration.time
        return await core.calls.drain(until: Deadline(limit, after: time.now), on: time)
    }
}
