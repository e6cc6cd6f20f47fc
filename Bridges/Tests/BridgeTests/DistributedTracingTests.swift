// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import CurlewTracing
import SwiftDistributedTracingBridge
import Synchronization
import Testing
import Tracing

@Suite(.timeLimit(.minutes(1)))
struct DistributedTracingTests {
    private enum TraceparentKey: ServiceContextKey {
        typealias Value = String
    }

    private final class RecordingSpan: Tracing.Span {
        struct State {
            var name: String
            var attributes = SpanAttributes([:])
            var status: SpanStatus?
            var errors: [any Error] = []
            var ends = 0
        }

        let context: ServiceContext
        let parent: String?
        let kind: SpanKind
        let state: Mutex<State>

        init(_ name: String, _ context: ServiceContext, parent: String?, _ kind: SpanKind) {
            self.context = context
            self.parent = parent
            self.kind = kind
            state = Mutex(State(name: name))
        }

        var operationName: String {
            get { state.withLock { $0.name } }
            set { state.withLock { $0.name = newValue } }
        }
        var attributes: SpanAttributes {
            get { state.withLock { $0.attributes } }
            set { state.withLock { $0.attributes = newValue } }
        }
        var isRecording: Bool { true }
        var status: SpanStatus? { state.withLock { $0.status } }
        var ends: Int { state.withLock { $0.ends } }
        var errors: [any Error] { state.withLock { $0.errors } }

