// SPDX-License-Identifier: MIT

import CurlewCaching
import CurlewResilience
import CurlewTracing
import Testing

@Suite(.timeLimit(.minutes(1)))
struct CallTracerTests {
    private let spans = MemorySpanExporter()

    @Test("A call is a span, and its request is a child whose identifier is sent")
    func simple() async throws {
        let client = Tracing.client(spans) { $0.on(.get, "/users/:id", .status(204)) }
        try await client.send(Request<Void>.get("/users/7").name("GetUser"))
        let (call, request) = (try #require(spans.calls.first), try #require(spans.requests.first))
        #expect(spans.spans.map(\.kind) == [.client, .internal], "the request ends before its call")
        #expect(call.name == "GET GetUser" && request.name == "GET GetUser")
        #expect(call.parent == nil && request.parent == call.context.spanID)
        #expect(request.context.traceID == call.context.traceID)
        #expect(client.recordedCalls.map(\.sentContext) == [request.context])
        #expect(call.context.flags == [.sampled, .random])
        #expect(request.text("http.request.method") == "GET" && request.text("http.response.status_code") == "204")
        #expect(request.text("url.full") == "https://mock.test/users/7")
        #expect(request.text("server.address") == "mock.test" && request.text("server.port") == "443")
        #expect(request["http.request.resend_count"] == nil && request["error.type"] == nil && !request.isError)
        #expect(request["user_agent.original"] == nil && request.links.isEmpty)
        #expect(call.text("curlew.requests") == "1" && !call.isError)
        #expect(Set(request.attributes.map(\.key)).count == request.attributes.count)
    }

    @Test(
        "4xx and 5xx are errors of the request, by status code; the call fails with its error", arguments: [404, 503])
    func statusErrors(code: Int) async throws {
        let client = Tracing.client(spans) { $0.onAny { _ in .status(HTTPStatus(code)) } }
        _ = try? await client.send(Request<Void>.get("/x"))
        let request = try #require(spans.requests.first)
        #expect(request.status == .error(message: "") && request.text("error.type") == "\(code)")
        #expect(spans.calls.first?.text("error.type") == "\(code)" && spans.calls.first?.isError == true)
        // The caller accepts any status.
        _ = try await client.send(Request<HTTPResponse>(.get, "/x"))
        #expect(spans.calls.last?.status == .unset && spans.requests.last?.isError == true)
    }

    @Test("A failure without a response has a type and a message, and no status code")
    func failure() async throws {
        let client = Tracing.client(spans) {
            $0.fail(with: NetworkError(.unreachable, detail: "No route, token=hunter2."))
        }
        _ = try? await client.send(.get("/x"))
        let request = try #require(spans.requests.first)
        #expect(request.text("error.type") == "unreachable" && request["http.response.status_code"] == nil)
        #expect(request.status == .error(message: "No route, token=REDACTED"), "\(request.status)")
        #expect(spans.calls.first?.text("error.type") == "unreachable")
    }

    @Test("Unknown methods are _OTHER, and the name of a span has few values")
    func methods() async throws {
        let client = Tracing.client(spans) { $0.onAny { _ in .status(204) } }
        try await client.send(Request<Void>("PURGE", "/x", name: ""))
        try await client.send(Request<Void>(.patch, "/x/1", name: ""))
        #expect(spans.requests.map(\.name).sorted() == ["HTTP", "PATCH"])
        let other = try #require(spans.requests.first { $0.name == "HTTP" })
        #expect(other.text("http.request.method") == "_OTHER")
        #expect(other.text("http.request.method_original") == "PURGE")
    }

    @Test("Each attempt has its own identifier and a link to the one before")
    func retries() async throws {
        let client = Tracing.client(
            spans, pipeline: [.retry(.attempts(3))],
            configuration: APIClient.Configuration(time: ManualClock.skippingWaits)
        ) {
            let answers = Locked([503, 503, 200])
            $0.onAny { _ in .status(HTTPStatus(answers.withLock { $0.removeFirst() })) }
        }
        try await client.send(.get("/x"))
        let requests = spans.requests
        #expect(requests.map { $0.text("http.request.resend_count") } == [nil, "1", "2"])
        #expect(requests.map(\.relation) == [nil, "retry", "retry"])
        #expect(requests[1].links.first?.context == requests[0].context)
        #expect(requests[2].links.first?.context == requests[1].context)
        #expect(client.recordedCalls.map(\.sentContext) == requests.map(\.context))
        #expect(Set(requests.map(\.context.spanID)).count == 3)
        #expect(Set(requests.map(\.parent)) == [spans.calls.first?.context.spanID])
        #expect(requests.map(\.isError) == [true, true, false] && spans.calls.first?.isError == false)
        #expect(spans.calls.first?.events.map(\.name).filter { $0 == "attempt" }.count == 2)
    }

    @Test("Each hop has its own identifier; another origin receives neither field, unless allowed")
    func redirects() async throws {
        let other = try #require(Origin(scheme: "https", host: "other.test"))
        for origins in [[], [other]] as [Set<Origin>] {
            spans.removeAll()
            let client = Tracing.client(
                spans, pipeline: [.redirects()], options: CallTracer.Options(redirectOrigins: origins)
            ) {
                $0.on(.get, "/a", .status(302, headers: [.location: "/b"]))
                $0.on(.get, "/b", .status(302, headers: [.location: "https://other.test/c"]))
                $0.on(.get, "/c", .status(302, headers: [.location: "https://mock.test/d"]))
                $0.on(.get, "/d", .status(204))
            }
            let call = Request<Void>.get("/a").header("traceparent", Tracing.parent).header("tracestate", "a=1")
            try await client.send(call)
            let requests = spans.requests
            #expect(requests.map(\.relation) == [nil, "redirect", "redirect", "redirect"])
            #expect(requests.map { $0.text("http.request.resend_count") } == [nil, "1", "2", "3"])
            #expect(
                requests.map { $0.text("server.address") } == ["mock.test", "mock.test", "other.test", "mock.test"])
            let sent = client.recordedCalls
            #expect(sent.map { $0.sentContext?.spanID != nil } == [true, true, !origins.isEmpty, true])
            #expect(sent.map { $0.request.headers["tracestate"] != nil } == [true, true, !origins.isEmpty, true])
            #expect(sent[3].sentContext == requests[3].context, "the origin of the call receives the context again")
            #expect(spans.calls.first?.events.filter { $0.name == "redirect.followed" }.count == 3)
        }
    }

