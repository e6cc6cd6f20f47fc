// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Sends a call a second time when the first answer is late, and takes the answer that comes first. Made by
/// `.hedging(after: .milliseconds(300), budget: budget)`; nothing is hedged unless it is asked for.
///
/// It cuts the slowest calls short where one server of many is slow now and then, at the price of a few calls more:
/// choose a delay that nineteen of twenty answers keep. What it guarantees:
/// - Only what may happen twice (`ExchangeContext.mayRepeat`), with a body that can be produced again, is sent twice;
///   never three times.
/// - The second sending begins after `delay`, if the first has not ended by then: one that has failed is a matter of
///   `.retry()`. It takes its price from `budget`, and does not happen when that is empty.
/// - The first response that is no failure wins. The other sending is cancelled and its response dropped; the call returns
///   when both have ended, which takes no time with a transport that keeps its promises.
/// - When both fail, the call has the later failure, or the earlier one if the later was refused by a policy.
///
/// It stands right of `.retry()`, which sees one attempt with a note about the second sending, and left of the breaker
/// and the limits, which see each sending.
public struct HedgingInterceptor: ValidatingInterceptor {
    /// How long the first answer may take before the second sending.
    public let delay: Duration
    /// What second sendings are paid from.
    public let budget: RetryBudget

    /// - `delay`: not negative; zero sends twice at once.
    /// - `budget`: the one of `.retry(_:budget:)`, so that both together repeat no more than one of them may.
    public init(after delay: Duration, budget: RetryBudget) {
        self.delay = delay
        self.budget = budget
    }

    /// `.hedging`.
    public var placement: Placement { .hedging }

    /// A preview sends nothing, and nothing twice.
    public var runsInPreview: Bool { false }

    /// `.anonymous`: it sends the same request twice.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

    /// Runs the rest of the chain once, or twice side by side.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let context = next.context
        let end = context.horizon.instant ?? context.time.now.advanced(by: .seconds(Int64(1) << 32))
        guard request.body.canReplay, context.mayRepeat(request), context.time.now.advanced(by: delay) < end else {
            return try await next(request)
        }
        let budget = budget
        let race = HedgedRace(delay: delay, time: context.time) {
            budget.withdraw(for: request.origin)
        } send: {
            try await next(request)
        }
        let (result, note, wasHedged) = await race.run()
        do {
            var response = try result.get()
            // A retry further out counts the call itself.
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

    /// Its budget.
    public func declare(in setup: inout PipelineSetup) {
        setup.budgets.insert(ObjectIdentifier(budget))
    }

    /// A delay that cannot be, or that no attempt lives to see.
    public func problem(in setup: PipelineSetup) -> String? {
        guard delay >= .zero else { return "The hedging delay is \(delay.brief). Let it be zero or longer." }
        guard let attempt = setup.attemptTimeout, delay >= attempt else { return nil }
        return
            "Hedging begins after \(delay.brief), when an attempt is over after \(attempt.brief). Let it begin sooner."
    }
}

extension HedgingInterceptor: CustomStringConvertible {
    /// `Hedging(300 ms)`
    public var description: String { "Hedging(\(delay.brief))" }
}
