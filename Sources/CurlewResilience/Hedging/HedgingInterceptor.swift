// SPDX-License-Identifier: MIT

package import CurlewCore
import CurlewHTTP

/// Sends a request a second time when the first response is late. For the rules, see
/// `.hedging(after:budget:when:)`.
package struct HedgingInterceptor: Interceptor {
    /// The delay before the second request.
    public let delay: Duration
    private let budget: RetryBudget
    private let isBudgetChosen: Bool
    private let when: (@Sendable (HTTPRequest, ExchangeContext) -> Bool)?

    /// Creates an interceptor. The parameters are those of `.hedging(after:)`.
    public init(
        after delay: Duration, budget: RetryBudget? = nil,
        when: (@Sendable (HTTPRequest, ExchangeContext) -> Bool)? = nil
    ) {
        self.delay = delay
        self.budget = budget ?? RetryBudget()
        isBudgetChosen = budget != nil
        self.when = when
    }

    package var traits: InterceptorTraits {
        var traits = InterceptorTraits(.hedging, problem: problem(in:))
        traits.uniqueKind = InterceptorTraits.UniqueKind("hedgings", "a call may be sent four times")
        traits.budget = budget
        traits.isBudgetChosen = isBudgetChosen
        return traits
    }

    /// Runs the rest of the pipeline, and runs it again concurrently if the response is late.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let context = next.context
        let end = context.horizon.instant ?? context.time.now.advanced(by: .seconds(Int64(1) << 32))
        guard request.body.canReplay, context.mayRepeat(request), !context.options.isLive,
            when?(request, context) != false, context.time.now.advanced(by: delay) < end
        else {
            return try await next(request)
        }
        let budget = next.retryBudget ?? budget
        let race = HedgedRace(delay: delay, time: context.time) {
            if budget.withdraw(for: request.origin) != nil { return true }
            context.record(
                .feature(
                    PolicyNotice(.budgetExhausted, by: .hedging, scope: "\(request.origin)", cause: "no second request")
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

    /// Returns an error for a negative delay, and for a delay that is not shorter than the attempt timeout.
    func problem(in setup: Pipeline.Environment) -> String? {
        guard delay >= .zero else { return "The hedging delay is \(delay.brief). Set it to zero or longer." }
        guard let attempt = setup.attemptTimeout, delay >= attempt else { return nil }
        return
            "Hedging starts after \(delay.brief), but an attempt ends after \(attempt.brief). Use a shorter delay."
    }
}

extension HedgingInterceptor: CustomStringConvertible {
    /// A description such as `Hedging(300 ms)`.
    public var description: String { "Hedging(\(delay.brief))" }
}
