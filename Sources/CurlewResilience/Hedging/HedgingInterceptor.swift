// SPDX-License-Identifier: MIT

package import CurlewCore
import CurlewHTTP

/// Sends a request a second time when the first response is late. For the rules, see
/// `.hedging(after:percentile:budget:when:)`.
package struct HedgingInterceptor: ValidatingInterceptor {
    /// The delay before the second request. With a `percentile`, it applies only until 20 responses of the origin are
    /// known.
    public let delay: Duration
    /// The share of responses that arrive within the delay; nil if the delay is fixed.
    public let percentile: Double?
    /// The budget that second requests draw on.
    public let budget: RetryBudget
    package let isBudgetChosen: Bool
    private let latencies: HedgingLatencies?
    private let when: (@Sendable (HTTPRequest, ExchangeContext) -> Bool)?

    /// Creates an interceptor. The parameters are those of `.hedging(after:)`.
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
        self.isBudgetChosen = isBudgetChosen
        self.latencies = latencies
        self.when = when
    }

    /// The placement of the interceptor: `.hedging`.
    public var placement: Placement { .hedging }

    /// False, because a preview sends nothing.
    public var runsInPreview: Bool { false }

    /// Returns `.anonymous`, because the interceptor does not change requests.
    public func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

    /// Runs the rest of the pipeline, and runs it again concurrently if the response is late.
    public func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let context = next.context
        let end = context.horizon.instant ?? context.time.now.advanced(by: .seconds(Int64(1) << 32))
        let start = context.time.now
        let delay = delay(for: request.origin)
        guard request.body.canReplay, context.mayRepeat(request), !context.options.isLive,
            when?(request, context) != false
        else {
            return try await next(request)
        }
        guard start.advanced(by: delay) < end else {
            return try await measured(start, request, context) { try await next(request) }
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
            var response = try await measured(start, request, context) { try result.get() }
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

    /// Returns the delay before the second request to `origin`: the measured time of `percentile`, at least 1 ms.
    /// Without a percentile, or until 20 responses are known, returns `delay`.
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

    /// Returns an error for a negative delay, a percentile outside 0.5..<1, and a delay that is not shorter than the
    /// attempt timeout.
    public func problem(in setup: Pipeline.Environment) -> String? {
        guard delay >= .zero else { return "The hedging delay is \(delay.brief). Set it to zero or longer." }
        if let percentile, !(0.5..<1).contains(percentile) {
            return "The hedging percentile is \(percentile). Use a value from 0.5 up to, but not including, 1."
        }
        guard let attempt = setup.attemptTimeout, delay >= attempt else { return nil }
        return
            "Hedging starts after \(delay.brief), but an attempt ends after \(attempt.brief). Use a shorter delay."
    }
}

extension HedgingInterceptor: CustomStringConvertible {
    /// A description such as `Hedging(300 ms)`, or `Hedging(95 %)` with a percentile.
    public var description: String {
        percentile.map { "Hedging(\($0.percent))" } ?? "Hedging(\(delay.brief))"
    }
}

extension HedgingInterceptor: PayingInterceptor {
    package func paying(from budget: RetryBudget) -> any Interceptor {
        HedgingInterceptor(delay, percentile, budget, isBudgetChosen: isBudgetChosen, latencies, when)
    }
}
