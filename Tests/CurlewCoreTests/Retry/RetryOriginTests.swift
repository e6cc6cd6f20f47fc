// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewAuthentication
@testable import CurlewCaching
@testable import CurlewCookies
@testable import CurlewCore

/// A next attempt at another origin.
@Suite(.timeLimit(.minutes(1)))
struct RetryOriginTests {
    let bench = RetryBench()
    static let secret = "canary-7f3a"

    /// A client of a.test whose second attempt goes to `other`.
    func client(
        _ other: String = "https://b.test", budget: RetryBudget = RetryBudget(),
        pipeline: [any Interceptor] = [],
        headers: HTTPHeaders = [:], _ answer: @escaping @Sendable (RecordedRequest) async throws -> HTTPResponse
    ) -> APIClient {
        let retry = RetryInterceptor(
            budget: budget, onRetry: { request, _ in try request.setURL(other + request.target) }, random: { 0.5 })
        let configuration = APIClient.Configuration(headers: headers, time: bench.clock)
        return .mock(
            baseURL: "https://a.test",
            pipeline: pipeline.reduce(Pipeline.empty.adding(retry, changesPrincipal: false)) { $0.adding($1) },
            configuration: configuration
        ) { $0.onAny(answer) }
    }

    static let failover: @Sendable (RecordedRequest) async throws -> HTTPResponse = {
        $0.request.origin.host == "a.test" ? .status(503) : .text("from b")
    }

    @Test("Fields that may be secret do not follow a retry to another origin")
    func credentials() async throws {
        let client = client(
            pipeline: [
                .bearer { Self.secret }, .cookies(),
                .onRequest { request, _ in request.headers["X-Hook"] = Self.secret },
            ], headers: ["X-Home": Self.secret], Self.failover)
        let call = Request<String>.get("/x").header("X-Call", Self.secret).header(.accept, "text/plain")
        let (result, _) = try await bench.waits(of: client, call)
        #expect(try result.get().value == "from b")
        let requests = client.recordedCalls.map(\.request)
        #expect(requests.map(\.origin.host) == ["a.test", "b.test"])
        for name: HTTPField.Name in ["X-Hook", "X-Home", "X-Call", .authorization] {
            #expect(requests.first?.headers[name]?.contains(Self.secret) == true, "\(name)")
            #expect(requests.last?.headers[name] == nil, "\(name)")
        }
        #expect(requests.last?.headers[.accept] == "text/plain")
    }

    @Test("Fields that the app sets for the other origin are sent there, with its credential")
    func chosen() async throws {
        let retry = RetryInterceptor(
            onRetry: { request, _ in
                try request.setURL("https://b.test/")
                request.headers["X-Api"] = "b"
            }, random: { 0.5 })
        let client = APIClient.mock(
            baseURL: "https://a.test", pipeline: [retry, .bearer(for: "https://b.test") { "for-b" }],
            configuration: .init(time: bench.clock)
        ) { $0.onAny(Self.failover) }
        let call = Request<String>.get("/").header("X-Api", "a")
        _ = try await bench.waits(of: client, call)
        let last = client.recordedCalls.last?.request
        #expect(last?.headers["X-Api"] == "b" && last?.headers[.authorization] == "Bearer for-b")
        #expect(client.recordedCalls.first?.request.headers[.authorization] == nil)
    }

    @Test("A response of another origin sets no cookies, is not cached, and redirects from its URL")
    func response() async throws {
        let store = CookieStore()
        let client = client(pipeline: [.cookies(store), .caching()]) { call in
            guard call.request.origin.host == "b.test" else { return .status(503) }
            return .text(
                "b", headers: [.setCookie: "id=b; Max-Age=900", .cacheControl: "max-age=600", .location: "/elsewhere"])
        }
        for _ in 0..<2 {
            let (result, _) = try await bench.waits(of: client, Request<HTTPResponse>(.get, "/"))
            let response = try result.get()
            #expect(response.value.headers[.setCookie] == nil && response.value.headers[.cacheControl] == "no-store")
            #expect(response.value.headers[.location] == "https://b.test/elsewhere")
        }
        #expect(client.recordedCalls.count == 4, "nothing was kept")
        #expect(client.recordedCalls.allSatisfy { $0.request.headers[.cookie] == nil })
    }

    @Test(
        "A cache beside a closure that may change the principal stores nothing, unless declared"
    )
    func principal() throws {
        let request = try HTTPRequest(url: "https://a.test/")
        let changing = RetryInterceptor(onRetry: { _, _ in })
        func principal(_ pipeline: Pipeline) -> Principal {
            let transport = ClosureTransport(changesPrincipal: false) { _, _ in HTTPResponse() }
            return Next(context: ExchangeContext(), chain: Chain(pipeline, transport)).principal(of: request)
        }
        #expect(principal([changing]) == .unknown)
        #expect(principal([.retry(when: { _ in .usual })]) == .anonymous)
        #expect(principal(Pipeline.empty.adding(changing, changesPrincipal: false)) == .anonymous)
        #expect(principal(Pipeline.empty.adding(.retry(), changesPrincipal: true)) == .unknown)
    }

    @Test("A retry never goes from https to http")
    func downgrade() async throws {
        let client = client("http://b.test", Self.failover)
        let (result, _) = try await bench.waits(of: client, Request<String>.get("/"))
        let error = #expect(throws: NetworkError.self) { try result.get() }
        #expect(error?.reason == .invalidRequest && client.recordedCalls.count == 1)
    }

    @Test("The first attempt at another origin pays nothing, so an empty budget allows failover")
    func budget() async throws {
        let budget = RetryBudget(capacity: 0)
        let client = client(budget: budget, Self.failover)
        for _ in 0..<3 {
            let (result, _) = try await bench.waits(of: client, Request<String>.get("/"))
            #expect(try result.get().value == "from b")
        }
        let both = self.client(budget: budget) { _ in .status(503) }
        let (result, _) = try await bench.waits(of: both, Request<HTTPResponse>(.get, "/"))
        #expect(try result.get().attempts.map(\.decision.cause) == [.transient, .budgetExhausted])
    }
}
