// SPDX-License-Identifier: MIT

public import CurlewFoundation

extension HARDocument {
    /// One exchange: a request, and its response.
    public struct Entry: Codable, Hashable, Sendable {
        /// The name of the page to which the exchange belongs; nil if it belongs to none.
        package var pageref: String?
        /// The moment when the exchange began. Documents have it in whole milliseconds.
        public var startedDateTime: Date
        /// The duration of the exchange in milliseconds: the sum of its known `timings`, without `ssl`, which is a part
        /// of `connect`.
        public var time: Double
        /// The request.
        public var request: Request
        /// The response. For an exchange that failed, its status is 0.
        public var response: Response
        /// The use of a cache by a browser.
        package var cache: Cache
        /// The durations of the phases of the exchange.
        public var timings: Timings
        /// The address of the server, without its port.
        public var serverIPAddress: String?
        /// A text that identifies the connection. Exchanges with the same text used the same connection.
        public var connection: String?
        /// A remark.
        package var comment: String?
        /// The facts that Curlew adds, in the field `_curlew`; nil for a document of another program.
        public var facts: Facts?

        private enum CodingKeys: String, CodingKey {
            case pageref, startedDateTime, time, request, response, cache, timings, serverIPAddress, connection, comment
            case facts = "_curlew"
        }

        /// Creates an entry. If `time` is nil, it is the sum of the timings.
        package init(
            startedDateTime: Date, time: Double? = nil, request: Request, response: Response,
            timings: Timings = Timings(), cache: Cache = Cache(), pageref: String? = nil,
            serverIPAddress: String? = nil, connection: String? = nil, comment: String? = nil, facts: Facts? = nil
        ) {
            self.pageref = pageref
            self.startedDateTime = startedDateTime
            self.time = time ?? timings.total
            self.request = request
            self.response = response
            self.cache = cache
            self.timings = timings
            self.serverIPAddress = serverIPAddress
            self.connection = connection
            self.comment = comment
            self.facts = facts
        }

