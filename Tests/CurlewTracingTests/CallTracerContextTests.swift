// SPDX-License-Identifier: MIT

import CurlewAuthentication
import CurlewTracing
import Testing

@testable import CurlewCore

/// Where contexts come from and go to, and when spans end.
@Suite(.timeLimit(.minutes(1)))
struct CallTracerContextTests {
    private let spans = MemorySpanExporter()

    private func client(_ options: CallTracer.Options = CallTracer.Options(), _ pipeline: Pipeline = []) -> APIClient {
        Tracing.client(spans, pipeline: pipeline, options: options) { $0.onAny { _ in .status(204) } }
    }

    @Test("§3.4: a received context continues with a new parent-id, its flags and tracestate")
    func continued() async throws {
        let parent = try #require(TraceContext(traceparent: Tracing.parent, tracestate: ["congo=t61rcWkgMzE"]))
        let client = client()
        try await TraceContext.with(parent) { try await client.send(.get("/")) }
        #expect(TraceContext.current == nil)
        let call = try #require(spans.calls.first)
        #expect(call.parent == parent.spanID && call.context.traceID == parent.traceID)
        let sent = try #require(client.recordedCalls.first)
        #expect(sent.sentContext?.traceID == parent.traceID && sent.sentContext?.spanID != parent.spanID)
        #expect(sent.sentContext?.flags == .sampled, "only a new trace is declared as random")
        #expect(sent.request.headers["tracestate"] == "congo=t61rcWkgMzE", "§3.5: it is sent unchanged")
    }

    @Test("A context on the request is continued, once, before those of the closure and the task")
    func precedence() async throws {
        let ids = (1...3).compactMap {
            TraceContext(traceparent: "00-\(TraceParentTests.trace)-000000000000000\($0)-01")
        }
        let client = client(CallTracer.Options(parent: { ids[1] }))
        try await TraceContext.with(ids[2]) {
            try await client.send(Request<Void>.get("/").header("TraceParent", ids[0].traceparent))
            try await client.send(.get("/"))
            try await client.send(Request<Void>.get("/").header("traceparent", "invalid"))
        }
        #expect(spans.calls.map(\.parent) == [ids[0].spanID, ids[1].spanID, ids[1].spanID])
        for call in client.recordedCalls {
            #expect(call.request.headers[values: "Traceparent"].count == 1)
        }
        #expect(client.recordedCalls.map(\.sentContext) == spans.requests.map(\.context))
        let without = self.client(CallTracer.Options(parent: { nil }))
        try await TraceContext.with(ids[2]) { try await without.send(.get("/")) }
        #expect(spans.calls.last?.parent == ids[2].spanID)
    }

    @Test("§3.4: an invalid context on the request starts a new trace without its tracestate")
    func restart() async throws {
        let client = client()
        try await client.send(
            Request<Void>.get("/").header("traceparent", "00-zz").header("tracestate", "a=1"))
        let sent = try #require(client.recordedCalls.first)
        #expect(sent.sentContext == spans.requests.first?.context)
        #expect(sent.request.headers["tracestate"] == nil && spans.calls.first?.parent == nil)
    }

    @Test("A context that an interceptor sets is continued too")
    func hook() async throws {
        let client = client(
            CallTracer.Options(), [.onRequest { request, _ in request.headers["traceparent"] = Tracing.parent }])
        try await client.send(.get("/"))
        #expect(spans.requests.first?.parent?.description == "00f067aa0ba902b7")
        #expect(client.recordedCalls.first?.sentContext == spans.requests.first?.context)
    }

    @Test("An unsampled parent and a refusing sampler record nothing, and send the flag 00")
    func unsampled() async throws {
        let never = client(CallTracer.Options(sampler: .never))
        try await never.send(.get("/"))
        #expect(never.recordedCalls.first?.sentContext?.isSampled == false)
        let always = client()
        let parent = TraceContext(traceparent: String(Tracing.parent.dropLast()) + "0")
        try await TraceContext.with(parent) { try await always.send(.get("/")) }
        let sent = try #require(always.recordedCalls.first?.request.headers["traceparent"])
        #expect(sent.hasPrefix("00-4bf92f3577b34da6a3ce929d0e0e4736-") && sent.hasSuffix("-00"))
        #expect(!sent.contains("00f067aa0ba902b7"))
        try await TraceContext.with(TraceContext(traceparent: Tracing.parent)) { try await never.send(.get("/")) }
        #expect(spans.spans.count == 2, "a sampled parent is followed, whatever the sampler")
    }

