// SPDX-License-Identifier: MIT

package import CurlewCore
import CurlewHTTP

/// Sends a request a second time when the first response is late. For the rules, see
/// `.hedging(after:budget:when:)`.
package struct HedgingInterceptor: ValidatingInterceptor, PolicyInterceptor {
    /// The delay before the second request.
    public let delay: Duration
    /// The budget that second requests draw on.
    public let budget: RetryBudget
    package let isBudgetChosen: Bool
    private let when: (@Sendable (HTTPRequest, ExchangeContext) -> Bool)?

    /// Creates an interceptor. The parameters are those of `.hedging(after:)`.
    public init(
        after delay: Duration, budget: RetryBudget? = nil,
        when: (@Sendable (HTTPRequest, ExchangeContext) -> Bool)? = nil
    ) {
        self.init(delay, budget ?? RetryBudget(), isBudgetChosen: budget != nil, when)
    }

    private init(
        _ delay: Duration, _ budget: RetryBudget, isBudgetChosen: Bool,
        _ when: (@Sendable (HTTPRequest, ExchangeContext) -> Bool)?
    ) {
        self.delay = delay
        self.budget = budget
        self.isBudgetChosen = isBudgetChosen
        self.when = when
    }

    /// The placement of the interceptor: `.hedging`.
    public var placement: Placement { .hedging }

    /// Runs the rest of the pipeline, and runs it again concurrently if the response is late.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let context = next.context
        let end = context.horizon.instant ?? context.time.now.advanced(by: .seconds(Int64(1) << 32))
        guard request.body.canReplay, context.mayRepeat(request), !context.options.isLive,
            when?(request, context) != false, context.time.now.advanced(by: delay) < end
        else {
            return try await next(request)
        }
        let budget = budget
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
    public func problem(in setup: Pipeline.Environment) -> String? {
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

extension HedgingInterceptor: PayingInterceptor {
    package func paying(from budget: RetryBudget) -> any Interceptor {
        HedgingInterceptor(delay, budget, isBudgetChosen: isBudgetChosen, when)
    }
}
