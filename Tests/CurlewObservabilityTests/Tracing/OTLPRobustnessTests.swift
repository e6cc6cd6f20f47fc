// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewTesting
import Foundation
import TestFixtures
import Testing

@testable import CurlewObservability

/// An exporter against collectors and proxies that respond in unusual ways.
@Suite(.timeLimit(.minutes(1)))
struct OTLPRobustnessTests {
    private let losses = Locked<[OTLPExporter.Loss]>([])

    private func exporter(
        _ mock: MockTransport, time: any TimeSource = ManualClock.skippingWaits, random: Double = 0.5,
        change: (inout OTLPExporter.Options) -> Void = { _ in }
    ) -> OTLPExporter {
        let losses = losses
        var options = OTLPExporter.Options(onLoss: { loss in losses.withLock { $0.append(loss) } })
        change(&options)
        return OTLPExporter(
            "http://collector.test:4318", service: "films", transport: mock, options: options, time: time,
            random: { random })
    }

    private static func span(_ number: UInt64) -> TraceSpan {
        TraceSpan(
            "GET", kind: .client,
            context: TraceContext(traceID: .random { number + 1 }, spanID: .random { number + 1 }),
            start: 1)
    }

    @Test("the status alone decides about a repetition: the page of a proxy may be long, or may break off")
    func longPage() async throws {
        let count = Locked(0)
        let mock = MockTransport.answering { _ in
            switch count.withLock({ count in
                count += 1; return count
            }) {
            case 1:
                return HTTPResponse(status: 503, body: ResponseBody(Data(repeating: 0x41, count: 200_000)))
            case 2:
                let lost = NetworkError(.badResponse, detail: "The body is malformed.")
                return HTTPResponse(
                    status: 502, body: ResponseBody(ChunkSource(["<html>"], error: lost), limit: 100, length: nil))
            default: return .json(text: "{}")
            }
        }
        let exporter = exporter(mock)
        exporter.export(Self.span(1))
        #expect(await exporter.flush())
        #expect(exporter.statistics.accepted == 1 && exporter.statistics.retries == 2, "\(exporter.statistics)")
        #expect(losses.withLock { $0.isEmpty })
    }

    @Test(
        "the number of rejected spans counts, whatever else the response contains",
        arguments: [
            #"{"partialSuccess":{"rejectedSpans":"2","errorMessage":null}}"#,
            #"{"partialSuccess":{"rejectedSpans":2,"errorMessage":7}}"#,
            #"{"partialSuccess":{"rejectedSpans":2.0,"errorMessage":{"a":1}},"more":[]}"#,
            #"{"partialSuccess":{"errorMessage":[],"rejectedDataPoints":{},"rejectedSpans":"2"}}"#,
        ])
    func partialSuccess(text: String) async throws {
        let exporter = exporter(.answering { _ in .json(text: text) })
        for number in UInt64(0)..<3 { exporter.export(Self.span(number)) }
        #expect(await exporter.flush())
        #expect(exporter.statistics.rejected == 2 && exporter.statistics.accepted == 1, "\(exporter.statistics)")
    }

    @Test(
        "a number of rejected spans that makes no sense does no harm",
        arguments: ["-1", "1e30", #""9999999999999999999999""#, "true", "[]", "{}", "null", #""""#])
    func oddCount(text: String) async throws {
        let exporter = exporter(.answering { _ in .json(text: #"{"partialSuccess":{"rejectedSpans":\#(text)}}"#) })
        for number in UInt64(0)..<3 { exporter.export(Self.span(number)) }
        #expect(await exporter.flush())
        let statistics = exporter.statistics
        #expect(statistics.rejected + statistics.accepted == 3 && statistics.rejected >= 0, "\(statistics)")
    }

    @Test("a random source may return any number", arguments: [Double.nan, -.infinity, .infinity, -1, 2])
    func random(value: Double) async throws {
        let count = Locked(0)
        let exporter = exporter(
            .answering { _ in
                count.withLock {
                    $0 += 1; return $0
                } < 3 ? .status(503) : .json(text: "{}")
            },
            random: value)
        exporter.export(Self.span(1))
        #expect(await exporter.flush())
        #expect(exporter.statistics.accepted == 1)
    }

    @Test("a flush ends when the spans that waited are sent, although others arrive all the time")
    func busyFlush() async throws {
        let box = Locked<OTLPExporter?>(nil)
        let stop = Locked(false)
        // Each request makes two more spans, so the queue is never empty.
        let mock = MockTransport.answering { call in
            if !stop.withLock({ $0 }) {
                for number in 0..<2 { box.withLock { $0 }?.export(Self.span(UInt64(number))) }
            }
            return .json(text: "{}")
        }
        let exporter = exporter(mock, time: SystemTime()) { $0.interval = .milliseconds(1) }
        box.withLock { $0 = exporter }
        exporter.export(Self.span(1))
        let flushed = await exporter.flush(until: Deadline(.seconds(50), after: SystemTime().now))
        stop.withLock { $0 = true }
        box.withLock { $0 = nil }
        #expect(flushed, "\(exporter.statistics)")
        #expect(exporter.statistics.requests < 1000, "\(exporter.statistics)")
    }

    @Test(
        "the cause of a loss shows no field of the request, although the collector repeats it",
        arguments: ["collector-key-1", "REDACTED"])
    func echo(key: String) async throws {
        let mock = MockTransport.answering { call in
            let key = call.request.headers["X-Team"] ?? ""
            return .json(
                text:
                    #"{"partialSuccess":{"rejectedSpans":1,"errorMessage":"team \#(key) and token=hunter2 are unknown"}}"#
            )
        }
        let exporter = exporter(mock) { $0.headers = ["X-Team": key] }
        exporter.export(Self.span(1))
        #expect(await exporter.flush())
        #expect(
            losses.withLock { $0.map(\.cause) } == ["rejected: team REDACTED and token=REDACTED are unknown"])
    }

    @Test("every text is valid JSON: controls, quotes, marks of direction, and the ends of the Unicode range")
    func texts() throws {
        var random = SeededGenerator(seed: 24)
        for _ in 0..<200 {
            var scalars = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...20, using: &random) {
                let pool: [ClosedRange<UInt32>] = [
                    0...0x2F, 0x5C...0x7F, 0x80...0x9F, 0x2028...0x202E, 0xFFF0...0xFFFF, 0x10FFFE...0x10FFFF,
                ]
                let range = pool.randomElement(using: &random) ?? 0...0
                if let scalar = Unicode.Scalar(UInt32.random(in: range, using: &random)) { scalars.append(scalar) }
            }
            let text = String(scalars)
            var span = Self.span(1)
            span.name = text
            span[text] = .string(text)
            span.status = .error(message: text + "x")
            let data = OTLPTraceWriter.body([span], resource: [.init(text, .string(text))])
            let json = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
            let resource = ((json["resourceSpans"] as? [[String: Any]])?.first?["resource"] as? [String: Any])
            let first = (resource?["attributes"] as? [[String: Any]])?.first
            #expect((first?["key"] as? String)?.unicodeScalars.elementsEqual(text.unicodeScalars) == true)
        }
    }
}
