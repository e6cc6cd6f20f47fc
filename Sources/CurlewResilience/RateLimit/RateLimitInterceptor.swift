// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// Limits the number of requests in a period. For the rules, see `RateLimit`.
struct RateLimitInterceptor: Interceptor {
    let limit: RateLimit

    var traits: InterceptorTraits { InterceptorTraits(.rateLimit, problem: problem(in:)) }

    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var context = next.context
        let arrival = context.time.now
        let key = limit.scope.key(of: request, in: context)
        do {
            try await limit.acquire(key, request, context)
        } catch {
            context.reportRefusal(error, .rateLimit, key)
            throw error
        }
        let waited = context.wait(since: arrival, for: .rateLimit, key)
        do {
            var response = try await next(request, context: context)
            limit.learn(from: response, to: request, key, context)
            response.note(waited, for: "a token")
            return response
        } catch let error as NetworkError where error.reason == .refused(by: .circuitBreaker) {
            // The circuit opened while the call was queued: nothing was sent.
            limit.giveBack(key, at: context.time.now)
            throw error
        }
    }

    func problem(in setup: Pipeline.Environment) -> String? {
        limit.count > 0 && limit.period > .zero && limit.full.burst > 0
            ? nil
            : "The rate limit of \(limit.count) in \(limit.period.brief) allows no calls, or all of them."
                + " Make both positive."
    }
}

extension RateLimitInterceptor: CustomStringConvertible {
    /// A description such as `RateLimit(10 in 1 s per origin)`.
    var description: String { "RateLimit(\(limit.count) in \(limit.period.brief) per \(limit.scope))" }
}