    @Test("Both requests of a hedged attempt have their own identifiers, and the later one a link")
    func hedging() async throws {
        let clock = ManualClock()
        let client = Tracing.client(
            spans, pipeline: [.hedging(after: .seconds(1))], configuration: APIClient.Configuration(time: clock)
        ) { mock in
            let count = Locked(0)
            mock.onAny { call in
                let number = count.next()
                if number == 1 { try await call.context.time.sleep(for: .seconds(60)) }
                return .status(204)
            }
        }
        async let call: Void = client.send(.get("/x"))
        try await clock.waitForSleepers(2)
        clock.advance(by: .seconds(1))
        try await call
        #expect(client.recordedCalls.count == 2)
        let requests = spans.requests
        #expect(requests.map(\.relation) == [nil, "hedge"] && requests[1].links.first?.context == requests[0].context)
        #expect(requests[0].text("error.type") == "cancelled" && !requests[1].isError)
        #expect(Set(client.recordedCalls.map(\.sentContext)) == Set(requests.map(\.context)))
        #expect(spans.calls.count == 1 && spans.calls[0].isError == false)
    }

    @Test("Calls that share an exchange have one request, and a link to the call that sends it")
    func coalescing() async throws {
        let gate = Gate()
        let joined = Joined()
        let client = Tracing.client(
            spans, pipeline: [.coalescing()], configuration: APIClient.Configuration(observers: [joined])
        ) {
            $0.onAny { _ in
                await gate.wait()
                return .status(204)
            }
        }
        async let first: Void = client.send(.get("/x"))
        _ = try await (client.transport as? MockTransport)?.waitForRequests(1)
        async let second: Void = client.send(.get("/x"))
        await joined.wait()
        gate.open()
        _ = try await (first, second)
        #expect(spans.requests.count == 1 && spans.calls.count == 2)
        let leader = try #require(spans.calls.first { $0.context.spanID == spans.requests[0].parent })
        let follower = try #require(spans.calls.first { $0.context != leader.context })
        #expect(follower.links.map(\.context) == [leader.context] && follower.relation == "shared")
        #expect(follower.text("curlew.requests") == "0" && leader.text("curlew.requests") == "1")
    }

