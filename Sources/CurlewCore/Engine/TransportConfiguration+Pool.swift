// SPDX-License-Identifier: MIT

extension TransportConfiguration {
    /// The limits of a transport's connection pool: size, lifetime and sharing. URLSession supports only `perHost`.
    ///
    /// Times are rounded up to whole seconds, at least 1 s. Connections that switch to another protocol, such as
    /// WebSocket, do not count. `CurlTransport` with libcurl before 8.1 sends uploads of unknown length over TLS on
    /// separate connections, and applies all limits to these separately.
    public struct Pool: Hashable, Sendable {
        /// The maximum number of connections to one origin (for http through an HTTP proxy, to the proxy), at least 1.
        /// Further exchanges wait until their deadline, in order of arrival within each `RequestOptions.Priority`.
        /// Where HTTP/2 shares connections, 100 exchanges count as one connection. Default 64.
        public var perHost: Int
        /// The maximum number of exchanges that wait for a connection slot to one origin, at least 0. Further ones fail
        /// with `.refused(by: .overload)`. Default 10,000.
        public var waitingPerHost: Int
        /// The maximum number of connections to all origins, at least 1. Further exchanges wait as for `perHost`.
        /// Default nil: only `perHost` limits the number.
        public var total: Int?
        /// The maximum number of idle connections that the transport keeps for reuse, at least 1. Default 256.
        public var idle: Int
        /// The time after which an idle connection is not reused. Default 60 s.
        public var idleLifetime: Duration
        /// The age after which a connection is not reused, so that new addresses take effect. Default nil: no limit.
        public var lifetime: Duration?
        /// Whether further requests wait for a connection that is being established and may use HTTP/2, instead of
        /// opening their own. Default true.
        public var waitsForMultiplexing: Bool
        /// The idle time after which the system sends keep-alive probes, and the interval between probes; at most
        /// 32,767 s. Nil disables the probes. Default 60 s.
        public var keepAlive: Duration?

        /// Creates a pool configuration. Omitted parameters have the defaults.
        public init(
            perHost: Int = 64, waitingPerHost: Int = 10_000, total: Int? = nil, idle: Int = 256,
            idleLifetime: Duration = .seconds(60), lifetime: Duration? = nil, waitsForMultiplexing: Bool = true,
            keepAlive: Duration? = .seconds(60)
        ) {
            self.perHost = perHost
            self.waitingPerHost = waitingPerHost
            self.total = total
            self.idle = idle
            self.idleLifetime = idleLifetime
            self.lifetime = lifetime
            self.waitsForMultiplexing = waitsForMultiplexing
            self.keepAlive = keepAlive
        }

        var problems: [String] {
            let values = [
                ("perHost", perHost, 1), ("waitingPerHost", waitingPerHost, 0), ("total", total ?? 1, 1),
                ("idle", idle, 1),
            ]
            return values.filter { $1 < $2 }.map { name, value, minimum in
                "TransportConfiguration.Pool.\(name) is \(value): "
                    + (minimum == 0 ? "it cannot be negative." : "at least \(minimum) is needed.")
            }
        }
    }
}

extension TransportConfiguration.Pool {
    /// The current load of a transport, as numbers for a dashboard or a log line. `URLSessionTransport` counts only
    /// `active` and `completed`; its other numbers are zero.
    ///
    /// The numbers of one event loop belong to the same moment, usually less than a millisecond ago. With several event
    /// loops, the sums may be off by the exchanges that start or end while they are read. Reading takes one lock per
    /// event loop.
    public struct Snapshot: Hashable, Sendable {
        /// The number of active exchanges, from their start until the last byte has arrived, without those in
        /// `waiting`.
        public var active = 0
        /// The number of active exchanges that are paused until the reader of the body takes the buffered bytes, or
        /// until the producer of the upload supplies more.
        public var paused = 0
        /// The number of exchanges that wait for a connection slot to their origin.
        public var waiting = 0
        /// The number of open connections: in use, idle, or being established.
        public var connections = 0
        /// The number of connections opened since the transport was created, including failed attempts.
        public var connectionsOpened = 0
        /// The number of exchanges that have ended since the transport was created, whatever their outcome.
        public var completed = 0
        /// The number of completed exchanges that used an existing connection.
        public var reused = 0
        /// The number of libcurl handles, in use and kept for reuse.
        public var handles = 0

        package init() {}
    }
}

extension TransportConfiguration.Pool.Snapshot: CustomStringConvertible {
    /// All numbers on one line.
    public var description: String {
        "\(active) active, \(paused) paused, \(waiting) waiting; \(connections) connections, "
            + "\(connectionsOpened) opened; \(completed) completed, \(reused) on a reused connection; \(handles) handles"
    }
}
