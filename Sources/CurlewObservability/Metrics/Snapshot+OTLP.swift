// SPDX-License-Identifier: MIT

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension MetricsRegistry.Snapshot {
    /// Returns the metrics as the body of a request to an OpenTelemetry collector: `ExportMetricsServiceRequest` in the
    /// JSON encoding of OTLP/HTTP. It is sent with POST to `/v1/metrics`, with `Content-Type: application/json`.
    ///
    /// Counts are cumulative since the registry was created. Integers of 64 bits are strings, and enumerations are
    /// numbers, as the encoding requires. The point beyond the limit of the registry has the attribute
    /// `otel.metric.overflow` instead of its own.
    ///
    /// - `resource`: the attributes of the program, such as `service.name`, which the conventions require.
    /// - `scope`: the name of the instrumentation scope. Default `curlew`.
    /// - `version`: the version of the scope; none by default.
    public func otlpMetrics(resource: [String: String], scope: String = "curlew", version: String? = nil) -> Data {
        var json = OTLPWriter(start: start, time: time)
        let attributes = resource.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        json.object { json in
            json.list("resourceMetrics", [0]) { json, _ in
                json.member("resource") { json in
                    json.list("attributes", attributes) { $0.attribute($1.key, .text($1.value)) }
                }
                json.list("scopeMetrics", [0]) { json, _ in
                    json.member("scope") { json in
                        json.string("name", scope)
                        if let version { json.string("version", version) }
                    }
                    json.list("metrics", metrics.filter { !$0.points.isEmpty }) { $0.metric($1) }
                }
            }
        }
        return Data(json.bytes)
    }
}

/// Writes JSON into bytes.
private struct OTLPWriter {
    let start: String
    let time: String
    var bytes: [UInt8] = []

    init(start: Date, time: Date) {
        self.start = Self.nanoseconds(start)
        self.time = Self.nanoseconds(time)
    }

    private static func nanoseconds(_ date: Date) -> String {
        "\(UInt64(exactly: (max(0, date.timeIntervalSince1970) * 1e9).rounded()) ?? 0)"
    }

    mutating func metric(_ metric: MetricsRegistry.Metric) {
        string("name", metric.name)
        string("description", metric.summary)
        string("unit", metric.unit)
        member(metric.kind == .histogram ? "histogram" : "sum") { json in
            // AGGREGATION_TEMPORALITY_CUMULATIVE
            json.raw("aggregationTemporality", "2")
            if metric.kind == .counter { json.raw("isMonotonic", "true") }
            json.list("dataPoints", metric.points) { $0.point($1) }
        }
    }

    private mutating func point(_ point: MetricsRegistry.Point) {
        string("startTimeUnixNano", start)
        string("timeUnixNano", time)
        if point.isOverflow {
            list("attributes", [0]) { json, _ in
                json.string("key", "otel.metric.overflow")
                json.member("value") { $0.raw("boolValue", "true") }
            }
        } else {
            list("attributes", point.attributes) { $0.attribute($1.name, $1.value) }
        }
        switch point.value {
        case .number(let number): string("asInt", "\(number)")
        case .histogram(let histogram):
            string("count", "\(histogram.count)")
            number("sum", histogram.sum)
            raw("bucketCounts", "[" + histogram.counts.map { "\"\($0)\"" }.joined(separator: ",") + "]")
            raw("explicitBounds", "[" + histogram.bounds.map { "\($0)" }.joined(separator: ",") + "]")
            if let minimum = histogram.minimum { number("min", minimum) }
            if let maximum = histogram.maximum { number("max", maximum) }
        }
    }

    mutating func attribute(_ name: String, _ value: MetricsRegistry.Attribute.Value) {
        string("key", name)
        member("value") { json in
            switch value {
            case .text(let text): json.string("stringValue", text)
            case .integer(let number): json.string("intValue", "\(number)")
            }
        }
    }

    mutating func object(_ content: (inout OTLPWriter) -> Void) {
        bytes.append(UInt8(ascii: "{"))
        content(&self)
        bytes.append(UInt8(ascii: "}"))
    }

    mutating func member(_ name: String, _ content: (inout OTLPWriter) -> Void) {
        key(name)
        object(content)
    }

    mutating func list<Element>(
        _ name: String, _ elements: [Element], _ content: (inout OTLPWriter, Element) -> Void
    ) {
        key(name)
        bytes.append(UInt8(ascii: "["))
        for (index, element) in elements.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            object { content(&$0, element) }
        }
        bytes.append(UInt8(ascii: "]"))
    }

    mutating func string(_ name: String, _ value: String) {
        key(name)
        quoted(value)
    }

    private mutating func number(_ name: String, _ value: Double) {
        raw(name, value.isFinite ? "\(value)" : "0")
    }

    private mutating func raw(_ name: String, _ text: String) {
        key(name)
        bytes += Array(text.utf8)
    }

    private mutating func key(_ name: String) {
        if let last = bytes.last, last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
        quoted(name)
        bytes.append(UInt8(ascii: ":"))
    }

    /// Writes a string (RFC 8259 §7). Escapes on bytes: a quote followed by a combining mark still ends a string.
    private mutating func quoted(_ text: String) {
        let digits = Array("0123456789abcdef".utf8)
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0..<0x20: bytes += Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
