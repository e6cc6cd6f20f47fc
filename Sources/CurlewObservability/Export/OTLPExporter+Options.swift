// SPDX-License-Identifier: MIT

public import CurlewHTTP

extension OTLPExporter {
    /// The settings of an exporter. The defaults are those of the batch processor of OpenTelemetry.
    public struct Options: Sendable {
        /// The fields of every request, such as the key of a collector. They are sent to the collector only. Default
        /// none.
        public var headers: HTTPHeaders
        /// The attributes of the process, beside `service.name`. Default none.
        public var resource: [TraceSpan.Attribute]
        /// The maximum number of spans that wait. Further spans are dropped and counted. Default 2,048.
        public var queueLimit: Int
        /// The maximum number of spans in a request. So many waiting spans are sent without further delay. Default 512.
        public var batchSize: Int
        /// The time that a span waits for others. Default 5 s.
        public var interval: Duration
        /// The time limit of one request. Default 10 s.
        public var timeout: Duration
        /// The number of times that a batch is sent, if the collector responds with 429, 502, 503 or 504, or the
        /// connection fails. Default 5.
        public var attempts: Int
        /// The maximum wait before a batch is sent again. A longer `Retry-After` is shortened to it. Default 60 s.
        public var longestWait: Duration
        /// Receives a notice of each loss. Called on the task of the exporter and on those that flush it or shut it
        /// down, possibly concurrently. Default none.
        public var onLoss: (@Sendable (Loss) -> Void)?

        /// Creates options. Omitted parameters have the defaults. Numbers below one count as one.
        public init(
            headers: HTTPHeaders = HTTPHeaders(), resource: [TraceSpan.Attribute] = [], queueLimit: Int = 2048,
            batchSize: Int = 512, interval: Duration = .seconds(5), timeout: Duration = .seconds(10),
            attempts: Int = 5, longestWait: Duration = .seconds(60), onLoss: (@Sendable (Loss) -> Void)? = nil
        ) {
            self.headers = headers
            self.resource = resource
            self.queueLimit = max(1, queueLimit)
            self.batchSize = max(1, batchSize)
            self.interval = interval
            self.timeout = timeout
            self.attempts = max(1, attempts)
            self.longestWait = longestWait
            self.onLoss = onLoss
        }
    }

    /// Data that the collector did not receive or did not accept.
    public struct Loss: Hashable, Sendable, CustomStringConvertible {
        /// The number of spans; zero for metrics.
        public let spans: Int
        /// The cause on one line, such as `status 400` or `the queue is full`. It contains no field of the request.
        public let cause: String

        /// The number and the cause.
        public var description: String { spans == 0 ? "metrics: \(cause)" : "\(spans) spans: \(cause)" }
    }

    /// The counts of an exporter since it was created.
    public struct Statistics: Hashable, Sendable {
        /// The number of spans that wait or are being sent.
        public var waiting = 0
        /// The number of spans that the collector accepted.
        public var accepted = 0
        /// The number of spans that the collector rejected in partial successes.
        public var rejected = 0
        /// The number of spans that were dropped, because the queue was full or the exporter was shut down.
        public var dropped = 0
        /// The number of spans whose requests failed for good.
        public var failed = 0
        /// The number of requests, including repeated ones and those of metrics.
        public var requests = 0
        /// The number of requests that repeated another one.
        public var retries = 0
    }
}
