// SPDX-License-Identifier: MIT

import CurlewAuthentication
import CurlewCaching
import CurlewCookies
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

    @Test("Only the additions of a request hook are restricted to one origin", arguments: all)
    func scope(_ interceptor: BuiltInInterceptor) throws {
        let other = try HTTPRequest(url: "https://other.test").origin
        let scope = interceptor.traits.scope
        switch "\(interceptor)" {
        case "onRequest": #expect(scope == .clientOrigin)
        case "onRequest(https://other.test)": #expect(scope == .origin(other))
        default: #expect(scope == .unrestricted)
        }
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
}
