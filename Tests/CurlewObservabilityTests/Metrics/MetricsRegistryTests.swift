// SPDX-License-Identifier: MIT

import CurlewCaching
import CurlewObservability
import CurlewResilience
import Testing

@Suite(.timeLimit(.minutes(1)))
struct MetricsRegistryTests {
    private let metrics = MetricsRegistry()

    private func client(
        _ pipeline: Pipeline = .empty, _ transport: any Transport = MockTransport { $0.onAny { _ in .text("hello") } }
    ) -> APIClient {
        APIClient.testing(transport, baseURL: "https://api.test", pipeline: pipeline, observers: [metrics])
    }

    private func points(_ name: String) throws -> [MetricsRegistry.Point] {
        try #require(metrics.snapshot().metric(name)).points
    }

    private func count(_ name: String, _ attribute: String, _ value: String) throws -> UInt64 {
        try points(name).filter { $0.text(of: attribute) == value }
            .reduce(0) { $0 + ($1.histogram?.count ?? UInt64($1.number ?? 0)) }
    }

    @Test("A call has the attributes of the stable conventions")
    func attributes() async throws {
        let client = client()
        let request = Request<Data>.get("/users/7", query: ["token": "secret"], name: "user")
        for _ in 0..<3 { try await client.send(request) }
        let point = try #require(try points("http.client.request.duration").first)
        let texts = point.attributes.map { "\($0.name)=\($0.text)" }
        #expect(
            texts.filter { $0 != "network.protocol.version=1.1" } == [
                "curlew.route=user", "http.request.method=GET", "http.response.status_code=200",
                "server.address=api.test", "server.port=443", "url.scheme=https",
            ])
        #expect(point.histogram?.count == 3)
        #expect(try points("curlew.client.call.duration").first?.histogram?.count == 3)
        #expect(try points("curlew.client.active_calls").first?.number == 0)
        #expect(try points("curlew.client.call.requests").first?.histogram?.sum == 3)
        #expect(try points("curlew.client.response.body.size").first?.histogram?.maximum == 5)
        #expect(metrics.snapshot().metrics == metrics.snapshot().metrics)
    }

    @Test("Failures have stable names, and a status from 400 on is its own error")
    func failures() async throws {
        let transport = MockTransport {
            $0.on(.get, "/missing") { _ in HTTPResponse(status: .notFound) }
            $0.onAny { _ in throw NetworkError(.timedOut(.firstByte)) }
        }
        let client = client(.empty, transport)
        _ = try? await client.send(Request<Void>.get("/missing", name: "missing"))
        _ = try? await client.send(Request<Void>.get("/slow", name: "slow"))
        for name in ["http.client.request.duration", "curlew.client.call.duration"] {
            #expect(try count(name, "error.type", "404") == 1)
            #expect(try count(name, "error.type", "timed_out_first_byte") == 1)
        }
        let missing = try points("curlew.client.call.duration").first { $0.text(of: "curlew.route") == "missing" }
        #expect(missing?.text(of: "http.response.status_code") == "404")
    }

    @Test("A call whose request cannot be built is counted, and does not change the active calls")
    func unsent() async throws {
        _ = try? await client().send(Request<Void>.get("/\("..")", name: "bad"))
        #expect(try count("curlew.client.call.duration", "error.type", "invalid_request") == 1)
        #expect(try points("http.client.request.duration").isEmpty)
        #expect(try points("curlew.client.active_calls").first?.number == 0)
    }

    @Test("Retries are counted with their cause, and so are the requests per call")
    func retries() async throws {
        let transport = ClosureTransport(changesPrincipal: false) { _, context in
            HTTPResponse(status: context.attempt == 1 ? .serviceUnavailable : .ok)
        }
        try await client([.retry(.attempts(2))], transport).send(Request<Void>.get("/", name: "again"))
        #expect(try points("curlew.client.call.requests").first?.histogram?.maximum == 2)
        #expect(try count("http.client.request.duration", "http.response.status_code", "503") == 1)
        #expect(try count("http.client.request.duration", "http.response.status_code", "200") == 1)
        #expect(try points("curlew.client.retries").first?.number == 1)
    }

    @Test("Cached responses are calls without requests")
    func cached() async throws {
        let transport = MockTransport {
            $0.onAny { _ in
                HTTPResponse(headers: [.cacheControl: "max-age=60"], body: ResponseBody(Data("x".utf8)))
            }
        }
        let client = client([.caching()], transport)
        for _ in 0..<3 { try await client.send(Request<Data>.get("/", name: "kept")) }
        #expect(try count("http.client.request.duration", "curlew.route", "kept") == 1)
        #expect(try count("curlew.client.call.duration", "curlew.route", "kept") == 3)
        #expect(try count("curlew.client.events", "curlew.event", "cache.fresh") == 2)
        #expect(try count("curlew.client.events", "curlew.event", "cache.network") == 1)
    }

    @Test("Coalesced calls share one request")
    func coalesced() async throws {
        let (gate, opening) = AsyncStream.makeStream(of: Void.self)
        let transport = ClosureTransport(changesPrincipal: false) { _, _ in
            for await _ in gate {}
            return .text("shared")
        }
        let client = client([.coalescing()], transport)
        async let first = client.send(Request<Data>.get("/", name: "shared"))
        async let second = client.send(Request<Data>.get("/", name: "shared"))
        try await yieldUntil { (try? count("curlew.client.events", "curlew.event", "call.joined")) == 1 }
        #expect(try points("curlew.client.active_calls").first?.number == 2)
        opening.finish()
        _ = try await (first, second)
        #expect(try count("http.client.request.duration", "curlew.route", "shared") == 1)
        #expect(try count("curlew.client.call.duration", "curlew.route", "shared") == 2)
        #expect(try points("curlew.client.active_calls").first?.number == 0)
    }

    @Test("Both requests of a hedged attempt are counted, the slower one as cancelled")
    func hedged() async throws {
        let (never, continuation) = AsyncStream.makeStream(of: Void.self)
        defer { continuation.finish() }
        let transport = ClosureTransport(changesPrincipal: false) { _, context in
            if context.requestNumber == 1 {
                // Ends when the request is cancelled.
                for await _ in never {}
                try Task.checkCancellation()
            }
            return .text("second")
        }
        let pipeline: Pipeline = [.hedging(after: .milliseconds(1), budget: RetryBudget())]
        try await client(pipeline, transport).send(Request<Data>.get("/", name: "hedged"))
        try await yieldUntil { (try? count("http.client.request.duration", "curlew.route", "hedged")) == 2 }
        #expect(try count("http.client.request.duration", "error.type", "cancelled") == 1)
        #expect(try points("curlew.client.call.requests").first?.histogram?.maximum == 2)
    }

    @Test("A streamed body is measured when it ends, after the call has its response")
    func streamed() async throws {
        let transport = MockTransport {
            $0.onAny { _ in
                let stream = AsyncStream { continuation in
                    continuation.yield(Data("part".utf8))
                    continuation.finish()
                }
                return HTTPResponse(body: ResponseBody(stream))
            }
        }
        let registry = metrics
        try await client(.empty, transport).withResponse(to: Request<HTTPResponse>(.get, "/", name: "stream")) {
            #expect(registry.snapshot().metric("http.client.request.duration")?.points.isEmpty == true)
            for try await _ in $0.body {}
        }
        #expect(try count("http.client.request.duration", "curlew.route", "stream") == 1)
        #expect(try count("curlew.client.call.duration", "curlew.route", "stream") == 1)
    }

    @Test("Totals are equal after concurrent recording by many clients")
    func concurrent() async throws {
        let clients = (0..<4).map { _ in client() }
        await withTaskGroup { group in
            for number in 0..<400 {
                group.addTask {
                    _ = try? await clients[number % 4].send(Request<Data>.get("/", name: "route\(number % 7)"))
                }
            }
        }
        let total = try points("http.client.request.duration").reduce(0) { $0 + ($1.histogram?.count ?? 0) }
        let calls = try points("curlew.client.call.duration").reduce(0) { $0 + ($1.histogram?.count ?? 0) }
        #expect(total == 400 && calls == 400)
        #expect(try points("http.client.request.duration").count == 7)
        #expect(try points("curlew.client.active_calls").first?.number == 0)
    }

    @Test("Metrics receive only the events that they count, and a queue beside them receives all")
    func besideAQueue() async throws {
        let names = Names()
        let client = APIClient.testing(
            MockTransport { $0.onAny { _ in .text("x") } }, baseURL: "https://api.test", observers: [metrics, names])
        try await client.send(Request<Data>.get("/"))
        #expect(names.all.withLock { $0 } == ["began", "sent", "answered", "measured", "succeeded"])
        #expect(try points("curlew.client.call.duration").first?.histogram?.count == 1)
    }

    private final class Names: RequestObserver {
        let all = Locked<[String]>([])

        func record(_ event: ExchangeEvent, in context: ExchangeContext) {
            let name = "\(event)".prefix { $0 != "(" }
            all.withLock { $0.append(String(name)) }
        }
    }
}
