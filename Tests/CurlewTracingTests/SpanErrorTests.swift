// SPDX-License-Identifier: MIT

import CurlewAuthentication
import Testing

@testable import CurlewCore
@testable import CurlewObservability
@testable import CurlewTracing

/// What spans, metrics and logs say about a failure.
@Suite(.timeLimit(.minutes(1)))
struct SpanErrorTests {
    private let spans = MemorySpanExporter()

    private static let reasons: [NetworkError.Reason] = [
        .cancelled, .invalidRequest, .configuration, .encoding, .unreachable, .proxyFailed(.refused(502)),
        .proxyFailed(.unreachable), .secureConnectionFailed(.wrongHost), .timedOut(.firstByte), .timedOut(.total),
        .connectionLost(.requestNotSent), .connectionLost(.requestMayHaveArrived), .badResponse,
        .limitExceeded(.responseHeaders), .status(503), .decoding, .notAuthenticated(.refreshRefused),
        .refused(by: .overload), .refused(by: NetworkError.Policy("tenant 4711")), .storage, .interceptor,
    ]

    @Test("error.type has one name in spans, logs and metrics: snake case, or a status code", arguments: reasons)
    func names(reason: NetworkError.Reason) async throws {
        let entries = Locked<[LogEntry]>([])
        let client = Tracing.client(spans, pipeline: [.logging { entry in entries.withLock { $0.append(entry) } }]) {
            $0.fail(with: NetworkError(reason, detail: "The cause."))
        }
        await #expect(throws: NetworkError.self) { try await client.send(.get("/")) }
        let name = try #require(spans.calls.first?.text("error.type"))
        #expect(name == MetricsRegistry.name(of: reason))
        #expect(
            name.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F }, "\(name)")
        #expect(spans.requests.first?.text("error.type") == name)
        let logged = entries.withLock { $0.last?["error.type"] }
        #expect(logged == name)
    }

    private func client(_ error: NetworkError?, time: any TimeSource = SystemTime()) -> APIClient {
        Tracing.client(spans, configuration: APIClient.Configuration(time: time)) {
            $0.onAny { _ in
                HTTPResponse(
                    status: .ok, body: ResponseBody(ChunkSource(["ab", "cd"], error: error), limit: 100, length: nil))
            }
        }
    }

    private static func read(_ response: HTTPResponse) async throws {
        for try await _ in response.body {}
    }

    private static let cut = NetworkError(.connectionLost(.requestMayHaveArrived), detail: "Cut. token=hunter2")

    @Test("A streamed body that breaks off after the call has returned is an error of its request")
    func brokenStream() async throws {
        let client = client(Self.cut)
        await #expect(throws: NetworkError.self) {
            try await client.withResponse(to: Request<Data>.get("/")) { try await Self.read($0) }
        }
        try await yieldUntil { spans.spans.count == 2 }
        let request = try #require(spans.requests.first)
        #expect(request.text("error.type") == "connection_lost" && request.text("http.response.status_code") == "200")
        #expect(request.status == .error(message: "Cut. token=REDACTED"))
        #expect(spans.calls.first?.isError == false)
    }

    @Test("Where an interceptor sends twice, the second request has the error of the second body")
    func twice() async throws {
        let count = Locked(0)
        let base = Tracing.client(spans) {
            $0.onAny { _ in
                let isFirst = count.next() == 1
                if isFirst { return .status(202) }
                return HTTPResponse(
                    status: .ok, body: ResponseBody(ChunkSource(["ab"], error: Self.cut), limit: 100, length: nil))
            }
        }
        let client = base.adding(Twice())
        await #expect(throws: NetworkError.self) {
            try await client.withResponse(to: Request<Data>.get("/")) { try await Self.read($0) }
        }
        try await yieldUntil { spans.spans.count == 3 }
        #expect(spans.requests.map { $0.text("error.type") } == [nil, "connection_lost"])
    }

    private struct Twice: Interceptor {
        let traits = InterceptorTraits(placement: .signing)

        func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
            _ = try await next(request)
            return try await next.again(request, in: next.context)
        }
    }

    @Test("A streamed body that is complete, or left by the caller, is no error, and its span ends")
    func endedStream() async throws {
        let client = client(nil)
        try await client.withResponse(to: Request<Data>.get("/")) { try await Self.read($0) }
        try await client.withResponse(to: Request<Data>.get("/")) { response in
            var iterator = response.body.makeAsyncIterator()
            _ = try await iterator.next()
        }
        try await client.withResponse(to: Request<Data>.get("/")) { _ in }
        try await yieldUntil { spans.spans.count == 6 }
        #expect(spans.spans.allSatisfy { !$0.isError })
    }

    @Test("A body that breaks off within its call, is too long, or no JSON is one error each")
    func brokenCall() async throws {
        _ = try? await client(Self.cut).send(Request<String>.get("/"))
        #expect(spans.requests.map { $0.text("error.type") } == ["connection_lost"])
        #expect(spans.calls.map { $0.text("error.type") } == ["connection_lost"])
        spans.removeAll()
        struct Model: Decodable, Sendable {}
        let long = Tracing.client(spans) {
            $0.onAny { _ in
                HTTPResponse(status: .ok, body: ResponseBody(ChunkSource(["ab", "cd"]), limit: 3, length: nil))
            }
        }
        _ = try? await long.send(Request<String>.get("/"))
        #expect(spans.calls.map { $0.text("error.type") } == ["limit_exceeded_response_body"])
        #expect(spans.requests.map { $0.text("error.type") } == ["limit_exceeded_response_body"])
        spans.removeAll()
        _ = try? await client(nil).send(Request<Model>.get("/"))
        #expect(spans.calls.map { $0.text("error.type") } == ["decoding"])
        #expect(spans.requests.map { $0.text("error.type") } == [nil])
    }

    @Test("Many streams that end in any order have a span each, and none is left open", arguments: 0..<5)
    func manyStreams(round: Int) async throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let tracer = CallTracer(exporter: spans)
        let fails = (0..<40).map { _ in Bool.random(using: &random) }
        let leaves = (0..<40).map { _ in Bool.random(using: &random) }
        let client = APIClient.mock(pipeline: [.tracing(tracer)]) {
            $0.onAny { call in
                let number = Int(call.path.dropFirst()) ?? 0
                return HTTPResponse(
                    status: .ok,
                    body: ResponseBody(
                        ChunkSource(["a", "b"], error: fails[number] ? Self.cut : nil), limit: 9, length: nil))
            }
        }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    try? await client.withResponse(to: Request<Data>(.get, RequestPath("/\(number)"))) { response in
                        if leaves[number] { return }
                        try await Self.read(response)
                    }
                }
            }
        }
        try await yieldUntil { spans.spans.count == 80 }
        let failed = spans.requests.filter(\.isError).count
        #expect(failed == zip(fails, leaves).filter { $0 && !$1 }.count, "seed \(seed)")
        #expect(tracer.statistics == CallTracer.Statistics(ended: 80, dropped: 0, open: 0), "seed \(seed)")
    }

    @Test("QUERY is a known method of the conventions; others are _OTHER with their original")
    func methods() async throws {
        let client = Tracing.client(spans) { $0.onAny { _ in .status(204) } }
        for method in ["QUERY", "query", "PROPFIND"] {
            try await client.send(Request<Void>(HTTPMethod(rawValue: method), "/"))
        }
        #expect(spans.requests.map { $0.text("http.request.method") } == ["QUERY", "_OTHER", "_OTHER"])
        #expect(spans.requests.map { $0.text("http.request.method_original") } == [nil, "query", "PROPFIND"])
        #expect(spans.requests.map { $0.name.prefix { $0 != " " } } == ["QUERY", "HTTP", "HTTP"])
    }

    @Test("The list of known methods can be changed")
    func knownMethods() async throws {
        var options = CallTracer.Options()
        options.knownMethods = ["PROPFIND"]
        let client = Tracing.client(spans, options: options) { $0.onAny { _ in .status(204) } }
        for method in ["PROPFIND", "GET"] { try await client.send(Request<Void>(HTTPMethod(rawValue: method), "/")) }
        #expect(spans.requests.map { $0.text("http.request.method") } == ["PROPFIND", "_OTHER"])
    }

    @Test("A refresh of tokens is a child of the call that started it")
    func refresh() async throws {
        // On a manual clock, a busy machine cannot exceed a time limit.
        let clock = ManualClock()
        let store = TokenStore(time: clock)
        try await store.signIn(Tokens(accessToken: "old", refreshToken: "r"))
        let pipeline: Pipeline = [
            .bearer(store, for: "https://mock.test") { refresh in
                try await refresh.client.send(Request<Void>.post("/token"))
                return Tokens(accessToken: "new", refreshToken: "r")
            }
        ]
        let client = Tracing.client(spans, pipeline: pipeline, configuration: APIClient.Configuration(time: clock)) {
            $0.on(.post, "/token", .status(204))
            $0.on(.get, "/me") { call in
                call.request.headers[.authorization] == "Bearer new" ? .status(204) : .status(401)
            }
        }
        try await client.send(.get("/me"))
        let renewal = try #require(spans.calls.first { $0.name.hasPrefix("POST") })
        let call = try #require(spans.calls.first { $0.name.hasPrefix("GET") })
        #expect(renewal.context.traceID == call.context.traceID && renewal.parent == call.context.spanID)
        #expect(spans.requests.first { $0.name.hasPrefix("POST") }?.parent == renewal.context.spanID)
        #expect(call.parent == nil)
    }
}
