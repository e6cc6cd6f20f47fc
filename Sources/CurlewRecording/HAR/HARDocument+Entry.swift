// SPDX-License-Identifier: MIT

public import CurlewFoundation

extension HARDocument {
    /// One exchange: a request, and its response.
    public struct Entry: Codable, Hashable, Sendable {
        /// The moment when the exchange began, before its wait in queues. It is written in whole milliseconds.
        public var startedDateTime: Date
        /// The duration of the exchange in milliseconds. In entries of this package, and if a document has no duration,
        /// it is `timings.total`.
        public var time: Double
        /// The request.
        public var request: Request
        /// The response; its status is 0 if no response arrived.
        public var response: Response
        /// The durations of the phases of the exchange.
        public var timings: Timings
        /// The IP address to which the connection was made, without its port; nil if it is unknown.
        public var serverIPAddress: String?
        /// The identifier of the connection, the same for all exchanges on it; nil if it is unknown.
        public var connection: String?
        package var comment: String?
        /// The facts that Curlew adds, in the field `_curlew`; nil in cassettes and in documents of other programs.
        public var facts: Facts?

        private enum CodingKeys: String, CodingKey {
            case startedDateTime, time, request, response, cache, timings, serverIPAddress, connection, comment
            case facts = "_curlew"
        }

        /// Creates an entry. If `time` is nil, the entry has the time `timings.total`.
        package init(
            startedDateTime: Date, time: Double? = nil, request: Request, response: Response,
            timings: Timings = Timings(), serverIPAddress: String? = nil, connection: String? = nil,
            comment: String? = nil, facts: Facts? = nil
        ) {
            self.startedDateTime = startedDateTime
            self.time = time ?? timings.total
            self.request = request
            self.response = response
            self.timings = timings
            self.serverIPAddress = serverIPAddress
            self.connection = connection
            self.comment = comment
            self.facts = facts
        }

        /// Reads the value. Only `startedDateTime`, `request` and `response` are required.
        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            let text = try values.decode(String.self, forKey: .startedDateTime)
            guard let date = HARTimestamp.date(text) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .startedDateTime, in: values,
                    debugDescription: "The text is not a date in ISO 8601 format, such as 2026-11-22T10:30:00.000Z.")
            }
            startedDateTime = date
            request = try values.decode(Request.self, forKey: .request)
            response = try values.decode(Response.self, forKey: .response)
            timings = try values.value(.timings, or: Timings())
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
            try values.encode(HARTimestamp.text(startedDateTime), forKey: .startedDateTime)
            try values.encode(time, forKey: .time)
            try values.encode(request, forKey: .request)
            try values.encode(response, forKey: .response)
            // The format requires the cache of a browser.
            try values.encode([String: String](), forKey: .cache)
            try values.encode(timings, forKey: .timings)
            try values.encodeIfPresent(serverIPAddress, forKey: .serverIPAddress)
            try values.encodeIfPresent(connection, forKey: .connection)
            try values.encodeIfPresent(comment, forKey: .comment)
            try values.encodeIfPresent(facts, forKey: .facts)
        }
    }

    /// The durations of the phases of an exchange in milliseconds. `-1` means that a phase did not occur, or that its
    /// duration is unknown; nil means the same for the phases that may be missing.
    public struct Timings: Codable, Hashable, Sendable {
        /// The time that the request waited in queues: of rate limits, concurrency limits and the transport.
        public var blocked: Double?
        /// The time to resolve the name of the host.
        public var dns: Double?
        /// The time to establish the connection, including the TLS handshake.
        public var connect: Double?
        /// The time to send the request. In entries of this package, `send` is 0, and `wait` contains this time.
        public var send: Double
        /// The time from the end of the request to the first byte of the response.
        public var wait: Double
        /// The time from the first to the last byte of the response.
        public var receive: Double
        /// The time of the TLS handshake, which is also part of `connect`.
        public var ssl: Double?

        /// Creates durations. By default, all of them are unknown.
        package init(
            blocked: Double? = nil, dns: Double? = nil, connect: Double? = nil, send: Double = -1, wait: Double = -1,
            receive: Double = -1, ssl: Double? = nil
        ) {
            self.blocked = blocked
            self.dns = dns
            self.connect = connect
            self.send = send
            self.wait = wait
            self.receive = receive
            self.ssl = ssl
        }

        /// Reads the value. Missing durations are unknown.
        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            blocked = try values.decodeIfPresent(Double.self, forKey: .blocked)
            dns = try values.decodeIfPresent(Double.self, forKey: .dns)
            connect = try values.decodeIfPresent(Double.self, forKey: .connect)
            send = try values.value(.send, or: -1)
            wait = try values.value(.wait, or: -1)
            receive = try values.value(.receive, or: -1)
            ssl = try values.decodeIfPresent(Double.self, forKey: .ssl)
        }

        /// The sum of the known durations, without `ssl`, which is part of `connect`.
        public var total: Double {
            [blocked, dns, connect, send, wait, receive].reduce(0) { $0 + max(0, $1 ?? 0) }
        }
    }
}
