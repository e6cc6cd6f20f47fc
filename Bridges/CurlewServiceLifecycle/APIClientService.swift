// SPDX-License-Identifier: MIT

#if ServiceLifecycle
public import Curlew
public import ServiceLifecycle

/// A service that drains a client when its service group shuts down gracefully: running calls end, and the client
/// refuses new ones with `.refused(by: .shutdown)`.
///
///     let group = ServiceGroup(
///         services: [APIClientService(client), server], gracefulShutdownSignals: [.sigterm], logger: logger)
///     try await group.run()
///
/// A group shuts its services down in reverse order, so place the client before the services that use it.
///
/// If the task of the service is cancelled, as when the group gives up waiting, the service ends at once; with
/// `endsTransport`, that ends the running exchanges.
public struct APIClientService: Service {
    private let client: APIClient
    private let limit: Duration
    private let endsTransport: Bool

    /// Creates a service for `client`, its copies and the clients derived from it.
    ///
    /// - `limit`: how long running calls may take. Default 20 seconds. They continue after it, unless the transport is
    ///   shut down.
    /// - `endsTransport`: whether the transport is shut down, too, after the calls. It then lets bodies that are still
    ///   read arrive, within what is left of `limit`, ends all others and closes its connections. Default false, because
    ///   other clients may share the transport: those that name none do.
    public init(_ client: APIClient, drainingFor limit: Duration = .seconds(20), endsTransport: Bool = false) {
        self.client = client
        self.limit = limit
        self.endsTransport = endsTransport
    }

    /// Waits for the graceful shutdown, and then until no call is running or the limit has passed.
    public func run() async throws {
        do {
            try await gracefulShutdown()
        } catch {
            if endsTransport { await client.transport.shutdown(.now) }
            throw error
        }
        let time = client.configuration.time
        let deadline = SystemTime.Deadline(limit, after: time.now)
        _ = await client.drain(for: limit)
        guard endsTransport else { return }
        let left = deadline.remaining(at: time.now) ?? .zero
        await client.transport.shutdown(left > .zero ? .drain(deadline: left) : .now)
    }
}
#endif