    @Test("The request after a refresh has its own identifier; the refresh is a child of the call")
    func refresh() async throws {
        let clock = ManualClock()
        let store = TokenStore(time: clock)
        try await store.signIn(Tokens(accessToken: "old", refreshToken: "r"))
        let client = Tracing.client(
            spans,
            pipeline: [.bearer(store) { try await $0.client.send(Request<Tokens>.post("/renew").name("Renew")) }],
            configuration: APIClient.Configuration(time: clock)
        ) {
            $0.on(.post, "/renew", .text(#"{"access_token": "new", "refresh_token": "r"}"#))
            $0.onAny { .status($0.request.headers[.authorization] == "Bearer old" ? 401 : 204) }
        }
        let parent = TraceContext(traceparent: Tracing.parent)
        try await TraceContext.with(parent) { try await client.send(Request<Void>.get("/me").name("Me")) }
        let requests = spans.requests.filter { $0.name == "GET Me" }
        #expect(requests.map { $0.text("http.response.status_code") } == ["401", "204"])
        #expect(requests.map(\.relation)[1] != nil && requests[1].links.first?.context == requests[0].context)
        let sent = client.recordedCalls
        #expect(sent.filter { $0.path == "/me" }.map(\.sentContext) == requests.map(\.context))
        let renewal = try #require(spans.calls.first { $0.name == "POST Renew" })
        let call = try #require(spans.calls.first { $0.name == "GET Me" })
        #expect(renewal.parent == call.context.spanID && renewal.context.traceID == parent?.traceID)
        #expect(
            spans.requests.contains {
                $0.parent == renewal.context.spanID && $0.text("url.full")?.hasSuffix("/renew") == true
            })
        #expect(sent.filter { $0.path == "/renew" }.map(\.sentContext) == [nil], "it does not pass the interceptor")
        #expect(spans.calls.first { $0.name == "GET Me" }?.events.contains { $0.name == "token.renewed" } == true)
    }

    @Test("Signatures cover the fields")
    func signing() async throws {
        let seen = Locked<String?>(nil)
        let client = client(
            CallTracer.Options(),
            [
                .onRequest(at: .signing) { request, _ in
                    seen.withLock { [headers = request.headers] in $0 = headers["traceparent"] }
                }
            ])
        try await client.send(.get("/"))
        #expect(seen.withLock { $0 } == spans.requests.first?.context.traceparent)
    }

    @Test("The request of a streamed body ends when the body ends, after its call")
    func streamed() async throws {
        let clock = ManualClock()
        let client = Tracing.client(spans, configuration: APIClient.Configuration(time: clock)) {
            $0.onAny { _ in
                HTTPResponse(status: .ok, body: ResponseBody(ChunkSource(["ab", "cd"]), limit: 100, length: nil))
            }
        }
        let count = try await client.withResponse(to: Request<Data>.get("/")) { response in
            clock.advance(by: .seconds(3))
            let open = spans.requests.count
            var bytes = 0
            for try await chunk in response.body { bytes += chunk.count }
            #expect(bytes == 4)
            return open
        }
        #expect(count == 0 && spans.requests.count == 1 && spans.calls.count == 1)
        let request = try #require(spans.requests.first)
        #expect(request.end - request.start == 3_000_000_000)
        #expect(request.events.first { $0.name == "response.head" }?.time == request.start)
    }

    @Test("A body that breaks off makes its request an error, too")
    func broken() async throws {
        let client = Tracing.client(spans) {
            $0.onAny { _ in
                HTTPResponse(
                    status: .ok,
                    body: ResponseBody(
                        ChunkSource(
                            ["ab"], error: NetworkError(.connectionLost(.requestMayHaveArrived), detail: "Cut.")),
                        limit: 100, length: nil))
            }
        }
        _ = try? await client.send(Request<String>.get("/"))
        let request = try #require(spans.requests.first)
        #expect(request.text("http.response.status_code") == "200")
        #expect(request.text("error.type") == "connection_lost" && request.isError)
        #expect(spans.calls.first?.text("error.type") == request.text("error.type"))
    }

    @Test("Calls that never end are bounded, and the oldest are counted as dropped")
    func leaks() async throws {
        var options = CallTracer.Options()
        options.maximumOpen = 3
        let tracer = CallTracer(exporter: spans, options: options)
        let client = APIClient.mock(pipeline: [.tracing(tracer)]) {
            $0.on(
                .get, "/stuck",
                { _ in
                    try await ManualClock().sleep(for: .seconds(1))
                    return .status(204)
                })
            $0.on(.get, "/ok", .status(204))
        }
        let stuck = (0..<5).map { _ in Task { try await client.send(.get("/stuck")) } }
        _ = try await (client.transport as? MockTransport)?.waitForRequests(5)
        #expect(tracer.statistics == CallTracer.Statistics(ended: 0, dropped: 4, open: 6))
        for _ in 0..<500 { try await client.send(.get("/ok")) }
        let statistics = tracer.statistics
        #expect(statistics.ended == 1000 && statistics.open == 4 && statistics.dropped == 6, "\(statistics)")
        for task in stuck {
            task.cancel()
            _ = await task.result
        }
        #expect(tracer.statistics.open == 0)
    }

    @Test("A preview has no context")
    func silence() async throws {
        #expect(try await self.client().preview(Request<Void>.get("/")).headers["traceparent"] == nil)
    }

    @Test("The version, the peer and the user agent are attributes where they are known")
    func metrics() async throws {
        let client = Tracing.client(spans, options: CallTracer.Options(recordsUserAgent: true)) {
            $0.onAny { call in
                var response = HTTPResponse(status: .ok)
                response.metrics.version = call.path == "/1" ? .http1_1 : .http2
                response.metrics.remoteAddress = call.path == "/1" ? "192.0.2.1:8080" : "[2001:db8::7]:443"
                return response
            }
        }
        for path in ["/1", "/2"] { try await client.send(Request<Void>(.get, RequestPath(path))) }
        #expect(spans.requests.map { $0.text("network.protocol.version") } == ["1.1", "2"])
        #expect(spans.requests.map { $0.text("network.peer.address") } == ["192.0.2.1", "2001:db8::7"])
        #expect(spans.requests.map { $0.text("network.peer.port") } == ["8080", "443"])
        #expect(spans.requests.first?.text("user_agent.original") == "Curlew/0.1")
    }

    @Test("A pipeline has one tracing, after authentication and before signing")
    func placement() {
        let client = client(CallTracer.Options(sampler: .ratio(0.5)), [.basic(user: "a", password: "b")])
        #expect("\(client.pipeline)".hasSuffix("Tracing(ratio 0.5) → transport"))
        let twice = client.pipeline.adding(.tracing(to: spans))
        #expect(twice.problems().contains { $0.contains("2 tracings") })
    }
}