        func setStatus(_ status: SpanStatus) { state.withLock { $0.status = status } }
        func recordError<Instant: TracerInstant>(
            _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
        ) {
            state.withLock { $0.errors.append(error) }
        }
        func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) { state.withLock { $0.ends += 1 } }
    }

    /// Writes `traceparent`, with numbers as identifiers.
    private struct RecordingTracer: Tracer {
        let spans = Recorded<RecordingSpan>()

        func startSpan<Instant: TracerInstant>(
            _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
            at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
        ) -> RecordingSpan {
            var context = context()
            let parent = context[TraceparentKey.self]
            context[TraceparentKey.self] = DistributedTracingTests.traceparent(spans.values.count + 1)
            let span = RecordingSpan(operationName, context, parent: parent, kind)
            spans.append(span)
            return span
        }

        func forceFlush() {}

        func extract<Carrier, Extract>(
            _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
        ) where Extract: Extractor, Extract.Carrier == Carrier {}

        func inject<Carrier, Inject>(
            _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
        ) where Inject: Injector, Inject.Carrier == Carrier {
            guard let value = context[TraceparentKey.self] else { return }
            injector.inject(value, forKey: "traceparent", into: &carrier)
        }
    }

    private static func traceparent(_ number: Int) -> String {
        "00-4bf92f3577b34da6a3ce929d0e0e4736-000000000000000\(number)-01"
    }

    private let tracer = RecordingTracer()

    private func client(
        redirectOrigins: Set<Origin> = [], _ answer: @escaping @Sendable (RecordedRequest) throws -> HTTPResponse
    ) -> (APIClient, MockTransport) {
        let mock = MockTransport.answering { try answer($0) }
        let interceptor = DistributedTracingInterceptor(tracer: tracer, redirectOrigins: redirectOrigins)
        return (.mock(mock, pipeline: .standard.adding(interceptor), configuration: .withoutWaits), mock)
    }

    @Test("A span is a child of the task's context, and the request carries the context of the span")
    func contexts() async throws {
        let (client, mock) = client { _ in .text("film") }
        var context = ServiceContext.topLevel
        context[TraceparentKey.self] = Self.traceparent(9)
        let _: String = try await ServiceContext.$current.withValue(context) {
            try await client.send(.get("/films/1", query: ["api_key": "hunter2"], name: "film"))
        }
        let span = try #require(tracer.spans.values.first)
        #expect(tracer.spans.values.count == 1)
        #expect(span.parent == Self.traceparent(9))
        #expect(mock.requests.map { $0.headers["traceparent"] } == [Self.traceparent(1)])
        #expect(span.operationName == "GET film")
        #expect(span.kind == .client)
        #expect(span.ends == 1)
        #expect(span.status == nil)
        let attributes = span.attributes
        #expect(attributes.get("http.request.method") == .string("GET"))
        #expect(attributes.get("server.address") == .string("mock.test"))
        #expect(attributes.get("server.port") == .int64(443))
        #expect(attributes.get("http.response.status_code") == .int64(200))
        #expect(attributes.get("network.protocol.version") == .string("1.1"))
        #expect(attributes.get("http.request.resend_count") == nil)
        guard case .string(let url) = attributes.get("url.full") else { throw NetworkError(.interceptor) }
        #expect(url.hasPrefix("https://mock.test/films/1?") && !url.contains("hunter2"))
    }

    @Test("A secret that an interceptor declares is not in the URL")
    func declaredSecrets() async throws {
        let (plain, mock) = client { _ in .text("film") }
        let client = plain.adding(.apiKey("hunter2", in: .query("k")))
        let _: String = try await client.send(.get("/films/1"))
        #expect(mock.requests.first?.query["k"] == "hunter2")
        guard case .string(let url) = tracer.spans.values.first?.attributes.get("url.full") else {
            throw NetworkError(.interceptor)
        }
        #expect(url.contains("k=") && !url.contains("hunter2"))
    }

    @Test("A call without a context starts a trace")
    func newTrace() async throws {
        let (client, _) = client { _ in .text("film") }
        let _: String = try await client.send(.get("/films/1"))
        #expect(tracer.spans.values.map(\.parent) == [nil])
    }

    @Test("Each attempt has a span, and a status from 400 on is its error")
    func retries() async throws {
        let (client, mock) = client { $0.context.attempt == 1 ? .status(503) : .text("film") }
        let _: String = try await client.send(.get("/films/1"))
        let spans = tracer.spans.values
        try #require(spans.count == 2)
        #expect(spans.map(\.status?.code) == [.error, nil])
        #expect(spans[0].attributes.get("error.type") == .string("503"))
        #expect(spans[1].attributes.get("http.request.resend_count") == .int64(1))
        #expect(mock.requests.map { $0.headers["traceparent"] } == [Self.traceparent(1), Self.traceparent(2)])
    }

    @Test("A failure is recorded in the span, and reaches the caller")
    func failures() async throws {
        let (client, _) = client { _ in throw NetworkError(.unreachable) }
        await #expect(throws: NetworkError.self) {
            try await client.send(Request<String>.get("/films/1").options { $0.retry = .never })
        }
        let span = try #require(tracer.spans.values.first)
        #expect(span.status?.code == .error)
        #expect(span.attributes.get("error.type") == .string("unreachable"))
        #expect(span.errors.map { ($0 as? NetworkError)?.reason } == [.unreachable])
        #expect(span.ends == 1)
    }

    @Test("Another origin receives the context after a redirect only if it is named", arguments: [false, true])
    func redirects(isNamed: Bool) async throws {
        let other = try #require(Origin(scheme: "https", host: "other.test"))
        let (client, mock) = client(redirectOrigins: isNamed ? [other] : []) { call in
            call.request.origin == other
                ? .text("film") : .status(.found, headers: ["Location": "https://other.test/films/1"])
        }
        let _: String = try await client.send(.get("/films/1"))
        #expect(tracer.spans.values.count == 2)
        #expect(
            mock.requests.map { $0.headers["traceparent"] }
                == [Self.traceparent(1), isNamed ? Self.traceparent(2) : nil])
    }

    @Test("The installed tracer is the default, and CurlewTracing continues its current span")
    func installedTracer() async throws {
        InstrumentationSystem.bootstrap(tracer)
        let mock = MockTransport.answering { _ in .text("film") }
        let client = APIClient.mock(mock, pipeline: [DistributedTracingInterceptor()])
        let _: String = try await client.send(.get("/films/1"))
        #expect(tracer.spans.values.count == 1)
        #expect(mock.requests.first?.headers["traceparent"] == Self.traceparent(1))

        #expect(TraceContext.ofCurrentSpan() == nil)
        let current = ServiceContext.$current.withValue(tracer.spans.values[0].context) {
            TraceContext.ofCurrentSpan()
        }
        #expect(current?.traceparent == Self.traceparent(1))
    }

    @Test("A method that is not known is `_OTHER`")
    func methods() async throws {
        let (client, _) = client { _ in .text("done") }
        try await client.send(Request<Void>("PURGE", "/films/1", name: ""))
        let span = try #require(tracer.spans.values.first)
        #expect(span.operationName == "HTTP")
        #expect(span.attributes.get("http.request.method") == .string("_OTHER"))
        #expect(span.attributes.get("http.request.method_original") == .string("PURGE"))
    }
}
