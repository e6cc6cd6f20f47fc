// SPDX-License-Identifier: MIT

import TestServers
import Testing

@testable import CurlewObservability

/// Bounds of the registry, and hostile names in all outputs.
@Suite(.timeLimit(.minutes(2)))
struct MetricsLimitTests {
    private static let transport = MockTransport { $0.onAny { _ in .text("x") } }

    private func client(_ metrics: MetricsRegistry) -> APIClient {
        APIClient.testing(Self.transport, baseURL: "https://api.test", observers: [metrics])
    }

    @Test("Beyond the limit, everything is in the series other, and no value is lost")
    func overflow() async throws {
        let metrics = MetricsRegistry(limit: 5)
        let client = client(metrics)
        for number in 0..<50 { try await client.send(Request<Data>.get("/", name: "route \(number)")) }
        let snapshot = metrics.snapshot()
        for name in ["http.client.request.duration", "curlew.client.call.duration"] {
            let points = try #require(snapshot.metric(name)).points
            #expect(points.count == 6)
            #expect(points.reduce(0) { $0 + ($1.histogram?.count ?? 0) } == 50)
            let other = try #require(points.first { $0.isOverflow })
            #expect(other.text(of: "curlew.route") == "other" && other.histogram?.count == 45)
        }
    }

    @Test("The number of statuses that a server may create is bounded too")
    func statuses() async throws {
        let metrics = MetricsRegistry(limit: 5)
        let transport = ClosureTransport(changesPrincipal: false) { _, context in
            HTTPResponse(status: HTTPStatus(200 + Int(context.id % 90)))
        }
        let client = APIClient.testing(transport, baseURL: "https://api.test", observers: [metrics])
        for _ in 0..<60 { try await client.send(Request<HTTPResponse>(.get, "/", name: "one")) }
        let points = try #require(metrics.snapshot().metric("http.client.request.duration")).points
        #expect(points.count <= 6)
        #expect(points.reduce(0) { $0 + ($1.histogram?.count ?? 0) } == 60)
    }

    @Test("Events and retries beyond the limit are counted separately")
    func otherNotes() throws {
        var table = MetricsTable(limit: 1, durations: .init(bounds: []))
        table.count(.init(kind: .event, name: "a", route: "r"))
        for _ in 0..<2 { table.count(.init(kind: .event, name: "b", route: "r")) }
        for _ in 0..<3 { table.count(.init(kind: .retry, name: "c", route: "r")) }
        let totals = ["curlew.client.events", "curlew.client.retries"].map { name in
            table.metrics.first { $0.name == name }?.points.compactMap(\.number).reduce(0, +)
        }
        #expect(totals == [3, 3])
    }

    @Test("Labels are clipped")
    func clipped() async throws {
        let metrics = MetricsRegistry()
        let name = "e" + String(repeating: "\u{301}", count: 10_000)
        try await client(metrics).send(Request<Data>.get("/", name: name))
        let point = try #require(metrics.snapshot().metric("curlew.client.call.duration")?.points.first)
        #expect(try #require(point.text(of: "curlew.route")).utf8.count <= 110)
    }

    static let hostile = [
        "quote \" end", "quote and mark \"\u{301} end", "line\nfeed", "return\r\nfeed", "back\\slash\\n", "{a=\"b\"} 1",
        "nul\u{0}", "\u{2028}\u{85}", "tab\t", "emoji 👩‍👩‍👧", "# HELP x y", "\\", "\"", "",
    ]

    @Test("Hostile names reach an independent parser of Prometheus unchanged, in both formats")
    func prometheus() async throws {
        guard Self.has("prometheus_client") else { return }
        let snapshot = try await Self.snapshot()
        for (format, module) in [
            (MetricsRegistry.Snapshot.PrometheusFormat.text, "prometheus_client.parser"),
            (.openMetrics, "prometheus_client.openmetrics.parser"),
        ] {
            let script = """
                import sys, json
                from \(module) import text_string_to_metric_families as parse
                text = sys.stdin.buffer.read().decode("utf-8")
                families = list(parse(text))
                print(json.dumps([[s.name, s.labels, s.value] for f in families for s in f.samples]))
                """
            let text = snapshot.prometheusText(format)
            let output = try await Self.python(script, Data(text.utf8))
            let samples = try #require(try JSONSerialization.jsonObject(with: output) as? [[Any]])
            var routes: Set<String> = []
            for sample in samples where sample.first as? String == "http_client_request_duration_seconds_count" {
                let labels = try #require(sample[1] as? [String: String])
                #expect(labels["server_address"] == "api.test" && labels["server_port"] == "443")
                #expect(sample[2] as? Double == 1)
                routes.insert(labels["curlew_route"] ?? "")
            }
            #expect(routes == Set(Self.hostile.map(Self.asLabel)), "\(format)")
            let names = Set(samples.compactMap { $0.first as? String })
            #expect(names.contains("curlew_client_request_sent_bytes_total") || !text.contains("sent_bytes"))
            #expect(names.contains("curlew_client_active_calls"))
        }
    }

    /// Carriage returns become spaces.
    private static func asLabel(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == "\r" ? " " : $0 }))
    }

    @Test("Secrets of paths, queries, fields and bodies are in no output")
    func secrets() async throws {
        let metrics = MetricsRegistry()
        let client = client(metrics)
        var request = Request<Data>("POST", "/s3cret-path", body: .text("s3cret-body"), name: "send") { _, _ in Data() }
        request.query = ["token": "s3cret-query"]
        request.headers[.authorization] = "Bearer s3cret-field"
        try await client.send(request)
        let snapshot = metrics.snapshot()
        let outputs = [
            snapshot.prometheusText(), snapshot.prometheusText(.openMetrics), "\(snapshot)",
        ]
        for output in outputs { #expect(output.contains("send") && !output.contains("s3cret")) }
    }

    @Test("An unknown method is _OTHER, and two snapshots of equal calls have equal text")
    func stable() async throws {
        let metrics = MetricsRegistry()
        let other = MetricsRegistry()
        for (registry, names) in [(metrics, ["b", "a", "c"]), (other, ["c", "b", "a"])] {
            let client = client(registry)
            for name in names { try await client.send(Request<Data>("PURGE", "/", name: name) { _, _ in Data() }) }
        }
        let counts = [metrics, other].map { registry in
            registry.snapshot().prometheusText().split(separator: "\n").filter { $0.contains("_count{") }
        }
        #expect(counts[0] == counts[1] && counts[0].count >= 6)
        #expect(counts[0].allSatisfy { $0.contains("http_request_method=\"_OTHER\"") })
    }

    private static func snapshot() async throws -> MetricsRegistry.Snapshot {
        let metrics = MetricsRegistry()
        let client = MetricsLimitTests().client(metrics)
        for name in hostile { try await client.send(Request<Data>.get("/", name: name)) }
        return metrics.snapshot()
    }

    private static func has(_ module: String) -> Bool {
        do {
            try Program.run(Program.python(), ["-c", "import \(module)"])
            return true
        } catch {
            print("MetricsLimitTests: skipped, because Python's \(module) is missing (Scripts/setup installs it)")
            return false
        }
    }

    private static func python(_ script: String, _ input: Data) async throws -> Data {
        try await onThread {
            let folder = try TemporaryFolder()
            let script = script.replacingOccurrences(of: "sys.stdin.buffer", with: "open(sys.argv[1], 'rb')")
            return try Program.run(Program.python(), ["-c", script, folder.file("input", input)])
        }
    }
}
