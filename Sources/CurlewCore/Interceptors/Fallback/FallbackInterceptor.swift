// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Answers in place of a call that has failed. Made by `.fallback { request, error in … }`.
///
///     .fallback { request, error in request.target == "/rates" ? HTTPResponse(body: ResponseBody(lastRates)) : nil }
///
/// - It stands outside of everything but logging: of redirects, retries, breakers and the cache. So it is asked once, when
///   all of them have given up, and nothing keeps what it answers: its response has `Cache-Control: no-store`.
/// - `when` says for which failures. By default those in which the server or the way to it is at fault: statuses from
///   500 on, 408 and 429, no connection, a lost one, timeouts, broken responses, and what a breaker or a limit has refused.
///   A status counts as a failure unless `RequestOptions.accepts` has it. Never asked about cancellation.
/// - Nil leaves the outcome as it is. What the closure throws is the error of the call.
/// - It is visible: `response.served` is `.fallback`, the last of the `attempts` says so in its notes, and observers hear
///   of it (`ExchangeEvent.policy`). The error that it gets has the whole history.
/// - It has no time of its own: the total deadline of the call may have passed. Let it answer from memory or from a file.
public struct FallbackInterceptor: Interceptor {
    private let when: @Sendable (NetworkError) -> Bool
    private let answer: @Sendable (HTTPRequest, NetworkError) async throws -> HTTPResponse?

    /// - `when`: whether to ask `answer`. Default `isOutage(_:)`.
    /// - `answer`: the response in place of the failure; nil for none.
    public init(
        when: @escaping @Sendable (NetworkError) -> Bool = FallbackInterceptor.isOutage,
        _ answer: @escaping @Sendable (HTTPRequest, NetworkError) async throws -> HTTPResponse?
    ) {
        self.when = when
        self.answer = answer
    }

    /// `.fallback`.
    public var placement: Placement { .fallback }

    /// False: there is no failure to answer.
    public var runsInPreview: Bool { false }

    /// `.anonymous`: it changes no request.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

    /// Runs the rest of the chain, and answers if that fails.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let context = next.context
        do {
            let response = try await next(request)
            guard response.status.code >= 400, !context.options.accepts.contains(response.status) else {
                return response
            }
            let failure = response.failure(of: request, in: context)
            guard let substitute = try await substitute(for: request, after: failure, context) else { return response }
            response.body.cancel()
            return substitute
        } catch let failure as Thrown {
            throw failure.error
        } catch {
            let failure = NetworkError(error)
            do {
                guard let substitute = try await substitute(for: request, after: failure, context) else { throw error }
                return substitute
            } catch let failure as Thrown {
                throw failure.error
            }
        }
    }

    /// Whether the server or the way to it is at fault, or a policy that knows of that.
    @Sendable
    public static func isOutage(_ error: NetworkError) -> Bool {
        error.isRetryable || error.isServerError || error.reason == .badResponse
    }

    /// What the closure threw, which is not the failure that it was asked about.
    private struct Thrown: Error {
        let error: any Error
    }

    private func substitute(
        for request: HTTPRequest, after failure: NetworkError, _ context: ExchangeContext
    ) async throws -> HTTPResponse? {
        guard !failure.isCancelled, when(failure) else { return nil }
        do {
            guard var response = try await answer(request, failure) else { return nil }
            context.record(
                .policy(PolicyNotice(.fellBack, by: .fallback, scope: "\(request.origin)", cause: failure.label)))
            response.standIn(for: failure, of: request, in: context)
            return response
        } catch {
            throw Thrown(error: error)
        }
    }
}

extension FallbackInterceptor: CustomStringConvertible {
    /// `Fallback`
    public var description: String { "Fallback" }
}

extension Interceptor where Self == FallbackInterceptor {
    /// Answers in place of a call that has failed: `.fallback { request, error in saved(request) }`. See
    /// `FallbackInterceptor` for the rules.
    public static func fallback(
        when: @escaping @Sendable (NetworkError) -> Bool = FallbackInterceptor.isOutage,
        _ answer: @escaping @Sendable (HTTPRequest, NetworkError) async throws -> HTTPResponse?
    ) -> FallbackInterceptor {
        FallbackInterceptor(when: when, answer)
    }
}

extension HTTPResponse {
    /// The error that the call would throw for the status, with what is at hand of the body.
    fileprivate func failure(of request: HTTPRequest, in context: ExchangeContext) -> NetworkError {
        var excerpt = NetworkError.Answer.Excerpt(limit: context.limits.errorExcerpt)
        if let data = body.bufferedData { _ = excerpt.append(data) }
        var failure = NetworkError(
            .status(status), request: RequestLine(request),
            response: NetworkError.Answer(
                status: status, headers: headers, body: excerpt.data, isTruncated: excerpt.isTruncated,
                date: context.time.date))
        failure.attempts = attempts
        return failure
    }

    /// Says that it is none of the server's.
    fileprivate mutating func standIn(
        for failure: NetworkError, of request: HTTPRequest, in context: ExchangeContext
    ) {
        let none = Attempt(
            number: 1, duration: context.start.duration(to: context.time.now), outcome: Attempt.Outcome(failure))
        var history = failure.attempts
        let last = history.popLast() ?? none
        history.append(
            Attempt(
                number: last.number, hop: last.hop, start: last.start, duration: last.duration, outcome: last.outcome,
                decision: last.decision, notes: last.notes + ["answered by the fallback"]))
        attempts = history
        headers[.cacheControl] = "no-store"
        verdict = CacheVerdictBox(CacheVerdict(.fallback, .callFailed(failure.label)))
        if url.isEmpty { url = request.urlString }
    }
}
