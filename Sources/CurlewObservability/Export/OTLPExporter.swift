// SPDX-License-Identifier: MIT

public import CurlewCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Sends spans, and metrics by choice, to an OpenTelemetry collector over OTLP/HTTP in JSON (OTLP 1.9.0).
///
///     let exporter = OTLPExporter("http://localhost:4318", service: "films", transport: CurlTransport())
///     let client = APIClient(baseURL: "https://api.example.com", pipeline: .standard.adding(.tracing(to: exporter)))
///     …
///     await exporter.shutdown()                  // when the program ends
///
/// - Spans are sent in batches to `/v1/traces`, one request at a time. `export` only stores a span. Memory is bounded by
///   `Options.queueLimit`.
/// - A batch is sent again after a response of 429, 502, 503 or 504 and after a failed connection, at most
///   `Options.attempts` times: after `Retry-After`, or after 1, 2, 4, … seconds with a random deviation of up to a fifth.
///   After any other response, it is dropped.
/// - Losses are counted in `statistics` and reported to `Options.onLoss`. Spans that the collector rejects in a partial
///   success are losses.
/// - The requests of the exporter are not traced and have no observers, even if the transport is that of a traced
///   client. Redirects are not followed.
public final class OTLPExporter: TraceSpanExporter {
    private struct State {
        var queue: [TraceSpan] = []
        var statistics = Statistics()
        /// The spans that were dropped and not yet reported.
        var unreported = 0
        /// The task that sends batches; nil while no span waits.
        var worker: Task<Void, Never>?
        /// The wait of the worker for more spans.
        var pause: Task<Void, Never>?
        /// The number of spans that ever entered the queue, and of those that left the exporter, sent or lost.
        var entered = 0
        var left = 0
        /// The waits until this number of spans has left. While there are any, spans are sent without further delay.
        var flushes: [(end: Int, result: SharedResult<Void>)] = []
        var isShutDown = false
        var metrics: [@Sendable () -> Data] = []
        var metricsTasks: [Task<Void, Never>] = []
    }

    /// The settings.
    public let options: Options
    private let connection: OTLPConnection
    private let resource: [TraceSpan.Attribute]
    private let time: any TimeSource
    private let state = Locked(State())

    /// Creates an exporter. Opens no connection.
    ///
    /// - `collector`: the URL of the collector, without `/v1/traces`. Default `http://localhost:4318`.
    /// - `service`: the attribute `service.name` of the resource.
    /// - `transport`: the transport of the exporter's own client.
    /// - `time`: the time source of all waits. Default the clocks of the system.
    /// - `random`: random numbers from 0 to 1, for the waits between attempts.
    public init(
        _ collector: BaseURL = "http://localhost:4318", service: String, transport: any Transport,
        options: Options = Options(), time: any TimeSource = SystemTime(),
        random: @escaping @Sendable () -> Double = { Double.random(in: 0...1) }
    ) {
        self.options = options
        self.time = time
        resource =
            [TraceSpan.Attribute("service.name", .string(service))]
            + options.resource.filter { $0.key != "service.name" }
        connection = OTLPConnection(collector, transport, options, time, random)
    }

    deinit {
        state.withLock { state in
            for task in state.metricsTasks { task.cancel() }
        }
    }

    /// The current counts.
    public var statistics: Statistics {
        state.withLock { state in
            var statistics = state.statistics
            statistics.waiting += state.queue.count
            return statistics
        }
    }

    /// Stores the span until its batch is sent. Drops it if the queue is full or the exporter is shut down.
    public func export(_ span: TraceSpan) {
        state.withLock { state in
            guard !state.isShutDown, state.queue.count < options.queueLimit else {
                state.statistics.dropped += 1
                state.unreported += 1
                return
            }
            state.queue.append(span)
            state.entered += 1
            if state.worker == nil {
                state.worker = Task { await self.sendAll() }
            } else if state.queue.count >= options.batchSize {
                state.pause?.cancel()
            }
        }
    }

    /// Sends metrics periodically to `/v1/metrics`.
    ///
    /// - `interval`: the time between two requests. Default 60 s.
    /// - `body`: returns an `ExportMetricsServiceRequest` as JSON. Called once for each request; repeated attempts send
    ///   the same data.
    ///
    /// The exporter sends metrics until it is shut down or released. `flush` and `shutdown` send them once more.
    public func addMetrics(every interval: Duration = .seconds(60), _ body: @escaping @Sendable () -> Data) {
        let time = time
        let task = Task { [weak self] in
            await Self.repeatedly(every: interval, on: time) { [weak self] in
                guard let self else { return false }
                await self.sendMetrics(body())
                return true
            }
        }
        let isLate = state.withLock { state -> Bool in
            if state.isShutDown { return true }
            state.metrics.append(body)
            state.metricsTasks.append(task)
            return false
        }
        if isLate { task.cancel() }
    }

