// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// Does `operation` until it succeeds or `policy` says that it is enough: the retry of any asynchronous work, without a
/// client.
///
///     let page = try await withRetry(.attempts(5)) { attempt in try await database.page(3) }
///
/// Work that is given here may be done twice: that is the caller's word. A call of a client that retries by itself
/// (`Pipeline.standard` does) has `options.retry` instead; here its attempts would multiply.
///
/// - `deadline`: no wait goes past it. Default none; `operation` itself is not bounded.
/// - `budget`, `origin`: what repetitions are paid from, if anything.
/// - `mayPass`: whether to try again after an error. Default `NetworkError.isRetryable`, which is false for errors that
///   are none of this package's. Not asked about cancellation, which always ends it.
/// - `operation`: gets the number of the attempt, counted from one.
///
/// Throws the last error of `operation` as it is, and `CancellationError` at once when cancelled during a wait.
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
            course.look(
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
            course.goOn(cause, after: wait)
            number += 1
        }
    }
}
