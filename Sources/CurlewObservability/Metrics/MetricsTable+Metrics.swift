// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewFoundation
import CurlewHTTP

extension MetricsTable {
    /// The metrics in the order that `MetricsRegistry.Snapshot` documents.
    var metrics: [MetricsRegistry.Metric] {
        [
            metric(
                "http.client.request.duration", .histogram, "s", "Duration of HTTP client requests.",
                rows.flatMap { row in row.requests.map { row.point($0) } }),
            metric(
                "curlew.client.call.duration", .histogram, "s",
                "Duration of calls with all their attempts, redirects and waits.",
                rows.flatMap { row in row.calls.map { row.point($0) } }),
            metric(
                "curlew.client.call.requests", .histogram, "{request}",
                "Number of requests on the wire for each call; 0 if a cache or another call had the response.",
                rows.compactMap { $0.point($0.requestsPerCall) }),
            metric(
                "curlew.client.active_calls", .upDownCounter, "{call}", "Number of calls that have not ended.",
                [MetricsRegistry.Point([], .number(active))]),
            metric(
                "curlew.client.request.phase.duration", .histogram, "s", "Duration of the phases of requests.",
                rows.flatMap { row in
                    Phase.allCases.compactMap { phase in
                        row.point(row.phases[phase.rawValue], [.init("curlew.phase", phase.name)])
                    }
                }),
            counter("curlew.client.request.sent", "By", "Bytes sent, with heads.", \.bytesSent),
            counter(
                "curlew.client.request.received", "By", "Bytes received, with heads, before decoding.", \.bytesReceived),
            metric(
                "curlew.client.response.body.size", .histogram, "By",
                "Decoded size of bodies that arrived together with their heads.",
                rows.compactMap { $0.point($0.bodySizes) }),
            counter("curlew.client.connections.opened", "{connection}", "Connections opened for requests.", \.opened),
            counter(
                "curlew.client.connections.reused", "{request}", "Requests on an existing connection.", \.reused),
            metric(
                "curlew.client.tls.requests", .counter, "{request}", "Requests over TLS.",
                rows.flatMap { row in
                    [("1.2", row.tls.v12), ("1.3", row.tls.v13)].compactMap { version, count in
                        row.point(count, [.init("tls.protocol.version", version)])
                    }
                }),
            notes(
                .event, "curlew.client.events", "{event}", "Decisions of caches, policies, redirects and others.",
                "curlew.event"),
            notes(.retry, "curlew.client.retries", "{retry}", "Requests that were sent again.", "curlew.cause"),
            metric(
                "curlew.client.lost_events", .counter, "{event}", "Events dropped because observers were too slow.",
                [MetricsRegistry.Point([], .number(Int64(clamping: lost)))]),
        ]
    }

    private func metric(
        _ name: String, _ kind: MetricsRegistry.Metric.Kind, _ unit: String, _ summary: String,
        _ points: [MetricsRegistry.Point]
    ) -> MetricsRegistry.Metric {
        // The order must not depend on the order of the calls.
        let sorted = points.map { ($0, $0.attributes.flatMap { [$0.name, $0.text] }) }
            .ordered { one, other in
                one.1.lexicographicallyPrecedes(other.1) { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            }
        return MetricsRegistry.Metric(name: name, kind: kind, unit: unit, summary: summary, points: sorted.map(\.0))
    }

    private func counter(
        _ name: String, _ unit: String, _ summary: String, _ value: KeyPath<Row, UInt64>
    ) -> MetricsRegistry.Metric {
        metric(name, .counter, unit, summary, rows.compactMap { $0.point($0[keyPath: value], []) })
    }

    private func notes(
        _ kind: Note.Kind, _ name: String, _ unit: String, _ summary: String, _ attribute: String
    ) -> MetricsRegistry.Metric {
        var points = notes.filter { $0.key.kind == kind }.map { note, count in
            MetricsRegistry.Point(
                [.init(attribute, note.name)] + note.route.attribute, .number(Int64(clamping: count)))
        }
        let count = kind == .event ? otherEvents : otherRetries
        if count > 0 {
            points.append(
                MetricsRegistry.Point(
                    [.init(attribute, "other"), .init("curlew.route", "other"), .init("curlew.overflow", "true")],
                    .number(Int64(clamping: count)), isOverflow: true))
        }
        return metric(name, .counter, unit, summary, points)
    }
}

extension MetricsTable.Row {
    fileprivate var attributes: [MetricsRegistry.Attribute] {
        if target.isOther {
            return [
                .init("curlew.overflow", "true"), .init("curlew.route", "other"),
                .init("http.request.method", "_OTHER"), .init("server.address", "other"),
            ]
        }
        var attributes = target.route.attribute
        if let method = target.method { attributes.append(.init("http.request.method", method.rawValue)) }
        if let origin = target.origin {
            attributes += [
                .init("server.address", origin.host.address), .init("server.port", origin.port),
                .init("url.scheme", origin.scheme),
            ]
        }
        return attributes
    }

