// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Sends a call a second time when the first answer is late, and takes the answer that comes first. Made by
/// `.hedging(after: .milliseconds(300), budget: budget)`; nothing is hedged unless it is asked for.
///
/// It cuts the slowest calls short where one server of many is slow now and then, at the price of a few calls more:
/// choose a delay that nineteen of twenty answers keep, or let it be measured with `percentile`. What it guarantees:
/// - Only what may happen twice (`ExchangeContext.mayRepeat`), with a body that can be produced again, is sent twice;
///   never three times. `when` can only take calls out.
/// - The second sending begins after `delay`, if the first has not ended by then: one that has failed is a matter of
///   `.retry()`. It takes its price from `budget`, and does not happen when that is empty.
/// - With a `percentile` the delay is the time in which that share of the last 128 responses of the origin came, once 20
///   are known; at least 1 ms. A response that lost counts with the time until the other was there. Only calls that may
///   be hedged are measured; 64 origins are remembered.
/// - The first response that is no failure wins. The other sending is cancelled and its response dropped; the call returns
///   when both have ended, which takes no time with a transport that keeps its promises.
/// - When both fail, the call has the later failure, or the earlier one if the later was refused by a policy.
///
/// It stands right of `.retry()`, which sees one attempt with a note about the second sending, and left of the breaker
/// and the limits, which see each sending.
public struct HedgingInterceptor: ValidatingInterceptor {
    /// How long the first answer may take before the second sending; with a `percentile`, until enough is known.
    public let delay: Duration
    /// The share of responses that come before the second sending would begin; nil for a delay that stays as it is.
    public let percentile: Double?
    /// What second sendings are paid from.
    public let budget: RetryBudget
    package let isPurseChosen: Bool
    private let latencies: HedgingLatencies?
    private let when: (@Sendable (HTTPRequest, ExchangeContext) -> Bool)?

    /// - `delay`: not negative; zero sends twice at once.
    /// - `percentile`: from 0.5 up to, not including, 1, such as 0.95. Default nil: the delay stays as it is.
    /// - `budget`: nil, the default, is that of `.retry()` in the same pipeline, so that both together repeat no more than
    ///   one of them may; without a retry one of its own.
    /// - `when`: which calls may be hedged, among those that may happen twice. Default nil, all of them.
    public init(
        after delay: Duration, percentile: Double? = nil, budget: RetryBudget? = nil,
        when: (@Sendable (HTTPRequest, ExchangeContext) -> Bool)? = nil
    ) {
        self.init(
            delay, percentile, budget ?? RetryBudget(), isBudgetChosen: budget != nil,
            percentile.map { _ in HedgingLatencies() }, when)
    }

    private init(
        _ delay: Duration, _ percentile: Double?, _ budget: RetryBudget, isBudgetChosen: Bool,
        _ latencies: HedgingLatencies?, _ when: (@Sendable (HTTPRequest, ExchangeContext) -> Bool)?
    ) {
        self.delay = delay
        self.percentile = percentile
        self.budget = budget
        isPurseChosen = isBudgetChosen
        self.latencies = latencies
        self.when = when
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
        let start = context.time.now
        let delay = delay(for: request.origin)
        guard request.body.canReplay, context.mayRepeat(request), when?(request, context) != false else {
            return try await next(request)
        }
        guard start.advanced(by: delay) < end else {
            return try await measured(start, request, context) { try await next(request) }
        }
        let budget = budget
        let race = HedgedRace(delay: delay, time: context.time) {
            if budget.withdraw(for: request.origin) != nil { return true }
            context.record(
                .policy(
                    PolicyNotice(.budgetIsEmpty, by: .hedging, scope: "\(request.origin)", cause: "no second sending")))
            return false
        } send: {
            try await next(request)
        }
        let (result, note, wasHedged) = await race.run()
        do {
            var response = try await measured(start, request, context) { try result.get() }
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

    /// How long the first sending may take now.
    private func delay(for origin: Origin) -> Duration {
        guard let percentile, let usual = latencies?.time(of: percentile, for: origin) else { return delay }
        return max(usual, .milliseconds(1))
    }

    private func measured(
        _ start: MonotonicInstant, _ request: HTTPRequest, _ context: ExchangeContext,
        _ send: () async throws -> HTTPResponse
    ) async throws -> HTTPResponse {
        let response = try await send()
        if let latencies, response.status.code < 500 {
            latencies.add(start.duration(to: context.time.now), for: request.origin)
        }
        return response
    }

    /// Its budget.
    public func declare(in setup: inout PipelineSetup) {
        setup.budgets.insert(ObjectIdentifier(budget))
    }

    /// A delay that cannot be, or that no attempt lives to see.
    public func problem(in setup: PipelineSetup) -> String? {
        guard delay >= .zero else { return "The hedging delay is \(delay.brief). Let it be zero or longer." }
        if let percentile, !(0.5..<1).contains(percentile) {
            return "The hedging percentile is \(percentile). Let it be a share from 0.5 up to, not including, 1."
        }
        guard let attempt = setup.attemptTimeout, delay >= attempt else { return nil }
        return
            "Hedging begins after \(delay.brief), when an attempt is over after \(attempt.brief). Let it begin sooner."
    }
}

extension HedgingInterceptor: CustomStringConvertible {
    /// `Hedging(300 ms)`, or `Hedging(95 %)` with a percentile.
    public var description: String {
        percentile.map { "Hedging(\($0.percent))" } ?? "Hedging(\(delay.brief))"
    }
}

extension HedgingInterceptor: PayingInterceptor {
    package var purse: AnyObject { budget }

    package func paying(from purse: AnyObject) -> any Interceptor {
        guard let budget = purse as? RetryBudget else { return self }
        return HedgingInterceptor(delay, percentile, budget, isBudgetChosen: isPurseChosen, latencies, when)
    }
}
