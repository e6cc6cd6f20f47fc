// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// Counts and measures the calls of clients, by route, method, origin, status and reason of failure.
///
///     let metrics = MetricsRegistry()
///     let configuration = APIClient.Configuration(observers: [metrics])
///     let client = APIClient(baseURL: "https://api.example.com", configuration: configuration)
///     ...
///     print(metrics.snapshot().prometheusText())
///
/// A registry may serve many clients. It is notified on the thread of each event, without a queue, and all of its
/// methods may be called on any thread.
///
/// - **Memory** is bounded: at most `limit` targets (a route, a method and an origin each), and as many outcomes of
///   calls, outcomes of requests, and events. Beyond that, values are added to points with the attribute
///   `curlew.overflow`. Route names, hosts and other texts are clipped.
/// - **Secrets**: no attribute comes from a path, a query, a header field or a body.
///
/// `MetricsRegistry.Snapshot` lists the metrics.
public final class MetricsRegistry: RequestObserver {
    /// The maximum number of bytes of a route name, and of the name of an event.
    static let textLimit = 100
    /// The maximum number of bytes of a host (RFC 1035 §2.3.4).
    static let hostLimit = 255

    let table: Locked<MetricsTable>
    private let time: any TimeSource
    private let start: Date

    /// Creates an empty registry.
    ///
    /// - `limit`: the maximum number of targets, of outcomes and of events, clamped to 1...100,000. Default 1,000,
    ///   which takes at most 3 MB.
    /// - `bounds`: the upper bounds of the buckets of durations, in seconds. Default: those that the conventions of
    ///   OpenTelemetry advise. Bounds after the first 100, and those that are not finite, are ignored.
    /// - `time`: the source of the dates of snapshots. Default: the system's clock.
    public init(limit: Int = 1000, bounds: [Double] = Histogram.seconds, time: any TimeSource = SystemTime()) {
        table = Locked(
            MetricsTable(limit: min(max(1, limit), 100_000), durations: Histogram(bounds: Array(bounds.prefix(100)))))
        self.time = time
        start = time.date
    }

    /// Returns the metrics of all calls so far. Counts are totals since the registry was created.
    public func snapshot() -> Snapshot {
        // The arrays of the table are shared, not copied, so the lock is held for a short time only.
        let table = table.withLock { $0 }
        return Snapshot(start: start, time: time.date, metrics: table.metrics)
    }

    /// Receives an event. The client calls this method.
    public func record(_ event: ExchangeEvent, in context: ExchangeContext) {
        switch event {
        case .feature(let feature): note(.event, feature.name, in: context)
        case .joined: note(.event, "call.joined", in: context)
        case .warned(let warning): note(.event, warning.name, in: context)
        case .tried(let attempt):
            if case .retry(_, let cause) = attempt.decision { note(.retry, cause.name, in: context) }
        case .lost(let count):
            table.withLock { $0.lost &+= UInt64(clamping: count) }
        default: break
        }
    }

    private func note(_ kind: MetricsTable.Note.Kind, _ name: String, in context: ExchangeContext) {
        let note = MetricsTable.Note(
            kind: kind, name: name.clipped(to: Self.textLimit), route: context.routeName.clipped(to: Self.textLimit))
        table.withLock { $0.count(note) }
    }
}

extension MetricsRegistry: EventSink {
    package var detail: CallEvent.Detail { .calls }

    package func receive(_ event: CallEvent, in context: ExchangeContext) {
        switch event {
        case .began: table.withLock { $0.active &+= 1 }
        case .ended(let method, let origin, let outcome, let size, let metrics):
            table.withLock { table in
                table.add(metrics, outcome, bodySize: size, at: table.target(context.routeName, method, origin))
            }
        case .succeeded(let request, let response, let duration, let requests):
            table.withLock { table in
                table.active &-= 1
                let target = table.target(context.routeName, request.method, request.origin)
                table.add(duration, status: response.status, nil, requests, at: target)
            }
        case .failed(let request, let error, let duration, let requests):
            var status = error.response?.status
            if case .status(let code) = error.reason { status = code }
            table.withLock { table in
                if request != nil { table.active &-= 1 }
                let method = request?.method ?? error.request?.method ?? error.unsentMethod
                let target = table.target(context.routeName, method, request?.origin)
                table.add(duration, status: status, error.reason, requests, at: target)
            }
        case .other(let event): record(event, in: context)
        default: break
        }
    }
}
