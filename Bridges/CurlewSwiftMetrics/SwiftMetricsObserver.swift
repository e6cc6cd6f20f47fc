// SPDX-License-Identifier: MIT

#if SwiftMetrics
public import CoreMetrics
public import Curlew
#if canImport(Darwin)
import os
#else
import Synchronization
#endif

/// Counts and measures the calls of clients with the instruments of swift-metrics.
///
///     let configuration = APIClient.Configuration(observers: [SwiftMetricsObserver()])
///     let client = APIClient(baseURL: "https://api.example.com", configuration: configuration)
///
/// The instruments and their dimensions are those that `MetricsRegistry.Snapshot` lists, without
/// `curlew.client.response.body.size`. Durations are timers, the number of requests per call is a recorder, active calls
/// are a meter, and all others are counters. An instrument has the same dimensions every time, because some backends
/// require it: an attribute that does not apply is empty.
///
/// An observer may serve many clients. Each instrument has at most `limit` combinations of dimensions; beyond that, values
/// are added to one more, whose dimensions are `other`. No dimension comes from a path, a query, a header field or a body.
public final class SwiftMetricsObserver: RequestObserver {
    #if canImport(Darwin)
    private let state: OSAllocatedUnfairLock<MetricsState>
    #else
    private let state: Mutex<MetricsState>
    #endif

    /// Creates an observer.
    ///
    /// - `factory`: creates the instruments. Default that of `MetricsSystem`, which the app bootstraps before.
    /// - `limit`: the maximum number of combinations of dimensions for each instrument. Default 1,000.
    public init(factory: any MetricsFactory = MetricsSystem.factory, limit: Int = 1000) {
        let initial = MetricsState(factory: factory, limit: max(1, limit))
        #if canImport(Darwin)
        state = OSAllocatedUnfairLock(initialState: initial)
        #else
        state = Mutex(initial)
        #endif
    }

    /// Receives an event. The client calls this method.
    public func record(_ event: ExchangeEvent, in context: ExchangeContext) {
        state.withLock { $0.record(event, in: context) }
    }
}

/// An attribute with its name. Empty if it does not apply.
private typealias Dimension = (name: String, text: String)

/// What a request is sent to, for dimensions.
private struct Target {
    let route: String
    var method: HTTPMethod?
    var origin: Origin?

    private static let knownMethods: Set<HTTPMethod> = [
        .connect, .delete, .get, .head, .options, .patch, .post, .put, .query, .trace,
    ]

    init(_ route: String, _ method: HTTPMethod?, _ origin: Origin?) {
        self.route = String(route.prefix(100))
        self.method = method.map { Self.knownMethods.contains($0) ? $0 : "_OTHER" }
        self.origin = origin
    }

    var dimensions: [Dimension] {
        var host = origin?.host ?? ""
        if host.utf8.first == UInt8(ascii: "[") { host = String(host.dropFirst().dropLast()) }
        return [
            ("curlew.route", route), ("http.request.method", method?.rawValue ?? ""),
            ("server.address", String(host.prefix(255))), ("server.port", origin.map { "\($0.port)" } ?? ""),
            ("url.scheme", origin?.scheme ?? ""),
        ]
    }
}

private struct RunningCall {
    let target: Target
    var requests = 0
}

/// A request on the wire, with what is known about its response.
private struct RunningRequest {
    let target: Target
    var status: HTTPStatus?
    var failure: NetworkError.Reason?
}

private struct RequestKey: Hashable {
    let call: UInt64
    let number: Int?

    init(_ context: ExchangeContext) {
        call = context.id
        number = context.requestNumber
    }
}

/// An instrument with its dimensions, whose names follow from the label.
private struct InstrumentKey: Hashable {
    let label: String
    let names: [String]
    let texts: [String]

    /// - `isOther`: whether the instrument collects the values beyond the limit.
    init(_ label: String, _ dimensions: [Dimension], isOther: Bool = false) {
        self.label = label
        names = dimensions.map(\.name)
        texts = dimensions.map { dimension in
            guard isOther else { return dimension.text }
            return switch dimension.name {
            case "curlew.route", "curlew.event", "curlew.cause", "server.address": "other"
            case "http.request.method": "_OTHER"
            default: ""
            }
        }
    }

