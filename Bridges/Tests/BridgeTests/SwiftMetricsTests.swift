// SPDX-License-Identifier: MIT

import CoreMetrics
import Curlew
import CurlewTesting
import SwiftMetricsBridge
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1)))
struct SwiftMetricsTests {
    /// One instrument with its dimensions: what it has recorded.
    private final class Instrument: CounterHandler, FloatingPointCounterHandler, MeterHandler, RecorderHandler,
        TimerHandler
    {
        let label: String
        let dimensions: [String: String]
        let kind: String
        let recorded = Recorded<Int64>()

        init(_ kind: String, _ label: String, _ dimensions: [(String, String)]) {
            self.kind = kind
            self.label = label
            self.dimensions = Dictionary(uniqueKeysWithValues: dimensions)
        }

        /// The dimensions that apply.
        var attributes: [String: String] { dimensions.filter { !$0.value.isEmpty } }

        func increment(by amount: Int64) { recorded.append(amount) }
        func increment(by amount: Double) { Issue.record("The amount \(amount) is no integer.") }
        func decrement(by amount: Double) { Issue.record("The amount \(amount) is no integer.") }
        func reset() { Issue.record("\(label) was reset.") }
        func set(_ value: Int64) { recorded.append(value) }
        func set(_ value: Double) { Issue.record("The value \(value) is no integer.") }
        func record(_ value: Int64) { recorded.append(value) }
        func record(_ value: Double) { Issue.record("The value \(value) is no integer.") }
        func recordNanoseconds(_ duration: Int64) { recorded.append(duration) }
    }

    private struct Factory: MetricsFactory {
        let made = Recorded<Instrument>()

        func instruments(_ label: String) -> [Instrument] { made.values.filter { $0.label == label } }

        private func make(_ kind: String, _ label: String, _ dimensions: [(String, String)]) -> Instrument {
            let instrument = Instrument(kind, label, dimensions)
            made.append(instrument)
            return instrument
        }

        func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
            make("counter", label, dimensions)
        }
        func makeFloatingPointCounter(
            label: String, dimensions: [(String, String)]
        ) -> any FloatingPointCounterHandler {
            make("floating", label, dimensions)
        }
        func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
            make("meter", label, dimensions)
        }
        func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
            make("recorder", label, dimensions)
        }
        func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
            make("timer", label, dimensions)
        }
        func destroyCounter(_ handler: any CounterHandler) {}
        func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
        func destroyMeter(_ handler: any MeterHandler) {}
        func destroyRecorder(_ handler: any RecorderHandler) {}
        func destroyTimer(_ handler: any TimerHandler) {}
    }

    private let factory = Factory()

    /// Calls of every kind: fresh and existing connections, retries, a redirect, failures, a call that is not sent.
    private func makeCalls(_ client: APIClient, _ server: MockServer) async {
        server.on(.get, "/films/1", respond: .text("film"))
        server.on(.get, "/moved", respond: .redirect(to: "/films/1"))
        server.on(.get, "/missing", respond: .status(.notFound))
        server.on(.get, "/lost", respond: .closeBeforeReply)
        server.enqueue(.status(503))
        for path in ["/films/1", "/films/1", "/moved", "/missing", "/lost"] {
            _ = try? await client.send(Request<String>.get(RequestPath(path), name: "film"))
        }
        _ = try? await client.send(Request<Void>("PURGE", "/films/1", name: ""))
        _ = try? await client.send(Request<String>.get("/films/../1", name: "unsent"))
    }

    @Test("The instruments have the names, attributes and values of the registry")
    func likeTheRegistry() async throws {
        let server = try MockServer()
        defer { server.stop() }
        let registry = MetricsRegistry()
        let client = APIClient(
            baseURL: try BaseURL(server.url), pipeline: .standard,
            configuration: APIClient.Configuration(
                observers: [registry, SwiftMetricsObserver(factory: factory)], time: ManualClock.skippingWaits))
        await makeCalls(client, server)

        var compared = 0
        for metric in registry.snapshot().metrics where metric.name != "curlew.client.response.body.size" {
            let instruments = factory.instruments(metric.name)
            let points = metric.points.filter { $0.histogram != nil || $0.number != 0 || !instruments.isEmpty }
            #expect(instruments.count == points.count, "\(metric.name)")
            for point in points {
                var attributes = Dictionary(uniqueKeysWithValues: point.attributes.map { ($0.name, $0.text) })
                // Observers do not know the method of a request that could not be built.
                if attributes["curlew.route"] == "unsent" { attributes["http.request.method"] = nil }
                let instrument = try #require(
                    instruments.first { $0.attributes == attributes }, "\(metric.name) \(attributes)")
                let values = instrument.recorded.values
                if let histogram = point.histogram {
                    #expect(instrument.kind == (metric.unit == "s" ? "timer" : "recorder"))
                    #expect(values.count == Int(histogram.count))
                    let sum = Double(values.reduce(0, +)) / (metric.unit == "s" ? 1e9 : 1)
                    #expect(abs(sum - histogram.sum) < 1e-6)
                } else if metric.kind == .counter {
                    #expect(instrument.kind == "counter")
                    #expect(values.reduce(0, +) == point.number)
                } else {
                    #expect(instrument.kind == "meter")
                    #expect(values.last == point.number)
                }
                compared += 1
            }
        }
        #expect(compared > 20)
    }

    @Test("An instrument has the same dimensions every time")
    func dimensions() async throws {
        let server = try MockServer()
        defer { server.stop() }
        let client = APIClient(
            baseURL: try BaseURL(server.url), pipeline: .standard,
            configuration: APIClient.Configuration(
                observers: [SwiftMetricsObserver(factory: factory)], time: ManualClock.skippingWaits))
        await makeCalls(client, server)
        let labels = Dictionary(grouping: factory.made.values, by: \.label)
        #expect(labels.count > 8)
        for (label, instruments) in labels {
            #expect(Set(instruments.map { $0.dimensions.keys.sorted() }).count == 1, "\(label)")
        }
    }

    @Test("Values beyond the limit of combinations have the dimensions `other`")
    func limit() async throws {
        let client = APIClient.mock(
            .answering { _ in .text("done") },
            configuration: APIClient.Configuration(observers: [SwiftMetricsObserver(factory: factory, limit: 3)]))
        for number in 1...9 { _ = try await client.send(Request<String>.get("/", name: "route\(number)")) }
        let timers = factory.instruments("curlew.client.call.duration")
        #expect(timers.map { $0.dimensions["curlew.route"] } == ["route1", "route2", "route3", "other"])
        #expect(timers.last?.recorded.values.count == 6)
    }

    @Test("Active calls go up and down")
    func activeCalls() async throws {
        let client = APIClient.mock(
            .answering { _ in .text("done") },
            configuration: APIClient.Configuration(observers: [SwiftMetricsObserver(factory: factory)]))
        _ = try await client.send(Request<String>.get("/"))
        #expect(factory.instruments("curlew.client.active_calls").first?.recorded.values == [1, 0])
    }
}
