// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// A real HTTP/1.1 server on a loopback port, for tests and demonstrations.
///
///     let server = try MockServer()
///     server.on(.get, "/users/:id") { request in .json(User(id: request.parameters["id"])) }
///     server.enqueue(.status(.serviceUnavailable))           // the next request, whatever it is
///     // ... let a client talk to server.url ...
///     server.requests[0].headers[.accept]
///
/// Each request is recorded when it has been read completely. The response is the first enqueued one, otherwise that of
/// the most specific route, otherwise a 404 that names the method and the path, or a 405 if the path has routes for
/// other methods. The server sends 100 when the client expects it. Malformed requests receive a 400 or a similar status
/// and are not recorded.
///
/// The server runs one thread for each connection and one that listens. All methods may be called from any thread. The
/// server stops with ``stop()`` or when the last reference to it is released.
public final class MockServer: Sendable {
    /// Returns the response to a request. It runs on the connection's thread; blocking there delays only this
    /// connection. An error becomes a 500 that describes it.
    public typealias Handler = @Sendable (RecordedRequest) throws -> MockResponse

    /// The loopback address to listen on.
    public enum AddressFamily: Hashable, Sendable {
        /// 127.0.0.1.
        case ipv4
        /// ::1.
        case ipv6
    }

    /// The address and the limits of a server.
    public struct Configuration: Sendable {
        /// The address to listen on: IPv4 by default.
        public var address = AddressFamily.ipv4
        /// The port; 0, the default, lets the system choose a free one.
        public var port = 0
        /// The maximum number of concurrent connections, each with a thread: 512 by default. Further ones wait to be
        /// accepted.
        public var maximumConnections = 512
        /// The maximum content of one request: 64 MiB by default. Larger content receives a 413.
        public var maximumBodyBytes = 64 * 1024 * 1024
        /// The maximum number of requests in ``MockServer/requests``: 10 000 by default. Later requests are only
        /// counted.
        public var maximumRecordedRequests = 10_000
        /// How long a connection may be idle between and within requests: 60 seconds by default.
        public var idleTimeout = Duration.seconds(60)

        /// Creates the default configuration.
        public init() {}
    }

    let core: MockServerCore

    /// Creates a server on a free port. Throws if the system has no socket or thread left.
    public convenience init() throws(MockServerError) {
        try self.init(Configuration())
    }

    /// Creates a server. Throws if the port is in use, or if the system has no socket or thread left.
    public init(_ configuration: Configuration) throws(MockServerError) {
        core = try MockServerCore(configuration)
        try core.start()
    }

    deinit {
        core.stop()
    }

    /// The port that the server listens on.
    public var port: Int { core.origin.port }

    /// "http://127.0.0.1:PORT", without a path.
    public var url: String { core.origin.description }

    /// The scheme, host and port.
    public var origin: Origin { core.origin }

    /// Adds a route for a path, with a method or, with `nil`, any method.
    ///
    /// The path is a ``RoutePattern``: literal segments, parameters (`:id`, one segment) and at the end `*name` for the
    /// rest. The most specific route is used; of equally specific ones, the last added. HEAD uses the GET route if it
    /// has none.
    public func on(_ method: HTTPMethod?, _ path: String, _ handler: @escaping Handler) {
        core.add(RoutePattern(method, path), handler)
    }

    /// Adds a route that returns the same response each time, for a method or, with `nil`, any method.
    public func on(_ method: HTTPMethod?, _ path: String, respond response: MockResponse) {
        on(method, path) { _ in response }
    }

    /// Enqueues responses for the next requests in order. They take precedence over routes.
    public func enqueue(_ responses: MockResponse...) {
        core.enqueue(responses)
    }

    /// The recorded requests, in the order in which they were completely read.
    public var requests: [RecordedRequest] { core.requests }

    /// The number of completely read requests, recorded or not.
    public var requestCount: Int { core.requestCount }

    /// The number of accepted connections.
    public var connectionCount: Int { core.connectionCount }

    /// The number of connections that are open, and the largest such number so far.
    package var openConnections: Int { core.openConnections }
    package var mostOpenConnections: Int { core.mostOpenConnections }

    /// Returns the response to a request that did not arrive over a connection.
    package func answer(_ request: RecordedRequest) -> MockResponse { core.answer(request) }

    /// The number of response bytes that the system has accepted for sending. It stops growing when a client stops
    /// reading.
    public var sentBytes: Int { core.sentBytes }

    /// Waits until at least this number of requests has been read, without polling, and returns the requests so far.
    ///
    /// Throws ``MockServerError`` after the timeout (5 seconds by default) and when the server stops, and
    /// `CancellationError` when the task is cancelled.
    @discardableResult
    public func waitForRequests(count: Int, timeout: Duration = .seconds(5)) async throws -> [RecordedRequest] {
        try await core.waitForRequests(count: count, timeout: timeout)
        return requests
    }

    /// Closes every connection and the port, and waits until the threads have ended. May be called more than once.
    ///
    /// Waits at most 10 seconds. A call from a handler does not wait, because its own thread would have to end first.
    public func stop() {
        core.stop()
    }
}

extension MockServer: CustomStringConvertible {
    /// The URL with the number of requests.
    public var description: String { "MockServer(\(url), requests: \(requestCount))" }
}
