// SPDX-License-Identifier: MIT

#if os(Linux)
extension CurlTransport {
    /// The options that only this transport has.
    public struct Options: Hashable, Sendable {
        /// The number of event loop threads, each started on demand. Default 2, at most 64.
        ///
        /// Every origin is assigned to one event loop, so calls to one origin share connections regardless of the
        /// number. Without TLS, where no exchanges share a connection, the other event loops serve an origin too from
        /// sixteen concurrent exchanges on, and a waiting request receives the first slot that becomes free on any of
        /// them. More than two event loops help with several origins, mostly over TLS, when two use a whole core each.
        /// The pool's `perHost`, `total` and `idle` are divided among the event loops. If `total` is set, there is one
        /// event loop per sixteen connections, at least one.
        public var eventLoops: Int { didSet { eventLoops = Self.bounded(eventLoops) } }
        /// The number of event loops that may serve one origin over TLS, from thirty-two exchanges on. Default 1, at
        /// most 64.
        ///
        /// Over HTTP/2 each of them opens its own connection, although RFC 9113 §9.1 asks for one per host. More than
        /// one helps when calls to a single host keep a thread busy all the time. They divide
        /// `TransportConfiguration.Pool.perHost` among them.
        public var eventLoopsPerSecureOrigin: Int {
            didSet { eventLoopsPerSecureOrigin = Self.bounded(eventLoopsPerSecureOrigin) }
        }

        /// Creates options. Omitted parameters have the defaults; a number outside its range is replaced by the nearest
        /// that is inside.
        public init(eventLoops: Int = 2, eventLoopsPerSecureOrigin: Int = 1) {
            self.eventLoops = Self.bounded(eventLoops)
            self.eventLoopsPerSecureOrigin = Self.bounded(eventLoopsPerSecureOrigin)
        }

        private static func bounded(_ count: Int) -> Int { min(64, max(1, count)) }
    }
}
#endif
