// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// The limits that a response specifies: a pause, a remaining quota, and the resource that they apply to.
private struct RateFeedback {
    let pause: Duration?
    let remaining: Int?
    let resource: String?

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
        let name = heedsQuotas ? headers[Self.field] : nil
        resource = name.flatMap { $0.isEmpty ? nil : $0.clipped(to: 64) }
    }

    private static let field: HTTPField.Name = "X-RateLimit-Resource"
}

extension RateLimit {
    /// Adapts the bucket of `key` to the pause and the quota that a response specifies.
    func learn(
        from response: HTTPResponse, to request: HTTPRequest, _ key: LimitScope.Key, _ context: ExchangeContext
    ) {
        guard let feedback = RateFeedback(response, heedsQuotas: heedsQuotas, context) else { return }
        let now = context.time.now
        let late = buckets.withLock { buckets -> [(SharedResult<Void>, Duration)] in
            let state = buckets.bucket(for: key, full, waiting, at: now)
            let pause = feedback.pause.map { min($0, maximumPause) } ?? .zero
            if let resource = feedback.resource {
                var resources = state.resources ?? RateResources()
                resources.learn(resource, of: Self.route(of: request, context))
                if pause > .zero { resources.pause(resource, until: now.advanced(by: pause)) }
                state.resources = resources
                return []
            }
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

    /// Returns the string that identifies the route of a call: its name, or at most 200 characters of the path if it
    /// has no name.
    static func route(of request: HTTPRequest, _ context: ExchangeContext) -> String {
        if !context.routeName.isEmpty { return context.routeName }
        return String(Substring(request.target.utf8.prefix { $0 != UInt8(ascii: "?") })).clipped(to: 200)
    }
}