    var dimensions: [(String, String)] { Array(zip(names, texts)) }
}

private struct MetricsState {
    let factory: any MetricsFactory
    let limit: Int
    private var calls: [UInt64: RunningCall] = [:]
    private var requests: [RequestKey: RunningRequest] = [:]
    private var combinations: [String: Int] = [:]
    private var timers: [InstrumentKey: any TimerHandler] = [:]
    private var counters: [InstrumentKey: any CounterHandler] = [:]
    private var recorders: [InstrumentKey: any RecorderHandler] = [:]
    private var active: (any MeterHandler)?

    /// The maximum number of calls and of requests. There are more only if the client has lost their last events.
    private static let maximumRunning = 65_536

    init(factory: any MetricsFactory, limit: Int) {
        self.factory = factory
        self.limit = limit
    }

    mutating func record(_ event: ExchangeEvent, in context: ExchangeContext) {
        let route = context.routeName
        switch event {
        case .began(let request):
            if calls.count >= Self.maximumRunning { calls.removeAll() }
            calls[context.id] = RunningCall(target: Target(route, request.method, request.origin))
            setActive()
        case .sent(let request):
            if requests.count >= Self.maximumRunning { requests.removeAll() }
            calls[context.id]?.requests += 1
            requests[RequestKey(context)] = RunningRequest(target: Target(route, request.method, request.origin))
        case .answered(let response): requests[RequestKey(context)]?.status = response.status
        case .attemptFailed(let error): requests[RequestKey(context)]?.failure = error.reason
        case .measured(let metrics):
            guard let request = requests.removeValue(forKey: RequestKey(context)) else { return }
            add(metrics, request)
        case .succeeded(let response, let duration): endCall(context, response.status, nil, duration)
        case .failed(let error, let duration):
            var status = error.response?.status
            if case .status(let code) = error.reason { status = code }
            endCall(context, status, error, duration)
        case .feature(let feature): count("events", "curlew.event", feature.name, route)
        case .joined: count("events", "curlew.event", "call.joined", route)
        case .warned(let warning): count("events", "curlew.event", warning.name, route)
        case .tried(let attempt):
            if case .retry(_, let cause) = attempt.decision { count("retries", "curlew.cause", cause.name, route) }
        case .lost(let number): add(Int64(number), to: "curlew.client.lost_events", [])
        default: break
        }
    }

    private mutating func endCall(
        _ context: ExchangeContext, _ status: HTTPStatus?, _ error: NetworkError?, _ duration: Duration
    ) {
        let call = calls.removeValue(forKey: context.id)
        let target = call?.target ?? Target(context.routeName, error?.request?.method, nil)
        let outcome = Self.outcome(status, error?.reason)
        add(duration, to: "curlew.client.call.duration", target.dimensions + outcome)
        let key = key("curlew.client.call.requests", target.dimensions)
        let recorder =
            recorders[key] ?? factory.makeRecorder(label: key.label, dimensions: key.dimensions, aggregate: true)
        recorders[key] = recorder
        recorder.record(Int64(call?.requests ?? 0))
        if call != nil { setActive() }
    }

