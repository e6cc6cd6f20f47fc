// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// Runs `operation` until it succeeds or `policy` ends the retries, for asynchronous work that does not use a client.
///
///     let page = try await withRetry(.attempts(5)) { attempt in try await database.page(3) }
///
/// The operation may run more than once; the caller must ensure that this is safe. Do not use this function for calls
/// of a client that retries, as with `Pipeline.standard`: the attempts would multiply. Set `options.retry` instead.
///
/// - `deadline`: no wait extends past this deadline. It does not limit `operation` itself. Default: no deadline.
/// - `budget`, `origin`: the budget that retries draw on, and the origin whose bucket they use. Default nil: no budget.
/// - `time`: the clock for the waits. Default: the system's.
/// - `random`: returns uniformly distributed numbers in 0..<1 for the waits. Default: the system's generator.
/// - `mayPass`: returns whether to retry after an error. Default `NetworkError.isRetryable`, which is false for errors
///   other than those of this package and of the system's network functions. Not called for cancellation, which always
///   ends the retries.
/// - `operation`: the work. It receives the number of the attempt, counted from one.
///
/// Throws the last error that `operation` threw, unchanged. Throws `CancellationError` immediately if the task is
/// cancelled during a wait.
public func withRetry<Value>(
    _ policy: RetryPolicy = .standard, deadline: Deadline = .never, budget: RetryBudget? = nil, origin: Origin? = nil,
    time: any TimeSource = SystemTime(), random: () -> Double = { .random(in: 0..<1) },
    mayPass: (any Error) -> Bool = { NetworkError($0).isRetryable },
    _ operation: (_ attempt: Int) async throws -> Value
) async throws -> Value {
    var course = RetryCourse(RetryPolicy.Situation(random: 0), budget: budget, origin: origin, began: time.now)
    var number = 1
    while true {
        do {
            let value = try await operation(number)
            course.succeeded(for: origin)
            return value
        } catch {
            let failure = NetworkError(error)
            let (now, outcome) = (time.now, Attempt.Outcome(failure))
            course.update(
                at: now, time, remaining: deadline.remaining(at: now), reachedNobody: failure.reachedNobody,
                random: random())
            let wish = RetryWish(failure.response?.headers ?? HTTPHeaders())
            guard !failure.isCancelled, wish.verdict != false, mayPass(error) else { throw error }
            let decision = policy.schedule(
                outcome, because: wish.verdict == true ? .serverAsked : .transient,
                least: failure.expectedWait ?? wish.wait(after: outcome.status, from: course.situation.date),
                course.situation)
            guard case .retry(let wait, let cause) = course.pay(decision, for: origin, after: outcome) else {
                throw error
            }
            try await time.sleep(until: now.advanced(by: wait))
            course.scheduleNext(cause, after: wait)
            number += 1
        }
    }
}
