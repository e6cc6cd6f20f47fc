// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import Foundation

// Redirects, retries and what stands beside them.

enum RedirectsPage {
    static func hops(_ client: APIClient) async throws -> String {
        let response = try await client.response(for: .report)
        print(response.url)  // where the answer came from
        for hop in response.redirects { print(hop) }  // the hops that led there

        return response.url
    }

    static func scoped(_ key: String) -> BuiltInInterceptor {
        let hook: BuiltInInterceptor = .onRequest(for: "https://cdn.example.com") { request, _ in
            request.headers["X-Key"] = key
        }

        return hook
    }
}

enum RetryingPage {
    static func policies(_ url: BaseURL) -> (APIClient, Request<Report>) {
        let client = APIClient(baseURL: url, pipeline: .standard.replacing(.retry(.attempts(5))))
        let report = Request<Report>.get("/report").options { $0.retry = .never }

        return (client, report)
    }

    static func history(_ client: APIClient) async throws {
        for attempt in try await client.response(for: .report).attempts { print(attempt) }
    }

    static func budget() -> Pipeline {
        let budget = RetryBudget()
        let pipeline: Pipeline = [.redirects(), .retry(budget: budget), .hedging(after: .milliseconds(300))]

        return pipeline
    }

    static func rules() -> [BuiltInInterceptor] {
        let patient: BuiltInInterceptor = .retry(when: { attempt in
            if attempt.status == .forbidden, attempt.headers.contains(.retryAfter) { return .retry }
            if attempt.status == .ok, attempt.body?.starts(with: Data(#"{"errors""#.utf8)) == true { return .retry }
            return .usual
        })
        let failover: BuiltInInterceptor = .retry(onRetry: { request, _ in
            try request.setURL("https://eu.example.com" + request.target)
        })

        return [patient, failover]
    }

    static func test() async throws -> User {
        let client = APIClient.mock(
            pipeline: .standard, configuration: APIClient.Configuration(time: ManualClock.skippingWaits)
        ) {
            $0.fail(GetUser.self, .once, with: NetworkError(statusCode: 503))
            $0.on(GetUser.self) { User(id: $0.id, firstName: "Ada") }
        }

        return try await client.send(GetUser(id: 1))
    }
}

enum ResiliencePage {
    static func all(_ url: BaseURL) -> APIClient {
        // retries, breaker, concurrency limit, timeout
        let client = APIClient(baseURL: url, pipeline: .resilient())

        return client
    }

    static func patient(_ client: APIClient) async throws -> Report {
        let report = try await client.send(.report.options { $0.timeouts = Timeouts(attempt: .seconds(60)) })

        return report
    }

    static func patientBreaker() -> CircuitBreaker {
        let breaker = CircuitBreaker(
            CircuitBreaker.Policy(
                failureRatio: 0.3, minimumCalls: 10, window: .seconds(60), openTime: .seconds(10), trials: 3),
            per: .route)

        return breaker
    }

    static func hedging() -> Pipeline {
        let hedged = Pipeline.standard.adding(
            .hedging(after: .milliseconds(300)) { request, _ in request.method == .get })

        return hedged
    }

    static func fallback(_ lastRates: Data) -> Pipeline {
        let saved = Pipeline.standard.adding(
            .fallback { request, error in
                request.target == "/rates" ? HTTPResponse(body: ResponseBody(lastRates)) : nil
            })

        return saved
    }

    static func each() -> Pipeline {
        let breaker = CircuitBreaker()
        let pipeline = Pipeline.standard
            .adding(.circuitBreaker(breaker))
            .adding(.rateLimit(10, every: .seconds(1)))
            .adding(.concurrencyLimit(8))

        return pipeline
    }
}
