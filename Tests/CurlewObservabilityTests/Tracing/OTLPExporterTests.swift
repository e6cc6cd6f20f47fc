// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewTesting
import Foundation
import TestFixtures
import Testing

@testable import CurlewObservability

/// Batches, limits, repetitions and losses of the exporter, on a manual clock.
@Suite(.timeLimit(.minutes(1)))
struct OTLPExporterTests {
    private let clock = ManualClock()
    private let losses = Locked<[OTLPExporter.Loss]>([])

    private func exporter(
        _ mock: MockTransport, time: (any TimeSource)? = nil, change: (inout OTLPExporter.Options) -> Void = { _ in }
    ) -> OTLPExporter {
        let losses = losses
        var options = OTLPExporter.Options(onLoss: { loss in losses.withLock { $0.append(loss) } })
        change(&options)
        return OTLPExporter(
            "http://collector.test:4318", service: "films", transport: mock, options: options, time: time ?? clock,
            random: { 0.5 })
    }

    private static func answering(_ answers: HTTPResponse...) -> MockTransport {
        let answers = Locked(answers.map { ($0.status, $0.headers, $0.body.bufferedData ?? Data()) })
        return MockTransport {
            $0.onAny { _ in
                answers.withLock { answers in
                    guard !answers.isEmpty else { return .json(text: "{}") }
                    let (status, headers, data) = answers.removeFirst()
                    return HTTPResponse(status: status, headers: headers, body: ResponseBody(data))
                }
            }
        }
    }

    private static func span(_ number: Int = 0) -> TraceSpan {
        var random = SeededGenerator(seed: UInt64(number))
        let context = TraceContext(
            traceID: .random { random.next() }, spanID: .random { random.next() })
        return TraceSpan("GET \(number)", kind: .client, context: context, start: 1)
    }

    private static func count(_ call: RecordedCall) -> Int {
        String(decoding: call.body, as: UTF8.self).components(separatedBy: #""kind":"#).count - 1
    }

    @Test("spans wait five seconds for others, and are sent in one request")
    func interval() async throws {
        let mock = Self.answering()
        let exporter = exporter(mock) { $0.headers = ["api-key": "k"] }
        for number in 0..<3 { exporter.export(Self.span(number)) }
        try await clock.waitForSleepers(1)
        clock.advance(by: .milliseconds(4999))
        #expect(mock.requests.isEmpty && exporter.statistics.waiting == 3)
        clock.advance(by: .milliseconds(1))
        let call = try #require(try await mock.waitForRequests(1).first)
        #expect(call.method == .post && call.request.urlString == "http://collector.test:4318/v1/traces")
        #expect(call.request.headers[.contentType] == "application/json" && call.request.headers["api-key"] == "k")
        #expect(Self.count(call) == 3)
        try await yieldUntil { exporter.statistics.accepted == 3 }
        #expect(exporter.statistics.waiting == 0 && exporter.statistics.requests == 1)
        // The worker has ended; another span starts it again.
        exporter.export(Self.span(9))
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(5))
        _ = try await mock.waitForRequests(2)
    }

