// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// The counters and histograms of a registry. A value: a copy is a snapshot.
struct MetricsTable: Sendable {
    /// The labels of a row, except the outcome.
    struct Target: Hashable, Sendable {
        let route: String
        /// Nil if the request could not be built.
        let method: HTTPMethod?
        let origin: Origin?
        /// True for the target that collects what exceeds the limit.
        var isOther = false
    }

    /// The result of a call or of a request on the wire.
    struct Outcome: Hashable, Sendable {
        var status: Int?
        /// The name of the failure; nil for a failure because of the status.
        var error: String?
        var version: HTTPVersion?
        var isOther = false
    }

    /// An event of a capability, or a retry.
    struct Note: Hashable, Sendable {
        enum Kind: Hashable, Sendable {
            case event, retry
        }

        let kind: Kind
        let name: String
        let route: String
    }

    /// The durations of all calls, or of all requests, with one outcome.
    struct Series: Sendable {
        let outcome: Outcome
        var durations: MetricsRegistry.Histogram
    }

    /// The values of one target.
    struct Row: Sendable {
        let target: Target
        var calls: [Series] = []
        var requests: [Series] = []
        var requestsPerCall = MetricsRegistry.Histogram(bounds: MetricsRegistry.Histogram.requests)
        /// By the number of the phase.
        var phases: [MetricsRegistry.Histogram]
        var bodySizes = MetricsRegistry.Histogram(bounds: MetricsRegistry.Histogram.bytes)
        var bytesSent: UInt64 = 0
        var bytesReceived: UInt64 = 0
        var opened: UInt64 = 0
        var reused: UInt64 = 0
        /// The number of requests over TLS 1.2 and over TLS 1.3.
        var tls: (v12: UInt64, v13: UInt64) = (0, 0)
    }

    /// The phases of a request, in the order in which they occur.
    enum Phase: Int, CaseIterable {
        case queue, lookup, connect, tls, firstByte, transfer

        var name: String {
            switch self {
            case .queue: "queue"
            case .lookup: "lookup"
            case .connect: "connect"
            case .tls: "tls"
            case .firstByte: "first_byte"
            case .transfer: "transfer"
            }
        }
    }

    let limit: Int
    /// Without values, to create others.
    let durations: MetricsRegistry.Histogram
    var active: Int64 = 0
    var lost: UInt64 = 0
    private(set) var rows: [Row] = []
    private(set) var notes: [Note: UInt64] = [:]
    private(set) var (otherEvents, otherRetries) = (UInt64(0), UInt64(0))
    private var indices: [Target: Int] = [:]
    /// The target of the latest call. A busy client has few targets, and comparing is faster than hashing.
    private var latest = 0
    private var callSeries = 0
    private var requestSeries = 0

    init(limit: Int, durations: MetricsRegistry.Histogram) {
        self.limit = limit
        self.durations = durations
    }

    /// Returns the index of the row of a target. Adds a row if there is none and the limit allows it.
    mutating func target(_ route: String, _ method: HTTPMethod?, _ origin: Origin?) -> Int {
        if latest < rows.count {
            let isSame = rows[latest].target.route == route && rows[latest].target.method == method
            if isSame, rows[latest].target.origin == origin, !rows[latest].target.isOther { return latest }
        }
        latest = find(route, method, origin)
        return latest
    }

    private mutating func find(_ route: String, _ method: HTTPMethod?, _ origin: Origin?) -> Int {
        let target = Target(
            route: route.clipped(to: MetricsRegistry.textLimit), method: method.map(\.known), origin: origin)
        if let index = indices[target] { return index }
        guard indices.count < limit else {
            let other = Target(route: "other", method: nil, origin: nil, isOther: true)
            return indices[other] ?? add(other)
        }
        return add(target)
    }

    private mutating func add(_ target: Target) -> Int {
        let phases = [MetricsRegistry.Histogram](repeating: durations, count: Phase.allCases.count)
        rows.append(Row(target: target, phases: phases))
        indices[target] = rows.count - 1
        return rows.count - 1
    }

