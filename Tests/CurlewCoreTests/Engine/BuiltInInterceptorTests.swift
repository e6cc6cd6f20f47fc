// SPDX-License-Identifier: MIT

import CurlewAuthentication
import CurlewCaching
import CurlewCookies
import CurlewHTTP
import CurlewObservability
import CurlewResilience
import Testing

@testable import CurlewCore

@Suite(.timeLimit(.minutes(1)))
struct BuiltInInterceptorTests {
    private static let all: [BuiltInInterceptor] = [
        .logging(), .logging(each: .request), .fallback { _, _ in nil }, .redirects(), .cookies(), .coalescing(),
        .caching(), .retry(), .retry(onRetry: { _, _ in }), .hedging(after: .seconds(1)),
        .circuitBreaker(), .rateLimit(1, every: .seconds(1)), .concurrencyLimit(1), .bearer { "token" },
        .bearer(for: "https://other.test", { "token" }), .basic(user: "u", password: "p"),
        .digest(user: "u", password: "p"), .apiKey("k", in: .header("X-Key")), .signing { _, _ in },
        .attemptTimeout(.seconds(1)), .httpsOnly(), .onRequest { _, _ in },
        .onRequest(for: "https://other.test") { _, _ in }, .onResponse { _, _ in }, .onError { _, _ in },
    ]

    @Test("A pipeline runs the interceptors themselves, however they are added", arguments: all)
    func unwrapped(_ interceptor: BuiltInInterceptor) {
        let kind = ObjectIdentifier(type(of: interceptor.base))
        let pipelines = [
            Pipeline([interceptor]), Pipeline.empty.adding(interceptor), Pipeline.empty.replacing(interceptor),
            Pipeline.empty.adding(interceptor, at: .wire),
            Pipeline([interceptor.placed(changesPrincipal: false)]),
        ]
        for pipeline in pipelines {
            #expect(pipeline.interceptors.map { ObjectIdentifier(type(of: $0.plain)) } == [kind])
        }
        let chain = Chain([interceptor], ClosureTransport(changesPrincipal: false) { _, _ in HTTPResponse() })
        #expect(chain.interceptors.map { ObjectIdentifier(type(of: $0)) } == [kind])
    }

    @Test("The value says of itself what the interceptor says", arguments: all)
    func forwards(_ interceptor: BuiltInInterceptor) throws {
        let base = interceptor.base
        #expect(!(base is BuiltInInterceptor))
        #expect(interceptor.placement == base.placement)
        #expect(interceptor.runsInPreview == base.runsInPreview)
        #expect(interceptor.scope == base.declaredScope)
        #expect(interceptor.label == base.label)
        let request = try HTTPRequest(url: "https://api.test/")
        let context = ExchangeContext(clientOrigin: request.origin)
        #expect(interceptor.principal(of: request, in: context) == base.principal(of: request, in: context))
        let setup = Pipeline.Environment()
        let validating = base as? any ValidatingInterceptor
        #expect(interceptor.problem(in: setup) == validating?.problem(in: setup))
        #expect(interceptor.warning(in: setup) == validating?.warning(in: setup))
    }

    @Test("An interceptor of an app can wrap one")
    func wrapped() async throws {
        struct Wrapping: Interceptor {
            let base: BuiltInInterceptor
            func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
                try await base.intercept(request, next: next)
            }
        }
        let request = try HTTPRequest(url: "https://api.test/")
        let next = Next(context: ExchangeContext(clientOrigin: request.origin)) { request, _ in
            HTTPResponse(headers: request.headers)
        }
        let response = try await Wrapping(base: .bearer { "token" }).intercept(request, next: next)
        #expect(response.headers[.authorization] == "Bearer token")
    }

    @Test("replacing(_:) replaces the interceptor of the same placement")
    func replaces() {
        let pipeline = Pipeline([.redirects(), .retry(), .bearer { "token" }]).replacing(.retry(.attempts(7)))
        let retries = pipeline.interceptors.compactMap { $0 as? RetryInterceptor }
        #expect(retries.map(\.policy.attempts) == [7])
        #expect(pipeline.interceptors.count == 3)
    }
}