    @Test("a full batch is sent at once, and the rest after the interval")
    func batches() async throws {
        let mock = Self.answering()
        let exporter = exporter(mock)
        for number in 0..<(512 + 30) { exporter.export(Self.span(number)) }
        let first = try #require(try await mock.waitForRequests(1).first)
        #expect(Self.count(first) == 512)
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(5))
        #expect(try await mock.waitForRequests(2).map(Self.count) == [512, 30])
    }

    @Test("the queue is bounded: what does not fit is dropped, counted and reported")
    func overflow() async throws {
        let mock = Self.answering()
        let exporter = exporter(mock) { options in
            options.queueLimit = 5
            options.batchSize = 10
        }
        for number in 0..<8 { exporter.export(Self.span(number)) }
        #expect(exporter.statistics.waiting == 5 && exporter.statistics.dropped == 3)
        #expect(await exporter.flush())
        #expect(mock.requests.map(Self.count) == [5] && exporter.statistics.accepted == 5)
        #expect(losses.withLock { $0.map(\.description) } == ["3 spans: the queue is full"])
    }

    @Test(
        "429, 502, 503 and 504 are repeated after Retry-After or an exponential wait", arguments: [429, 502, 503, 504])
    func retries(code: Int) async throws {
        let status = HTTPStatus(code)
        let mock = Self.answering(
            .status(status, headers: [.retryAfter: "7"]), .status(status), .status(status),
            .status(status, headers: [.retryAfter: "9999999"]))
        let exporter = exporter(mock)
        exporter.export(Self.span())
        async let done = exporter.flush()
        var waits: [Duration] = []
        for count in 1...4 {
            _ = try await mock.waitForRequests(count)
            try await clock.waitForSleepers(1)
            waits.append(clock.advanceToNextSleeper() ?? .zero)
        }
        #expect(await done)
        #expect(waits == [.seconds(7), .seconds(2), .seconds(4), .seconds(60)])
        #expect(mock.requests.count == 5 && Set(mock.requests.map(\.body)).count == 1)
        #expect(exporter.statistics.accepted == 1 && exporter.statistics.retries == 4)
        #expect(losses.withLock { $0.isEmpty })
    }

    @Test("after the last attempt the batch is lost")
    func attempts() async throws {
        let mock = MockTransport { $0.onAny { _ in .status(503) } }
        let exporter = exporter(mock, time: ManualClock.skippingWaits)
        exporter.export(Self.span())
        #expect(await exporter.flush())
        #expect(mock.requests.count == 5 && exporter.statistics.failed == 1)
        #expect(losses.withLock { $0.map(\.description) } == ["1 spans: status 503"])
    }

    @Test(
        "other responses drop the batch, and the next one is sent", arguments: [400, 401, 404, 413, 500, 501, 301, 302])
    func refused(code: Int) async throws {
        let mock = Self.answering(.status(HTTPStatus(code), headers: [.location: "/elsewhere"]))
        let exporter = exporter(mock)
        exporter.export(Self.span())
        #expect(await exporter.flush())
        #expect(mock.requests.count == 1 && exporter.statistics.failed == 1 && exporter.statistics.accepted == 0)
        #expect(losses.withLock { $0.map(\.cause) } == ["status \(code)"])
        exporter.export(Self.span())
        #expect(await exporter.flush())
        #expect(exporter.statistics.accepted == 1)
    }

    @Test("a connection that fails is tried again, a broken configuration is not")
    func failures() async throws {
        let mock = Self.answering()
        mock.fail(.first(2), with: NetworkError(.unreachable))
        let exporter = exporter(mock, time: ManualClock.skippingWaits)
        exporter.export(Self.span())
        #expect(await exporter.flush())
        #expect(exporter.statistics.accepted == 1 && exporter.statistics.requests == 3)
        mock.fail(with: NetworkError(.secureConnectionFailed(.untrusted)))
        exporter.export(Self.span())
        #expect(await exporter.flush())
        #expect(exporter.statistics.failed == 1 && exporter.statistics.requests == 4)
        #expect(losses.withLock { $0.map(\.cause) } == ["secureConnectionFailed untrusted"])
    }

    @Test(
        "a partial success counts the rejected spans",
        arguments: [
            (#"{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old\u001b"}}"#, 2),
            (#"{"partialSuccess":{"rejectedSpans":1}}"#, 1),
            (#"{"partialSuccess":{"rejectedSpans":"99"}}"#, 3),
            (#"{"partialSuccess":{"rejectedSpans":"-4","errorMessage":"a warning"}}"#, 0),
            (#"{"partialSuccess":{"errorMessage":"a warning"}}"#, 0),
            (#"{"partialSuccess":null}"#, 0), ("{}", 0), ("", 0), ("no JSON", 0), (#"{"partialSuccess":[1]}"#, 0),
        ])
    func partialSuccess(body: String, rejected: Int) async throws {
        let exporter = exporter(Self.answering(.json(text: body)))
        for number in 0..<3 { exporter.export(Self.span(number)) }
        #expect(await exporter.flush())
        #expect(exporter.statistics.rejected == rejected && exporter.statistics.accepted == 3 - rejected)
        #expect(losses.withLock { $0.map(\.spans) } == (rejected > 0 ? [rejected] : []))
        #expect(losses.withLock { $0.allSatisfy { !$0.cause.contains("\u{1b}") } })
    }

    @Test("a flush that is late returns false, and the exporter goes on")
    func lateFlush() async throws {
        let mock = Self.answering(.status(503))
        let exporter = exporter(mock)
        exporter.export(Self.span())
        async let flushed = exporter.flush(until: Deadline(clock.now.advanced(by: .milliseconds(500))))
        _ = try await mock.waitForRequests(1)
        try await clock.waitForSleepers(1)
        try await clock.waitForSleepers(1, .limits)
        clock.advance(by: .milliseconds(500))
        #expect(await flushed == false)
        clock.advance(by: .milliseconds(500))
        try await yieldUntil { exporter.statistics.accepted == 1 }
        #expect(await exporter.flush(), "with nothing to send, a flush is immediate")
    }

    @Test("a shutdown sends what waits, drops what is left at its deadline, and takes no more")
    func shutdown() async throws {
        let good = Self.answering()
        let exporter = exporter(good)
        exporter.export(Self.span())
        await exporter.shutdown()
        exporter.export(Self.span())
        #expect(good.requests.count == 1 && exporter.statistics.dropped == 1 && exporter.statistics.waiting == 0)

        let bad = MockTransport { $0.onAny { _ in .status(503) } }
        let other = self.exporter(bad) { $0.batchSize = 2 }
        for number in 0..<5 { other.export(Self.span(number)) }
        async let done: Void = other.shutdown(until: Deadline(clock.now.advanced(by: .milliseconds(100))))
        _ = try await bad.waitForRequests(1)
        try await clock.waitForSleepers(1)
        try await clock.waitForSleepers(1, .limits)
        clock.advance(by: .milliseconds(100))
        await done
        try await yieldUntil { other.statistics.failed == 2 }
        #expect(other.statistics.dropped == 3 && other.statistics.waiting == 0)
        #expect(losses.withLock { Set($0.map(\.description)) }.contains("3 spans: the exporter was shut down"))
    }

    @Test("metrics are sent periodically, and once more by a flush; a shutdown ends that")
    func metrics() async throws {
        let mock = Self.answering(.json(text: "{}"), .json(text: #"{"partialSuccess":{"rejectedDataPoints":"4"}}"#))
        let exporter = exporter(mock)
        let calls = Locked(0)
        exporter.addMetrics(every: .seconds(30)) {
            Data("metrics \(calls.withLock { count in count += 1; return count })".utf8)
        }
        for count in 1...2 {
            try await clock.waitForSleepers(1)
            clock.advance(by: .seconds(30))
            _ = try await mock.waitForRequests(count)
        }
        try await clock.waitForSleepers(1)
        #expect(await exporter.flush())
        let sent = mock.requests
        #expect(sent.map { String(decoding: $0.body, as: UTF8.self) } == ["metrics 1", "metrics 2", "metrics 3"])
        #expect(Set(sent.map(\.path)) == ["/v1/metrics"])
        #expect(losses.withLock { $0.map(\.description) } == ["metrics: 4 points rejected: "])
        await exporter.shutdown()
        #expect(mock.requests.count == 4)
        try await yieldUntil { clock.sleeperCount == 0 }
        exporter.addMetrics { Data() }
        try await yieldUntil { clock.sleeperCount == 0 }
        #expect(mock.requests.count == 4)
    }

    @Test("an exporter that is released stops its metrics")
    func release() async throws {
        weak var released: OTLPExporter?
        do {
            let exporter = exporter(Self.answering())
            exporter.addMetrics { Data() }
            try await clock.waitForSleepers(1)
            released = exporter
        }
        try await yieldUntil { clock.sleeperCount == 0 }
        #expect(released == nil)
    }

    @Test("the requests of the exporter are not traced, even over a traced transport")
    func noLoop() async throws {
        let mock = Self.answering()
        let exporter = exporter(mock)
        let client = APIClient(
            baseURL: "https://api.test", pipeline: [.tracing(to: exporter)], transport: mock,
            configuration: APIClient.Configuration(time: clock))
        try await TraceContext.with(TraceContext(traceparent: Tracing.parent)) { try await client.send(.get("/x")) }
        #expect(await exporter.flush())
        #expect(await exporter.flush())
        #expect(mock.requests.map(\.path) == ["/x", "/v1/traces"])
        #expect(mock.requests[1].request.headers["traceparent"] == nil && Self.count(mock.requests[1]) == 2)
    }

    @Test("spans from many threads are all sent, once")
    func concurrent() async throws {
        let mock = Self.answering()
        let exporter = exporter(mock) { $0.queueLimit = 10_000 }
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<20 {
                group.addTask { for number in 0..<100 { exporter.export(Self.span(task * 100 + number)) } }
            }
        }
        #expect(await exporter.flush())
        #expect(mock.requests.map(Self.count).reduce(0, +) == 2000 && exporter.statistics.accepted == 2000)
        #expect(mock.requests.map(Self.count).allSatisfy { $0 <= 512 })
    }
}