    @Test("A response from the cache sends no request")
    func cache() async throws {
        let client = Tracing.client(spans, pipeline: [.caching()]) {
            $0.on(.get, "/x", .text("a", headers: [.cacheControl: "max-age=60"]))
        }
        for _ in 0..<2 { #expect(try await client.send(Request<String>.get("/x")) == "a") }
        #expect(spans.requests.count == 1 && spans.calls.count == 2)
        #expect(spans.calls[1].text("curlew.requests") == "0")
        #expect(spans.calls.map { $0.events.map(\.name) }[1].contains("cache.fresh"))
        #expect(client.problems.isEmpty, "the interceptor keeps no cache from working")
    }

    @Test("The result of a cancelled call is known, and nothing stays open")
    func cancellation() async throws {
        let tracer = CallTracer(exporter: spans)
        let client = APIClient.mock(pipeline: [.tracing(tracer)]) {
            $0.onAny { _ in
                try await ManualClock().sleep(for: .seconds(1))
                return .status(204)
            }
        }
        let call = Task { try await client.send(.get("/x")) }
        _ = try await (client.transport as? MockTransport)?.waitForRequests(1)
        #expect(tracer.statistics == CallTracer.Statistics(ended: 0, dropped: 0, open: 2))
        call.cancel()
        _ = await call.result
        #expect(spans.spans.map { $0.text("error.type") } == ["cancelled", "cancelled"])
        #expect(tracer.statistics == CallTracer.Statistics(ended: 2, dropped: 0, open: 0))
    }

    @Test("Many concurrent calls keep their parents apart")
    func concurrent() async throws {
        let tracer = CallTracer(exporter: spans)
        let client = APIClient.mock(
            pipeline: [.retry(.attempts(2), budget: RetryBudget(capacity: 1_000_000)), .tracing(tracer)],
            configuration: .init(time: ManualClock.skippingWaits)
        ) {
            $0.onAny { call in
                await Task.yield()
                return .status(call.context.attempt == 1 ? 503 : 204)
            }
        }
        let parents = try (1...200).map { number in
            try #require(
                TraceContext(
                    traceparent: "00-\(TraceParentTests.trace)-00000000\(String(number + 0x1000_0000, radix: 16))-01"))
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for parent in parents {
                group.addTask {
                    try await TraceContext.with(parent) { try await client.send(.get("/x")) }
                }
            }
            try await group.waitForAll()
        }
        #expect(Set(spans.calls.map(\.parent)) == Set(parents.map(\.spanID)) && spans.calls.count == 200)
        for call in spans.calls {
            let requests = spans.requests.filter { $0.parent == call.context.spanID }
            #expect(requests.count == 2 && requests[1].links.first?.context == requests[0].context)
        }
        #expect(tracer.statistics == CallTracer.Statistics(ended: 600, dropped: 0, open: 0))
    }
}

/// Holds tasks until it is opened.
private final class Gate: Sendable {
    private let result = SharedResult<Void>()

    func wait() async { try? await result.wait() }

    func open() { result.finish(.success(())) }
}

/// Waits for the event that a call shares the exchange of another.
private final class Joined: RequestObserver {
    private let result = SharedResult<Void>()

    func wait() async { try? await result.wait() }

    func record(_ event: ExchangeEvent, in context: ExchangeContext) {
        if case .joined = event { result.finish(.success(())) }
    }
}
