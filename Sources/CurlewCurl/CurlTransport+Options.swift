// SPDX-License-Identifier: MIT

#if os(Linux)
extension CurlTransport {
    /// The options that only `CurlTransport` has: the numbers of its event loops.
    public struct Options: Hashable, Sendable {
        /// The number of event loops. Each is a thread that starts on demand. Default 2, at least 1 and at most 64.
        ///
        /// At most `eventLoopsPerOrigin` of them, by default one, serve an origin, so that its calls share connections.
        /// Raise the number for calls to several origins, mostly over TLS, that keep one core for each event loop busy.
        ///
        /// The event loops divide the pool's `idle` among them, and those that serve an origin divide `perHost`. If the
        /// pool's `total` is set, there is only one event loop. One more performs WebSocket connections, and with
        /// libcurl before 8.1 another one performs uploads of unknown length over TLS.
        public var eventLoops: Int { didSet { eventLoops = Self.bounded(eventLoops) } }
        /// The maximum number of event loops that serve one origin. Default 1, at least 1 and at most 64. A number
        /// above `eventLoops` or `TransportConfiguration.Pool.perHost` acts like that limit.
        ///
        /// Raise it if the calls to one host keep a thread busy all the time. The origin's first event loop takes every
        /// exchange while it performs fewer than 32 and has a free connection. Then the others take exchanges, too. The
        /// event loops divide `perHost` among them. Over HTTP/2 each opens its own connection, although RFC 9113 §9.1
        /// recommends one per host.
        public var eventLoopsPerOrigin: Int { didSet { eventLoopsPerOrigin = Self.bounded(eventLoopsPerOrigin) } }

        /// Creates options. Omitted parameters have the defaults. A number outside of 1 to 64 is replaced by the
        /// nearest number in that range.
        public init(eventLoops: Int = 2, eventLoopsPerOrigin: Int = 1) {
            self.eventLoops = Self.bounded(eventLoops)
            self.eventLoopsPerOrigin = Self.bounded(eventLoopsPerOrigin)
        }

        private static func bounded(_ count: Int) -> Int { min(64, max(1, count)) }
    }
}
#endif
