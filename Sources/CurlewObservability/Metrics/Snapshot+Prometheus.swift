// SPDX-License-Identifier: MIT

extension MetricsRegistry.Snapshot {
    /// A text format of Prometheus.
    public enum PrometheusFormat: Hashable, Sendable {
        /// The text format 0.0.4.
        case text
        /// OpenMetrics 1.0.0.
        case openMetrics

        /// The value of the field `Content-Type` with which a server sends the format.
        public var contentType: String {
            switch self {
            case .text: "text/plain; version=0.0.4; charset=utf-8"
            case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
            }
        }
    }

    /// Returns the metrics in a text format of Prometheus. The default is the text format 0.0.4.
    ///
    /// Names are those of OpenTelemetry, with underscores, the unit and, for counters, `_total`:
    /// `http.client.request.duration` is `http_client_request_duration_seconds`, and `server.address` is
    /// `server_address`. The order of the lines depends only on the names and labels. Metrics without points are
    /// omitted.
    public func prometheusText(_ format: PrometheusFormat = .text) -> String {
        var writer = PrometheusWriter(format: format)
        for metric in metrics { writer.write(metric) }
        if format == .openMetrics { writer.text += "# EOF\n" }
        return writer.text
    }
}

private struct PrometheusWriter {
    let format: MetricsRegistry.Snapshot.PrometheusFormat
    var text = ""

    mutating func write(_ metric: MetricsRegistry.Metric) {
        guard !metric.points.isEmpty else { return }
        let name = Self.name(metric.name) + (Self.units[metric.unit] ?? "")
        let total = metric.kind == .counter ? "_total" : ""
        // The family of a counter is named with the suffix in the text format, and without it in OpenMetrics.
        let family = name + (format == .text ? total : "")
        text += "# HELP \(family) \(Self.escaped(metric.summary, quotes: format == .openMetrics))\n"
        text += "# TYPE \(family) \(Self.type(of: metric.kind))\n"
        if format == .openMetrics, let unit = Self.units[metric.unit] {
            text += "# UNIT \(family) \(unit.dropFirst())\n"
        }
        for point in metric.points {
            let labels = point.attributes.map { "\(Self.name($0.name))=\"\(Self.escaped($0.text, quotes: true))\"" }
            switch point.value {
            case .number(let number): line(name + total, labels, "\(number)")
            case .histogram(let histogram): write(histogram, name, labels)
            }
        }
    }

    private mutating func write(_ histogram: MetricsRegistry.Histogram, _ name: String, _ labels: [String]) {
        var total: UInt64 = 0
        for (bound, count) in zip(histogram.bounds + [.infinity], histogram.counts) {
            total &+= count
            line(name + "_bucket", labels + ["le=\"\(Self.number(bound))\""], "\(total)")
        }
        line(name + "_sum", labels, Self.number(histogram.sum))
        line(name + "_count", labels, "\(total)")
    }

    private mutating func line(_ name: String, _ labels: [String], _ value: String) {
        text += name
        if !labels.isEmpty { text += "{" + labels.joined(separator: ",") + "}" }
        text += " " + value + "\n"
    }

    private static let units = ["s": "_seconds", "By": "_bytes"]

    private static func type(of kind: MetricsRegistry.Metric.Kind) -> String {
        switch kind {
        case .counter: "counter"
        case .upDownCounter: "gauge"
        case .histogram: "histogram"
        }
    }

    private static func number(_ number: Double) -> String {
        number == .infinity ? "+Inf" : "\(number)"
    }

    private static func name(_ name: String) -> String {
        String(decoding: name.utf8.map { $0 == UInt8(ascii: ".") ? UInt8(ascii: "_") : $0 }, as: UTF8.self)
    }

    /// Escapes backslashes, line feeds and, in the values of labels, quotes. On bytes: a quote followed by a combining
    /// mark is one `Character`, and still ends the value. A carriage return would end a line for some parsers, so it
    /// becomes a space.
    private static func escaped(_ text: String, quotes: Bool) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\\"): bytes += Array("\\\\".utf8)
            case UInt8(ascii: "\n"): bytes += Array("\\n".utf8)
            case UInt8(ascii: "\r"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "\"") where quotes: bytes += Array("\\\"".utf8)
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
