// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// The limits that a response specifies: a pause, and a remaining quota.
private struct RateFeedback {
    let pause: Duration?
    let remaining: Int?

    init?(_ response: HTTPResponse, heedsQuotas: Bool, _ context: ExchangeContext) {
        let (status, headers, date) = (response.status, response.headers, context.time.date)
        var (pause, remaining): (Duration?, Int?)
        if [.tooManyRequests, .serviceUnavailable, .forbidden].contains(status) {
            pause = headers.retryAfter(now: date)
        }
        if heedsQuotas, let quota = RateLimitStatus(headers, status: status, now: date) {
            remaining = quota.remaining
            if quota.remaining == 0, let reset = quota.reset { pause = max(pause ?? .zero, reset) }
        }
        guard pause != nil || remaining != nil else { return nil }
        self.pause = pause
        self.remaining = remaining
    }
}

extension RateLimit {
    /// Adapts the bucket of `key` to the pause and the quota that a response specifies.
    func learn(from response: HTTPResponse, _ key: LimitScope.Key, _ context: ExchangeContext) {
        guard let feedback = RateFeedback(response, heedsQuotas: heedsQuotas, context) else { return }
        let now = context.time.now
        let late = buckets.withLock { buckets -> [(SharedResult<Void>, Duration)] in
            let state = buckets.bucket(for: key, full, waiting, at: now)
            let pause = feedback.pause.map { min($0, maximumPause) } ?? .zero
            if let remaining = feedback.remaining { state.bucket.lower(to: remaining, at: now) }
            guard pause > .zero else { return [] }
            state.bucket.pause(until: now.advanced(by: pause))
            let next = state.bucket.availability(at: now)
            let late = state.queue.elements.filter { $0.deadline.hasPassed(at: next) }
            return late.map { ($0.turn, now.duration(to: next)) }
        }
        for (turn, wait) in late {
            turn.finish(.failure(refusal(of: key, "The server asks for a wait beyond the deadline of the call", wait)))
        }
    }
}