    fileprivate func point(_ series: MetricsTable.Series) -> MetricsRegistry.Point {
        var attributes = attributes
        let outcome = series.outcome
        if let status = outcome.status { attributes.append(.init("http.response.status_code", status)) }
        if outcome.isOther {
            attributes.append(.init("error.type", "other"))
            if !target.isOther { attributes.append(.init("curlew.overflow", "true")) }
        } else if let error = outcome.error {
            attributes.append(.init("error.type", error))
        } else if let status = outcome.status, status >= 400 {
            attributes.append(.init("error.type", "\(status)"))
        }
        if let version = outcome.version {
            let isWhole = version.major >= 2 && version.minor == 0
            let text = isWhole ? "\(version.major)" : "\(version.major).\(version.minor)"
            attributes.append(.init("network.protocol.version", text))
        }
        return MetricsRegistry.Point(
            attributes, .histogram(series.durations), isOverflow: target.isOther || outcome.isOther)
    }

    fileprivate func point(
        _ histogram: MetricsRegistry.Histogram, _ more: [MetricsRegistry.Attribute] = []
    ) -> MetricsRegistry.Point? {
        guard histogram.count > 0 else { return nil }
        return MetricsRegistry.Point(attributes + more, .histogram(histogram), isOverflow: target.isOther)
    }

    fileprivate func point(_ count: UInt64, _ more: [MetricsRegistry.Attribute]) -> MetricsRegistry.Point? {
        guard count > 0 else { return nil }
        return MetricsRegistry.Point(attributes + more, .number(Int64(clamping: count)), isOverflow: target.isOther)
    }
}

extension String {
    /// The attribute of a route with this name; none for an empty name.
    fileprivate var attribute: [MetricsRegistry.Attribute] {
        isEmpty ? [] : [MetricsRegistry.Attribute("curlew.route", self)]
    }

    /// The host as a `server.address`, clipped. An IPv6 address has no brackets there.
    fileprivate var address: String {
        let host = clipped(to: MetricsRegistry.hostLimit)
        guard host.begins(with: "["), host.ends(with: "]") else { return host }
        return String(Substring(host.utf8.dropFirst().dropLast()))
    }
}

extension MetricsRegistry {
    /// Returns the name of a reason in `error.type`: lower-case words joined by underscores, such as
    /// `timed_out_first_byte`, from a fixed set. A status is its number: `503`.
    ///
    /// A refusal is `refused`, whatever its policy; `Pipeline.PolicyEvent` names it. A reason of a later version is
    /// `_OTHER`.
    public static func name(of reason: NetworkError.Reason) -> String { reason.errorType }
}

extension NetworkError.Attempt.Cause {
    /// The name of a cause without its values, for counters.
    var name: String {
        switch self {
        case .transient: "transient"
        case .notReceived: "not_received"
        case .serverAsked: "server_asked"
        case .offline: "offline"
        case .renewed: "renewed"
        case .challenged: "challenged"
        case .appRule: "app_rule"
        case .hedge: "hedge"
        case .final: "final"
        case .notIdempotent: "not_idempotent"
        case .bodyNotReplayable: "body_not_replayable"
        case .attemptsExhausted: "attempts_exhausted"
        case .budgetExhausted: "budget_exhausted"
        case .deadline: "deadline"
        case .waitTooLong: "wait_too_long"
        case .serverForbids: "server_forbids"
        case .cancelled: "cancelled"
        }
    }
}

extension ExchangeEvent.Warning {
    /// The name of the kind of warning, for counters.
    var name: String {
        switch self {
        case .pinMismatch: "warning.pin_mismatch"
        case .pinsExpired: "warning.pins_expired"
        case .pinsExpireSoon: "warning.pins_expire_soon"
        }
    }
}
