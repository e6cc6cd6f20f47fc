// SPDX-License-Identifier: MIT

import CurlewCore
public import CurlewHTTP

/// A real HTTP/1.1 server on a loopback port, for tests and demonstrations.
///
///     let server = try MockServer()
///     server.on(.get, "/users/:id") { request in .json(User(id: request.parameters["id"])) }
///     server.enqueue(.status(.serviceUnavailable))           // the next request, whatever it is
///     // ... let a client talk to server.url ...
///     server.requests[0].headers[.accept]
///
/// The server records each request after it has read the request completely, and responds with the first of these that
/// exists:
///
/// - the first enqueued response
/// - the response from the most specific route
/// - a 405, if the path has routes only for other methods
/// - a 404 that names the method and the path, and the nearest route with the first difference from it
///
/// The 404 and the 405 consist of problem details (RFC 9457), or of text if the request has an `Accept` that does not
/// name JSON. Without `Accept`, they omit the nearest route. ``unmatchedRequests`` contains the complete reports.
///
/// The server sends a 100 response when the client expects it. It responds to malformed requests with a 400 or a
/// similar status, and does not record them.
///
/// Event streams (`MockResponse.events`) and WebSocket connections (`MockResponse.webSocket`) are written by scripts,
/// which run in tasks of their own.
///
/// The server runs one thread that listens, and one for each connection. All methods may be called from any thread. The
/// server stops with ``stop()`` or when the last reference to it is released.
public final class MockServer: Sendable {
    /// A closure that returns the response to a request. It runs on the thread of the connection, so blocking there
    /// delays only this connection. If it throws, the server sends a 500 that describes the error.
    public typealias Handler = @Sendable (RecordedRequest) throws -> MockResponse

    /// The address family of the loopback address that a server listens on.
    public enum AddressFamily: Hashable, Sendable {
        /// The IPv4 address 127.0.0.1.
        case ipv4
        /// The IPv6 address ::1.
        case ipv6
    }

    /// The address and the limits of a server.
    public struct Configuration: Sendable {
        /// The family of the address that the server listens on: IPv4 by default.
        public var address = AddressFamily.ipv4
        /// The port that the server listens on. With 0, the default, the system chooses a free port.
        public var port = 0
        /// The maximum number of concurrent connections, each with a thread: 512 by default. Further connections wait
        /// until the server accepts them.
        package var maximumConnections = 512
        /// The maximum number of content bytes of one request: 64 MiB by default. The server responds to larger
        /// requests with a 413.
        public var maximumBodyBytes = 64 * 1024 * 1024
        /// The maximum number of requests in ``MockServer/requests``: 10,000 by default. Later requests only increase
        /// ``MockServer/requestCount``.
        public var maximumRecordedRequests = 10_000
        /// The time after which the server closes a connection that receives no bytes, between and within requests: 60
        /// seconds by default.
        package var idleTimeout = Duration.seconds(60)

        /// Creates the default configuration.
        public init() {}
    }

    let core: MockServerCore

    /// Creates a server with this configuration and starts it, by default on a free port of 127.0.0.1. Throws a
    /// ``MockError`` if the port is in use, or if the system has no free socket or thread.
    public init(_ configuration: Configuration = Configuration()) throws(MockError) {
        core = try MockServerCore(configuration)
        try core.start()
    }

    deinit {
        core.stop()
    }

    /// The port that the server listens on.
    public var port: Int { core.origin.port }

    /// The URL of the server without a path, such as "http://127.0.0.1:8080".
    public var url: String { core.origin.description }

    /// The origin of the server: scheme, host and port.
    public var origin: Origin { core.origin }

    /// Adds a route for a path, for requests with this method or, with `nil`, any method.
    ///
    /// The path is a ``RoutePattern`` of literal segments, parameters (`:id`, one segment), and optionally `*name` at
    /// the end for the rest. The most specific matching route is used; if several routes are equally specific, the one
    /// that was added last. A HEAD request uses the route for GET if there is none for HEAD.
    public func on(_ method: HTTPMethod?, _ path: String, _ handler: @escaping Handler) {
        core.add(RoutePattern(method, path), handler)
    }

    /// Adds a route that returns the same response each time, for requests with this method or, with `nil`, any method.
    public func on(_ method: HTTPMethod?, _ path: String, respond response: MockResponse) {
        on(method, path) { _ in response }
    }

    /// Enqueues responses for the next requests, one for each, in order. Enqueued responses precede routes.
    public func enqueue(_ responses: MockResponse...) {
        core.state.withLock { $0.queue += responses }
    }

    /// The recorded requests, in the order in which the server finished reading them.
    public var requests: [RecordedRequest] { core.state.withLock { $0.requests } }

    /// The reports about requests without a route: the last 100, oldest first.
    public var unmatchedRequests: [RequestMismatch] { core.state.withLock { $0.unmatched } }

    /// The number of requests that the server has read, recorded or not.
    public var requestCount: Int { core.state.withLock { $0.requestCount } }

    /// The number of connections that the server has accepted so far.
    public var connectionCount: Int { core.state.withLock { $0.connectionCount } }

    /// The number of enqueued responses that no connection has taken.
    package var queuedResponses: Int { core.state.withLock { $0.queue.count } }
    package var openConnections: Int { core.state.withLock { $0.sockets.count } }
    /// The largest number of connections that the clients had open concurrently.
    package var peakOpenConnections: Int { core.state.withLock { $0.peakOpenConnections } }

    /// Records a request that did not arrive over a connection, and returns the response to it.
    package func response(to request: RecordedRequest) -> MockResponse { core.response(to: request) }

    /// The number of response bytes that the system has accepted for sending. This number stops growing when a client
    /// stops reading.
    public var sentBytes: Int { core.state.withLock { $0.sentBytes } }

    /// Waits until the server has read at least `count` requests, without polling, and returns the recorded requests.
    ///
    /// Throws ``MockError`` after `timeout` (5 seconds of real time by default) or when the server stops, and
    /// `CancellationError` as soon as the task is cancelled.
    @discardableResult
    public func waitForRequests(count: Int, timeout: Duration = .seconds(5)) async throws -> [RecordedRequest] {
        try await core.waitForRequests(count: count, timeout: timeout)
        return requests
    }

    /// Closes every connection and the port, and waits up to 10 seconds until the threads of the server have ended.
    ///
    /// May be called again. Does not wait if a handler calls it, because the thread of that handler would have to end
    /// first.
    public func stop() {
        core.stop()
    }
}

extension MockServer: CustomStringConvertible {
    /// The URL of the server and the number of requests.
    public var description: String { "MockServer(\(url), requests: \(requestCount))" }
}

/// An error of a test double: a ``MockServer`` could not start, or a wait failed on a ``MockServer``, a
/// ``MockTransport`` or a ``ManualClock``.
public struct MockError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A description of the failure, for the test's output. After a wait, with the state after the timeout.
    public let message: String

    init(_ message: String) { self.message = message }

    /// The text of ``message``.
    public var description: String { message }
}
