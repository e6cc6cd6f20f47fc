// SPDX-License-Identifier: MIT

extension EventStream {
    /// The settings of an event stream. Every limit has a default.
    public struct Options: Sendable {
        /// Whether the stream connects again when its connection ends or fails. Nil means true for GET and HEAD and
        /// false for other methods, because a repeated POST repeats its effect. Default nil.
        public var reconnects: Bool?
        /// The last event ID of an earlier stream, which the first request sends. Default empty, which sends none.
        public var lastEventID = ""
        /// The reconnection time, until the server sends another one in a `retry` field. Default 3 s.
        public var retryDelay: Duration = .seconds(3)
        /// The maximum of the random wait after repeated failures. It does not limit the wait that the server requests
        /// with `retry` or `Retry-After`. Default 60 s.
        public var maximumDelay: Duration = .seconds(60)
        /// The number of consecutive failures after which the stream throws the last error. A connection fails if it
        /// delivers no event and, after its first 10 s, no byte. Nil sets no limit. Default nil, as in browsers.
        public var maximumFailures: Int?
        /// The time without a byte from the server after which the connection counts as lost, on the client's clock.
        /// The time in which the caller does not read does not count. Nil sets no limit. Default 5 minutes.
        public var readTimeout: Duration? = .seconds(300)
        /// The maximum size of a line in bytes. Default 8 MiB.
        public var maximumLineSize = 8 << 20
        /// The maximum size of the data of an event in bytes. Default 16 MiB.
        public var maximumEventSize = 16 << 20
        /// Whether the stream contains the comments of the server. Default false.
        public var includesComments = false
        /// The data that marks the end of the stream, such as `[DONE]`. The stream ends at this event and does not
        /// contain it. A stream that does not reconnect throws if it ends without it. Default nil.
        public var endMarker: String?

        /// Creates the default options.
        public init() {}
    }
}
