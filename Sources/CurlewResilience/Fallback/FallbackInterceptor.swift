// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewHTTP

/// Returns substitute responses for calls that fail. For the rules, see `.fallback(when:_:)`.
struct FallbackInterceptor: Interceptor {
    let when: @Sendable (NetworkError) -> Bool
    let respond: @Sendable (HTTPRequest, NetworkError) async throws -> HTTPResponse?

    var traits: InterceptorTraits { InterceptorTraits(.fallback) }

    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let context = next.context
        do {
            let response = try await next(request)
            guard response.status.code >= 400, !context.options.acceptedStatuses.contains(response.status) else {
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

    /// An error that the app's closure threw, as opposed to the failure of the call.
    private struct Thrown: Error {
        let error: any Error
    }

    private func substitute(
        for request: HTTPRequest, after failure: NetworkError, _ context: ExchangeContext
    ) async throws -> HTTPResponse? {
        guard !failure.isCancelled, when(failure) else { return nil }
        do {
            guard var response = try await respond(request, failure) else { return nil }
            context.record(
                .feature(
                    Pipeline.PolicyEvent(.fellBack, by: .fallback, scope: "\(request.origin)", cause: failure.label)))
            response.standIn(for: failure, of: request, in: context)
            return response
        } catch {
            throw Thrown(error: error)
        }
    }
}

extension Interceptor where Self == BuiltInInterceptor {
    /// Provides a substitute response for a call that has failed:
    ///
    ///     .fallback { request, error in
    ///         request.target == "/rates" ? HTTPResponse(body: ResponseBody(lastRates)) : nil
    ///     }
    ///
    /// - The fallback is placed outside of redirects, retries, circuit breakers and the cache; only `.logging` and
    ///   `.totalDeadline` are closer to the caller. The closure therefore runs once, after all of them have failed. No
    ///   cache stores its response, which has `Cache-Control: no-store`.
    /// - The closure receives the request and the error of the call. If it returns nil, the call keeps its outcome. If
    ///   it throws, the call throws that error.
    /// - A response from the fallback can be recognized: `response.served` is `.fallback`, the last of its `attempts`
    ///   has a note about the fallback, and observers are notified (`Pipeline.PolicyEvent`). The error that the closure
    ///   receives contains the complete history of the call.
    /// - The closure has no separate time limit, and the total deadline of the call may have passed. Take the response
    ///   from memory or from a file.
    ///
    /// - `when`: returns whether to call the closure for a failure. Default: `NetworkError.isOutage`, that is, statuses
    ///   from 500 to 599, 408 and 429, no connection, a lost connection, timeouts, invalid responses, and refusals by a
    ///   circuit breaker or a limit. A status of 400 or above is a failure unless `RequestOptions.acceptedStatuses`
    ///   contains it. Never called for cancellation.
    public static func fallback(
        when: @escaping @Sendable (NetworkError) -> Bool = { $0.isOutage },
        _ answer: @escaping @Sendable (HTTPRequest, NetworkError) async throws -> HTTPResponse?
    ) -> BuiltInInterceptor {
        BuiltInInterceptor(FallbackInterceptor(when: when, respond: answer))
    }
}

extension NetworkError {
    /// Whether the error is retryable (`isRetryable`, which includes refusals by a circuit breaker or a limit), a
    /// status from 500 to 599, or `.badResponse`. By default, `.fallback` calls its closure for these errors.
    public var isOutage: Bool { isRetryable || isServerError || reason == .badResponse }
}

extension HTTPResponse {
    /// Returns the error that the call would throw for the status, with the part of the body that is in memory.
    fileprivate func failure(of request: HTTPRequest, in context: ExchangeContext) -> NetworkError {
        var failure = NetworkError(
            .status(status), request: NetworkError.RequestLine(request),
            response: errorResponse(body.bufferedData, in: context))
        failure.attempts = attempts
        return failure
    }

    /// Marks the response as one from the fallback, in its history, its `Cache-Control` field and its facts.
    fileprivate mutating func standIn(
        for failure: NetworkError, of request: HTTPRequest, in context: ExchangeContext
    ) {
        let none = NetworkError.Attempt(
            number: 1, duration: context.start.duration(to: context.time.now),
            outcome: NetworkError.Attempt.Outcome(failure))
        var history = failure.attempts
        let last = history.popLast() ?? none
        history.append(
            NetworkError.Attempt(
                number: last.number, hop: last.hop, start: last.start, duration: last.duration, outcome: last.outcome,
                decision: last.decision, notes: last.notes + ["response from the fallback"]))
        attempts = history
        headers[.cacheControl] = "no-store"
        facts.standIn = failure.label
        if url.isEmpty { url = request.urlString }
    }
}