    /// Sends all spans that wait now, and the metrics, without waiting for full batches. Spans that arrive meanwhile do
    /// not prolong it.
    ///
    /// Returns true when everything was sent or failed for good, and false if `deadline` passes or the task is cancelled
    /// before that; the exporter then continues to send.
    @discardableResult
    public func flush(until deadline: Deadline = .never) async -> Bool {
        (try? await bounded(until: deadline, on: time) { await self.drain() }) != nil
    }

    /// Sends what waits, as `flush` does, and stops the exporter. Spans that are left at the deadline are dropped, and
    /// so are spans that arrive later.
    ///
    /// - `deadline`: the latest end. Default 10 s from now.
    public func shutdown(until deadline: Deadline? = nil) async {
        let tasks = state.withLock { state in
            state.isShutDown = true
            defer { state.metricsTasks = [] }
            return state.metricsTasks
        }
        for task in tasks { task.cancel() }
        let end = deadline ?? Deadline(.seconds(10), after: time.now)
        if await flush(until: end) { return }
        let left = state.withLock { state in
            defer { state.queue = [] }
            state.statistics.dropped += state.queue.count
            state.left += state.queue.count
            state.worker?.cancel()
            return state.queue.count
        }
        if left > 0 { options.onLoss?(Loss(spans: left, cause: "the exporter was shut down")) }
    }

    // MARK: - Spans

    private func drain() async {
        let waiter = SharedResult<Void>()
        let isBusy = state.withLock { state in
            guard state.left < state.entered else { return false }
            state.pause?.cancel()
            state.flushes.append((state.entered, waiter))
            return true
        }
        if isBusy { try? await waiter.wait() }
        for body in state.withLock({ $0.metrics }) { await sendMetrics(body()) }
        reportDropped()
    }

    private func sendAll() async {
        while let batch = await nextBatch() {
            reportDropped()
            await send(batch)
            endFlushes()
        }
        endFlushes()
    }

    /// Waits for a full batch or the end of the interval, and removes the batch from the queue. Returns nil, and ends the
    /// worker, if no span is left.
    private func nextBatch() async -> [TraceSpan]? {
        let (time, interval) = (time, options.interval)
        let pause = state.withLock { state -> Task<Void, Never>? in
            if !state.flushes.isEmpty || state.queue.isEmpty || state.queue.count >= options.batchSize { return nil }
            let pause = Task { _ = try? await time.sleep(for: interval) }
            state.pause = pause
            return pause
        }
        await pause?.value
        return state.withLock { state -> [TraceSpan]? in
            state.pause = nil
            if state.queue.isEmpty {
                state.worker = nil
                return nil
            }
            let batch = Array(state.queue.prefix(options.batchSize))
            state.queue.removeFirst(batch.count)
            state.statistics.waiting = batch.count
            return batch
        }
    }

    /// Ends the flushes whose spans have all left.
    private func endFlushes() {
        let done = state.withLock { state in
            let done = state.flushes.filter { $0.end <= state.left }
            state.flushes.removeAll { $0.end <= state.left }
            return done
        }
        for flush in done { flush.result.finish(.success(())) }
    }

    private func send(_ batch: [TraceSpan]) async {
        let result = await deliver(
            OTLPTraceWriter.body(batch, resource: resource), to: "/v1/traces")
        let loss = state.withLock { state -> Loss? in
            state.statistics.waiting = 0
            state.left += batch.count
            switch result {
            case .accepted(let rejected, let message):
                let rejected = min(rejected, batch.count)
                state.statistics.accepted += batch.count - rejected
                state.statistics.rejected += rejected
                return rejected > 0 ? Loss(spans: rejected, cause: "rejected: \(message)") : nil
            case .retry(_, let cause), .refused(let cause):
                state.statistics.failed += batch.count
                return Loss(spans: batch.count, cause: cause)
            }
        }
        if let loss { options.onLoss?(loss) }
    }

    private func reportDropped() {
        let count = state.withLock { state in
            defer { state.unreported = 0 }
            return state.unreported
        }
        if count > 0 { options.onLoss?(Loss(spans: count, cause: "the queue is full")) }
    }

    // MARK: - Metrics

    private func sendMetrics(_ body: Data) async {
        switch await deliver(body, to: "/v1/metrics") {
        case .accepted(let rejected, let message):
            if rejected > 0 { options.onLoss?(Loss(spans: 0, cause: "\(rejected) points rejected: \(message)")) }
        case .retry(_, let cause), .refused(let cause): options.onLoss?(Loss(spans: 0, cause: cause))
        }
    }

    private static func repeatedly(
        every interval: Duration, on time: any TimeSource, _ work: @Sendable () async -> Bool
    ) async {
        var mayContinue = true
        while mayContinue {
            do {
                try await time.sleep(for: interval)
            } catch {
                return
            }
            mayContinue = await work()
        }
    }

    private func deliver(_ body: Data, to path: RequestPath) async -> OTLPResponse {
        await connection.deliver(body, to: path) { [state] isRetry in
            state.withLock { state in
                state.statistics.requests += 1
                if isRetry { state.statistics.retries += 1 }
            }
        }
    }
}
