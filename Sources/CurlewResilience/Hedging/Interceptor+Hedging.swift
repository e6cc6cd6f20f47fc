// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewHTTP

extension Interceptor where Self == BuiltInInterceptor {
    /// Sends a request a second time when the first response is late: `.hedging(after: .milliseconds(300))`.
    ///
    /// Hedging shortens the slowest calls where one of many servers is occasionally slow, at the cost of a few more
    /// requests. Choose a delay within which 95 % of the responses arrive.
    ///
    /// Guarantees:
    /// - A request is hedged only if it may be sent twice (`ExchangeContext.mayRepeat`), its body can be produced
    ///   again, its response is no live stream, and `delay` ends before the deadline. It is never sent three times.
    /// - The second request is sent after `delay` if the first has not ended by then. `.retry()` handles failed
    ///   requests. The second request draws on `budget`, and is not sent if the budget has too few tokens.
    /// - The first response that is not a failure wins. Failures are errors and the statuses 408, 429, 500, 502, 503
    ///   and 504. The other request is cancelled and its response discarded. The call returns when both requests have
    ///   ended. A transport must end a cancelled request immediately, so this is no additional wait.
    /// - When both requests fail, the call ends with the later failure, or with the earlier one if a policy refused the
    ///   later request.
    ///
    /// No default pipeline includes hedging. It is placed after `.retry()`, which sees one attempt with a note about
    /// the second request, and before the circuit breaker and the limits, which see each request.
    ///
    /// - `delay`: the wait before the second request. Zero sends both requests immediately. If `delay` is negative, or
    ///   not shorter than the attempt timeout of the pipeline, every call throws `.configuration`.
    /// - `budget`: the budget of second requests and retries. If `.retry()` was given another one, every call throws
    ///   `.configuration`. Default nil: the budget of `.retry()`; without `.retry()`, a separate budget.
    /// - `when`: selects the calls that are hedged among those that may be sent twice. Default nil: all of them.
    public static func hedging(
        after delay: Duration, budget: RetryBudget? = nil,
        when: (@Sendable (HTTPRequest, ExchangeContext) -> Bool)? = nil
    ) -> BuiltInInterceptor {
        let own = budget ?? RetryBudget()
        var traits = InterceptorTraits(.hedging)
        traits.uniqueKind = ("hedgings", "a call may be sent four times")
        traits.budget = (own, budget != nil)
        traits.problem = { setup in
            guard delay >= .zero else { return "The hedging delay is \(delay.brief). Set it to zero or longer." }
            guard let attempt = setup.attemptTimeout, delay >= attempt else { return nil }
            return
                "Hedging starts after \(delay.brief), but an attempt ends after \(attempt.brief). Use a shorter delay."
        }
        return BuiltInInterceptor("Hedging(\(delay.brief))", traits) { request, next in
            let context = next.context
            let end = context.horizon.instant ?? context.time.now.advanced(by: .seconds(Int64(1) << 32))
            guard request.body.canReplay, context.mayRepeat(request), !context.options.isLive,
                when?(request, context) != false, context.time.now.advanced(by: delay) < end
            else {
                return try await next(request)
            }
            let budget = next.retryBudget ?? own
            let race = HedgedRace(delay: delay, time: context.time) {
                if budget.withdraw(for: request.origin) != nil { return true }
                context.record(
                    .feature(
                        Pipeline.PolicyEvent(
                            .budgetExhausted, by: .hedging, scope: "\(request.origin)", cause: "no second request")
                    ))
                return false
            } send: {
                try await next(request)
            }
            let (result, note, wasHedged) = await race.run()
            do {
                var response = try result.get()
                // If there is a `.retry()` closer to the caller, that interceptor deposits the token.
                if !wasHedged, !context.isRetried, response.status.isSuccess { budget.deposit(for: request.origin) }
                if let note { response.note(note) }
                return response
            } catch {
                guard let note else { throw error }
                var failure = NetworkError(error)
                failure.notes.append(note)
                throw failure
            }
        }
    }
}
