// SPDX-License-Identifier: MIT

public import CurlewFoundation

extension MetricsRegistry {
    /// The metrics of a registry at one moment.
    ///
    /// | metric | kind | attributes |
    /// |---|---|---|
    /// | `http.client.request.duration` | histogram, s | of the target, status, error, `network.protocol.version` |
    /// | `curlew.client.call.duration` | histogram, s | of the target, status, error |
    /// | `curlew.client.call.requests` | histogram | of the target |
    /// | `curlew.client.active_calls` | up-down counter | none |
    /// | `curlew.client.request.phase.duration` | histogram, s | of the target, `curlew.phase` |
    /// | `curlew.client.request.sent`, `.received` | counter, bytes | of the target |
    /// | `curlew.client.response.body.size` | histogram, bytes | of the target |
    /// | `curlew.client.connections.opened`, `.reused` | counter | of the target |
    /// | `curlew.client.tls.requests` | counter | of the target, `tls.protocol.version` |
    /// | `curlew.client.events` | counter | `curlew.event`, `curlew.route` |
    /// | `curlew.client.retries` | counter | `curlew.cause`, `curlew.route` |
    /// | `curlew.client.lost_events` | counter | none |
    ///
    /// The attributes of the target are `curlew.route`, `http.request.method`, `server.address`, `server.port` and
    /// `url.scheme`. The status is `http.response.status_code`, the error is `error.type`: for a response, its status
    /// from 400 on; otherwise the name of the reason (`MetricsRegistry.name(of:)`). Methods other than those of RFC
    /// 9110, PATCH and QUERY are `_OTHER`. Points beyond the limit of the registry have `curlew.overflow`. Only
    /// `http.client.request.duration` is a metric of the stable HTTP conventions of OpenTelemetry.
    public struct Snapshot: Hashable, Sendable {
        /// The date on which the registry was created. All counts begin there.
        public let start: Date
        /// The date of the snapshot.
        public let time: Date
        /// The metrics, in the order of the table above. Metrics without values are included, without points.
        public let metrics: [Metric]
    }

    /// A metric: its name, its unit and its values.
    public struct Metric: Hashable, Sendable {
        /// The kind of a metric's values.
        public enum Kind: Hashable, Sendable {
            /// A total that only grows.
            case counter
            /// A total that grows and shrinks.
            case upDownCounter
            /// A distribution.
            case histogram
        }

        /// The name by the conventions of OpenTelemetry: `http.client.request.duration`.
        public let name: String
        /// The kind of the values.
        public let kind: Kind
        /// The unit by the Unified Code for Units of Measure: `s`, `By`, or an annotation such as `{call}`.
        public let unit: String
        /// The description of the metric, in one sentence.
        public let summary: String
        /// The values, ordered by their attributes.
        public let points: [Point]
    }

    /// The value of a metric for one combination of attributes.
    public struct Point: Hashable, Sendable {
        enum Value: Hashable, Sendable {
            case number(Int64)
            case histogram(Histogram)
        }

        /// The attributes, ordered by their names.
        public let attributes: [Attribute]
        let value: Value
        /// True for the point that collects the values beyond the limit of the registry.
        let isOverflow: Bool
    }

    /// An attribute of a point.
    public struct Attribute: Hashable, Sendable {
        /// The name by the conventions of OpenTelemetry: `server.address`.
        public let name: String
        /// The value as text.
        public let text: String

        init(_ name: String, _ value: some CustomStringConvertible) {
            self.name = name
            text = value.description
        }
    }
}

extension MetricsRegistry.Point {
    init(_ attributes: [MetricsRegistry.Attribute], _ value: Value, isOverflow: Bool = false) {
        let sorted = attributes.ordered { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        self.init(attributes: sorted, value: value, isOverflow: isOverflow)
    }

    /// Returns the value of the attribute `name` as text; nil if the point does not have this attribute.
    public func text(of name: String) -> String? {
        attributes.first { $0.name == name }?.text
    }

    /// The histogram; nil if the value is a number.
    public var histogram: MetricsRegistry.Histogram? {
        if case .histogram(let histogram) = value { histogram } else { nil }
    }

    /// The number; nil if the value is a histogram.
    public var number: Int64? {
        if case .number(let number) = value { number } else { nil }
    }
}

extension MetricsRegistry.Snapshot {
    /// Returns the metric with a name of the table above; nil for other names.
    public func metric(_ name: String) -> MetricsRegistry.Metric? {
        metrics.first { $0.name == name }
    }
}
