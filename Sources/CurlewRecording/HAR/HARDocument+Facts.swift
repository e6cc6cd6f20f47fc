// SPDX-License-Identifier: MIT

extension HARDocument {
    /// The facts about an exchange that the format has no field for. They are in the field `_curlew` of an entry.
    public struct Facts: Codable, Hashable, Sendable {
        /// The number of the call. Entries with the same number belong to one call.
        public var call: UInt64
        /// The name of the route or endpoint; nil if the call had none.
        public var route: String?
        /// The number of the attempt, counted from one; 0 if the call sent no request.
        public var attempt = 1
        /// The number of redirects before the request.
        public var hop = 0
        /// The number of the request in its call, counted from one; 0 if the call sent no request, because the call
        /// failed earlier, or a cache or another call provided the response.
        public var request = 1
        /// The time from the start of the call to the start of the exchange, in milliseconds.
        public var start = 0.0
        /// The duration of the exchange and its wait in queues, in milliseconds; nil if it was not measured.
        public var total: Double?
        /// The duration of the call in milliseconds; nil if the call had not ended.
        public var callTime: Double?
        /// The outcome of the call in one line: the status, with the source of the response if that is not the server,
        /// or the error. Nil if the call had not ended.
        public var outcome: String?
        /// Whether the call failed; nil if the call had not ended.
        public var failed: Bool?
        /// The number of bytes of the request head and body, as sent; nil if it is unknown.
        public var bytesSent: Int64?
        /// The number of bytes of the response head and body, as received; nil if it is unknown.
        public var bytesReceived: Int64?
        /// Whether an existing connection was used; nil if it is unknown.
        public var reused: Bool?
        /// The local address and port; nil if they are unknown.
        public var localAddress: String?
        /// The version and cipher suite of TLS, in one line; nil without TLS, or if they are unknown.
        public var tls: String?
        package var interim: [Interim]?
        /// The trailer fields of the response, in order.
        package var trailers: [NameValue]?
        /// The decisions from this request to the next one, in order; nil if there are none. Decisions before the first
        /// request belong to the first request.
        public var decisions: [Decision]?
    }

    /// A decision of the client, such as a retry, a redirect or the use of a cached response.
    public struct Decision: Codable, Hashable, Sendable {
        /// The time from the start of the call, in milliseconds.
        public var time: Double
        /// The kind: `attempt`, `joined`, `warning`, or an `ExchangeEvent.Feature.name` such as `cache.fresh`.
        public var name: String
        /// The decision and its reason, in one line.
        public var text: String
    }

    /// An interim response (1xx).
    package struct Interim: Codable, Hashable, Sendable {
        /// The time from the start of the call, in milliseconds.
        package var time: Double
        package var status: Int
        package var headers: [NameValue]

        package init(time: Double, status: Int, headers: [NameValue] = []) {
            self.time = time
            self.status = status
            self.headers = headers
        }
    }
}