    private mutating func add(_ metrics: ExchangeMetrics, _ request: RunningRequest) {
        let target = request.target.dimensions
        let version = metrics.version.map { version in
            version.major >= 2 && version.minor == 0 ? "\(version.major)" : "\(version.major).\(version.minor)"
        }
        let outcome = Self.outcome(request.status, request.failure)
        add(
            metrics.total ?? .zero, to: "http.client.request.duration",
            target + outcome + [("network.protocol.version", version ?? "")])
        let isReused = metrics.reusedConnection == true
        let setup =
            isReused
            ? []
            : [
                ("lookup", metrics.nameLookup), ("connect", metrics.connect), ("tls", metrics.secureConnect),
            ]
        // A phase that did not occur is zero, and is not a measurement.
        let measured = ([("queue", metrics.queue)] + setup).filter { ($0.1 ?? .zero) > .zero }
        for (phase, duration) in measured + [("first_byte", metrics.firstByte), ("transfer", metrics.transfer)] {
            guard let duration else { continue }
            add(duration, to: "curlew.client.request.phase.duration", target + [("curlew.phase", phase)])
        }
        add(metrics.bytesSent ?? 0, to: "curlew.client.request.sent", target)
        add(metrics.bytesReceived ?? 0, to: "curlew.client.request.received", target)
        add(Int64(metrics.connectionsOpened ?? 0), to: "curlew.client.connections.opened", target)
        add(isReused ? 1 : 0, to: "curlew.client.connections.reused", target)
        if let tls = metrics.connection?.tls?.version {
            add(1, to: "curlew.client.tls.requests", target + [("tls.protocol.version", tls == .v12 ? "1.2" : "1.3")])
        }
    }

    private static func outcome(_ status: HTTPStatus?, _ failure: NetworkError.Reason?) -> [Dimension] {
        var error = ""
        if let status, status.code >= 400 { error = "\(status.code)" }
        switch failure {
        case nil, .status: break
        case .some(let reason): error = MetricsRegistry.name(of: reason)
        }
        return [("http.response.status_code", status.map { "\($0.code)" } ?? ""), ("error.type", error)]
    }

    // MARK: - Instruments

    private mutating func setActive() {
        let meter = active ?? factory.makeMeter(label: "curlew.client.active_calls", dimensions: [])
        active = meter
        meter.set(Int64(calls.count))
    }

    private mutating func count(_ metric: String, _ attribute: String, _ text: String, _ route: String) {
        let dimensions = [(attribute, String(text.prefix(100))), ("curlew.route", String(route.prefix(100)))]
        add(1, to: "curlew.client.\(metric)", dimensions)
    }

    private mutating func add(_ duration: Duration, to label: String, _ dimensions: [Dimension]) {
        let key = key(label, dimensions)
        let timer = timers[key] ?? factory.makeTimer(label: label, dimensions: key.dimensions)
        timers[key] = timer
        timer.recordNanoseconds(Int64(min(duration / .nanoseconds(1), 9e18)))
    }

    private mutating func add(_ amount: Int64, to label: String, _ dimensions: [Dimension]) {
        guard amount > 0 else { return }
        let key = key(label, dimensions)
        let counter = counters[key] ?? factory.makeCounter(label: label, dimensions: key.dimensions)
        counters[key] = counter
        counter.increment(by: amount)
    }

    /// Returns the key of an instrument, or the key of those beyond the limit.
    private mutating func key(_ label: String, _ dimensions: [Dimension]) -> InstrumentKey {
        let key = InstrumentKey(label, dimensions)
        if timers[key] != nil || counters[key] != nil || recorders[key] != nil { return key }
        guard combinations[label, default: 0] < limit else { return InstrumentKey(label, dimensions, isOther: true) }
        combinations[label, default: 0] += 1
        return key
    }
}

extension NetworkError.Attempt.Cause {
    /// The name that `MetricsRegistry` gives the cause: the case without its values.
    fileprivate var name: String {
        switch self {
        case .transient: "transient"
        case .notReceived: "not_received"
        case .serverAsked: "server_asked"
        case .offline: "offline"
        case .renewed: "renewed"
        case .challenged: "challenged"
        case .appRule: "app_rule"
        case .hedge: "hedge"
        // The others are reasons to end a call.
        default: "other"
        }
    }
}

extension ExchangeEvent.Warning {
    /// The name that `MetricsRegistry` gives the warning.
    fileprivate var name: String {
        switch self {
        case .pinMismatch: "warning.pin_mismatch"
        case .pinsExpired: "warning.pins_expired"
        case .pinsExpireSoon: "warning.pins_expire_soon"
        @unknown default: "warning.other"
        }
    }
}
#endif