        /// Reads the value. Only `startedDateTime`, `request` and `response` are required.
        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            pageref = try values.decodeIfPresent(String.self, forKey: .pageref)
            let text = try values.decode(String.self, forKey: .startedDateTime)
            guard let date = HARTimestamp.date(text) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .startedDateTime, in: values,
                    debugDescription: "The text is not a date in ISO 8601 format, such as 2026-11-22T10:30:00.000Z.")
            }
            startedDateTime = date
            request = try values.decode(Request.self, forKey: .request)
            response = try values.decode(Response.self, forKey: .response)
            cache = try values.decodeIfPresent(Cache.self, forKey: .cache) ?? Cache()
            timings = try values.decodeIfPresent(Timings.self, forKey: .timings) ?? Timings()
            time = try values.decodeIfPresent(Double.self, forKey: .time) ?? timings.total
            serverIPAddress = try values.decodeIfPresent(String.self, forKey: .serverIPAddress)
            // Some programs write a number.
            connection =
                (try? values.decodeIfPresent(String.self, forKey: .connection))
                ?? (try? values.decodeIfPresent(Int64.self, forKey: .connection)).map { "\($0)" }
            comment = try values.decodeIfPresent(String.self, forKey: .comment)
            facts = try values.decodeIfPresent(Facts.self, forKey: .facts)
        }

        /// Writes the value. The date is in UTC, with milliseconds.
        public func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encodeIfPresent(pageref, forKey: .pageref)
            try values.encode(HARTimestamp.text(startedDateTime), forKey: .startedDateTime)
            try values.encode(time, forKey: .time)
            try values.encode(request, forKey: .request)
            try values.encode(response, forKey: .response)
            try values.encode(cache, forKey: .cache)
            try values.encode(timings, forKey: .timings)
            try values.encodeIfPresent(serverIPAddress, forKey: .serverIPAddress)
            try values.encodeIfPresent(connection, forKey: .connection)
            try values.encodeIfPresent(comment, forKey: .comment)
            try values.encodeIfPresent(facts, forKey: .facts)
        }
    }

    /// The use of a cache by a browser.
    package struct Cache: Codable, Hashable, Sendable {
        /// The state of the cached response before the request; nil if it is unknown.
        package var beforeRequest: State?
        /// The state of the cached response after the request; nil if it is unknown.
        package var afterRequest: State?
        /// A remark.
        package var comment: String?

        /// Creates a description. By default, nothing is known.
        package init(beforeRequest: State? = nil, afterRequest: State? = nil, comment: String? = nil) {
            self.beforeRequest = beforeRequest
            self.afterRequest = afterRequest
            self.comment = comment
        }

        /// The state of a cached response.
        package struct State: Codable, Hashable, Sendable {
            /// The moment when the response expires, as text.
            package var expires: String?
            /// The moment when the response was last used, as text.
            package var lastAccess: String
            /// The entity tag of the response.
            package var eTag: String
            /// The number of times that the response was used.
            package var hitCount: Int
            /// A remark.
            package var comment: String?

            /// Creates a state.
            package init(
                expires: String? = nil, lastAccess: String, eTag: String, hitCount: Int, comment: String? = nil
            ) {
                self.expires = expires
                self.lastAccess = lastAccess
                self.eTag = eTag
                self.hitCount = hitCount
                self.comment = comment
            }

            /// Reads the value. Missing texts are empty, and a missing number is 0.
            package init(from decoder: any Decoder) throws {
                let values = try decoder.container(keyedBy: CodingKeys.self)
                expires = try values.decodeIfPresent(String.self, forKey: .expires)
                lastAccess = try values.decodeIfPresent(String.self, forKey: .lastAccess) ?? ""
                eTag = try values.decodeIfPresent(String.self, forKey: .eTag) ?? ""
                hitCount = try values.decodeIfPresent(Int.self, forKey: .hitCount) ?? 0
                comment = try values.decodeIfPresent(String.self, forKey: .comment)
            }
        }
    }

    /// The durations of the phases of an exchange in milliseconds. `-1` means that a phase did not occur, or that its
    /// duration is unknown; nil means the same for the phases that may be missing.
    public struct Timings: Codable, Hashable, Sendable {
        /// The time in queues, before the exchange began.
        public var blocked: Double?
        /// The time to resolve the name of the host.
        public var dns: Double?
        /// The time to establish the connection, including the handshake of TLS.
        public var connect: Double?
        /// The time to send the request.
        public var send: Double
        /// The time from the end of the request to the first byte of the response.
        public var wait: Double
        /// The time from the first to the last byte of the response.
        public var receive: Double
        /// The time of the TLS handshake, which is also part of `connect`.
        public var ssl: Double?
        /// A remark.
        package var comment: String?

        /// Creates durations. By default, all of them are unknown.
        package init(
            blocked: Double? = nil, dns: Double? = nil, connect: Double? = nil, send: Double = -1, wait: Double = -1,
            receive: Double = -1, ssl: Double? = nil, comment: String? = nil
        ) {
            self.blocked = blocked
            self.dns = dns
            self.connect = connect
            self.send = send
            self.wait = wait
            self.receive = receive
            self.ssl = ssl
            self.comment = comment
        }

        /// Reads the value. Missing durations are unknown.
        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            blocked = try values.decodeIfPresent(Double.self, forKey: .blocked)
            dns = try values.decodeIfPresent(Double.self, forKey: .dns)
            connect = try values.decodeIfPresent(Double.self, forKey: .connect)
            send = try values.decodeIfPresent(Double.self, forKey: .send) ?? -1
            wait = try values.decodeIfPresent(Double.self, forKey: .wait) ?? -1
            receive = try values.decodeIfPresent(Double.self, forKey: .receive) ?? -1
            ssl = try values.decodeIfPresent(Double.self, forKey: .ssl)
            comment = try values.decodeIfPresent(String.self, forKey: .comment)
        }

        /// The sum of the known durations, without `ssl`, which is part of `connect`.
        public var total: Double {
            [blocked, dns, connect, send, wait, receive].reduce(0) { $0 + max(0, $1 ?? 0) }
        }
    }
}