    mutating func count(_ note: Note) {
        if let index = notes.index(forKey: note) {
            notes.values[index] &+= 1
        } else if notes.count < limit {
            notes[note] = 1
        } else if note.kind == .event {
            otherEvents &+= 1
        } else {
            otherRetries &+= 1
        }
    }

    /// Adds a call that has ended after `duration`.
    mutating func add(
        _ duration: Duration, status: HTTPStatus?, _ failure: NetworkError.Reason?, _ requests: Int, at index: Int
    ) {
        let outcome = Outcome(status: status?.code, error: failure.flatMap(Self.errorName))
        Self.add(duration.secondsAsDouble, outcome, to: &rows[index].calls, &callSeries, limit, durations)
        rows[index].requestsPerCall.add(Double(requests))
    }

    mutating func add(
        _ metrics: ExchangeMetrics, _ outcome: NetworkError.Attempt.Outcome, bodySize: Int?, at index: Int
    ) {
        let outcome =
            switch outcome {
            case .status(let status): Outcome(status: status.code, version: metrics.version)
            case .failed(let reason): Outcome(error: Self.errorName(reason), version: metrics.version)
            }
        let duration = metrics.total ?? .zero
        Self.add(
            duration.secondsAsDouble, outcome, to: &rows[index].requests, &requestSeries, limit, durations)
        rows[index].add(metrics)
        if let size = bodySize { rows[index].bodySizes.add(Double(size)) }
    }

    private static func errorName(_ reason: NetworkError.Reason) -> String? {
        if case .status = reason { nil } else { MetricsRegistry.name(of: reason) }
    }

    private static func add(
        _ seconds: Double, _ outcome: Outcome, to series: inout [Series], _ total: inout Int, _ limit: Int,
        _ empty: MetricsRegistry.Histogram
    ) {
        var index = series.firstIndex { $0.outcome == outcome }
        if index == nil, total >= limit { index = series.firstIndex { $0.outcome.isOther } }
        if index == nil {
            // Each target has room for one series that collects what exceeds the limit.
            let isOther = total >= limit
            series.append(Series(outcome: isOther ? Outcome(isOther: true) : outcome, durations: empty))
            total += isOther ? 0 : 1
        }
        series[index ?? series.count - 1].durations.add(seconds)
    }
}

extension MetricsTable.Row {
    mutating func add(_ metrics: ExchangeMetrics) {
        if let queue = metrics.queue, queue > .zero { add(queue, .queue) }
        if metrics.reusedConnection != true {
            // A phase that did not occur is zero, and is not a measurement.
            if let lookup = metrics.nameLookup, lookup > .zero { add(lookup, .lookup) }
            if let connect = metrics.connect, connect > .zero { add(connect, .connect) }
            if let secure = metrics.secureConnect, secure > .zero { add(secure, .tls) }
        } else {
            reused &+= 1
        }
        if let opened = metrics.connectionsOpened { self.opened &+= UInt64(clamping: opened) }
        if let firstByte = metrics.firstByte { add(firstByte, .firstByte) }
        if let transfer = metrics.transfer { add(transfer, .transfer) }
        if let sent = metrics.bytesSent { bytesSent &+= UInt64(clamping: sent) }
        if let received = metrics.bytesReceived { bytesReceived &+= UInt64(clamping: received) }
        switch metrics.connection?.tls?.version {
        case .v12: tls.v12 &+= 1
        case .v13: tls.v13 &+= 1
        case nil: break
        }
    }

    private mutating func add(_ duration: Duration, _ phase: MetricsTable.Phase) {
        phases[phase.rawValue].add(duration.secondsAsDouble)
    }
}

extension Duration {
    /// The duration in seconds. Dividing nanoseconds is much faster than dividing durations, which have 128 bits.
    var secondsAsDouble: Double { Double(wholeNanoseconds) / 1_000_000_000 }
}

extension HTTPMethod {
    /// The method, or `_OTHER` unless it is one of RFC 9110 §9.3, PATCH or QUERY, as the semantic conventions of
    /// OpenTelemetry require.
    var known: HTTPMethod {
        switch rawValue {
        case "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY": self
        default: HTTPMethod(rawValue: "_OTHER")
        }
    }
}
