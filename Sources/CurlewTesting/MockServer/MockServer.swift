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
/// Each request is recorded when it has been read completely, then answered by the first enqueued response, otherwise
/// by the most specific route, otherwise by a 404 that names the method and the path, or a 405 if the path has routes
/// for other methods. Content is asked for with 100 when the client expects it. Requests that cannot be read are
/// answered by 400 and the like and are not recorded.
///
/// One thread for each connection, and one that listens. All methods may be called from any thread. The server stops
/// by ``stop()`` or when the last reference to it goes.
public final class MockServer: Sendable {
    /// Answers a request, on the connection's thread; blocking there holds up this connection only. An error becomes
    /// a 500 that describes it.
    public typealias Handler = @Sendable (RecordedRequest) throws -> MockResponse

    /// The loopback address to listen on.
    public enum AddressFamily: Hashable, Sendable {
        /// 127.0.0.1.
        case ipv4
        /// ::1.
        case ipv6
    }

    /// What bounds a server.
    public struct Configuration: Sendable {
        /// The address to listen on: IPv4 by default.
        public var address = AddressFamily.ipv4
        /// The port; 0, the default, lets the system choose a free one.
        public var port = 0
        /// Connections, and threads, at a time: 512 by default. More wait to be accepted.
        public var maximumConnections = 512
        /// Content of one request: 64 MiB by default. More is answered by 413.
        public var maximumBodyBytes = 64 * 1024 * 1024
        /// Requests kept in ``MockServer/requests``: the first 10 000 by default. The others are only counted.
        public var maximumRecordedRequests = 10_000
        /// How long a connection may be silent between and within requests: 60 seconds by default.
        public var idleTimeout = Duration.seconds(60)

        /// The defaults.
        public init() {}
    }

    let core: MockServerCore

    /// Starts listening on a free port. Throws if the system has no socket or thread for it.
    public convenience init() throws(MockServerError) {
        try self.init(Configuration())
    }

    /// Starts listening. Throws if the port is taken, or the system has no socket or thread left.
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

    /// Scheme, host and port.
    public var origin: Origin { core.origin }

    /// Answers requests of a method, or of any with `nil`, whose path matches.
    ///
    /// The path is a ``RoutePattern``: literal segments, parameters (`:id`, one segment) and at the end `*name` for the
    /// rest. The most specific route wins, among equals the last added. HEAD is answered by GET's route if it has none.
    public func on(_ method: HTTPMethod?, _ path: String, _ handler: @escaping Handler) {
        core.add(RoutePattern(method, path), handler)
    }

    /// Answers requests of a method, or of any with `nil`, whose path matches, by the same response each time.
    public func on(_ method: HTTPMethod?, _ path: String, respond response: MockResponse) {
        on(method, path) { _ in response }
    }

    /// Adds responses that answer the next requests in turn, before any route is asked.
    public func enqueue(_ responses: MockResponse...) {
        core.enqueue(responses)
    }

    /// The requests so far, in the order in which they were completely read.
    public var requests: [RecordedRequest] { core.requests }

    /// How many requests were completely read, recorded or not.
    public var requestCount: Int { core.requestCount }

    /// How many connections were accepted so far.
    public var connectionCount: Int { core.connectionCount }

    /// How many bytes of responses the system has taken so far: when a client stops reading, this stands still.
    public var sentBytes: Int { core.sentBytes }

    /// Waits until so many requests have been read, without polling, and gives the requests so far.
    ///
    /// Throws ``MockServerError`` after the timeout (5 seconds by default) and when the server stops, and
    /// `CancellationError` when the task is cancelled.
    @discardableResult
    public func waitForRequests(count: Int, timeout: Duration = .seconds(5)) async throws -> [RecordedRequest] {
        try await core.waitForRequests(count: count, timeout: timeout)
        return requests
    }

    /// Closes every connection and the port, and waits until the threads have ended. May be called again.
    ///
    /// Waits at most 10 seconds, and not at all from a handler, whose thread it would be waiting for.
    public func stop() {
        core.stop()
    }
}

extension MockServer: CustomStringConvertible {
    /// The URL with the number of requests.
    public var description: String { "MockServer(\(url), requests: \(requestCount))" }
}
