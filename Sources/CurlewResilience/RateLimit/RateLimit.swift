// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// Limits the number of requests in a period and queues the others fairly.
///
/// `.rateLimit(10, every: .seconds(1))` creates a limit. Clients that share a limit share its tokens; they must also
/// share their `TimeSource`.
///
/// Guarantees:
/// - Each request that is sent takes a token from the token bucket of its scope. In any span of time, the requests take
///   no more tokens than the burst plus those that are added in that time. No token is available early.
/// - Requests that find no token wait in a queue. The queue is first in, first out within a `RequestOptions.priority`,
///   with higher priorities first. Every eighth token goes to the call that has waited longest.
/// - A call that cannot get a token before its deadline fails immediately with `.refused(by: .rateLimit)`, and
///   `retryAfter` is the time until a token would be available. A call that would exceed `waiting` in the queue fails
///   in the same way. A call that more urgent calls overtake until its deadline fails with `.timedOut(.queue)`.
/// - A waiting call that is cancelled leaves the queue immediately. If an open circuit prevents a request from being
///   sent, its token is returned.
/// - The limit adapts to the server. These responses pause the scope for as long as the server specifies, at most
///   `maximumPause`: a 429, 503 or 403 with `Retry-After`, and any response whose `RateLimit` or `X-RateLimit` fields
///   report an exhausted quota. A remaining quota is not exceeded.
/// - Each scope has a separate bucket. When more than `scopes` scopes are in use, a scope without waiting calls is
///   removed: of eight candidates, the one whose bucket is full or will be full soonest. Its next use begins with a
///   full bucket.
public final class RateLimit: Sendable {
    let count: Int
    let period: Duration
    let scope: LimitScope
    let waiting: Int
    let maximumPause: Duration
    let heedsQuotas: Bool
    let scopes: Int
    let full: TokenBucket
    let buckets: Locked<RateBuckets>

    /// Creates a limit whose buckets are full.
    ///
    /// - `count`, `period`: the pace, `period` at most 365 days. Unless both are positive, every call throws
    ///   `.configuration`.
    /// - `burst`: the maximum number of requests at once after an idle period, 1 to 1,000,000. Default `count`.
    /// - `scope`: the calls that share a bucket. Default: the calls to one origin.
    /// - `waiting`: the maximum number of waiting calls in each scope. Default 1000. Zero, and any negative number,
    ///   refuses every call that finds no token.
    /// - `maximumPause`: the longest pause that one response can cause. Default 60 s. Zero ignores the pauses of
    ///   servers.
    /// - `heedsQuotas`: whether to respect the `RateLimit` and `X-RateLimit` fields. Default true. Set it to false for
    ///   servers that send wrong values, or a quota that many clients share. `Retry-After` is still respected.
    /// - `scopes`: the maximum number of scopes that are remembered, at least 1; about 200 bytes each. Default 10,000.
    public init(
        _ count: Int, every period: Duration, burst: Int? = nil, per scope: LimitScope = .origin, waiting: Int = 1000,
        maximumPause: Duration = .seconds(60), heedsQuotas: Bool = true, scopes: Int = 10_000
    ) {
        self.count = count
        self.period = period
        self.scope = scope
        self.waiting = max(0, waiting)
        self.maximumPause = max(.zero, maximumPause)
        self.heedsQuotas = heedsQuotas
        self.scopes = max(1, scopes)
        full = TokenBucket(count, every: period, burst: burst)
        buckets = Locked(RateBuckets(maximum: self.scopes))
    }

    /// The number of waiting calls, over all scopes.
    var waitingCount: Int {
        buckets.withLock { buckets in buckets.known.values.reduce(0) { $0 + $1.queue.count } }
    }
}

extension RateLimit {
    private enum Arrival: Sendable {
        case go
        case wait(UInt64, SharedResult<Void>, startsPump: Bool)
        case refuse(String, Duration)
    }

    /// Takes a token of `key`, waiting for it if necessary.
    func acquire(_ key: LimitScope.Key, _ context: ExchangeContext) async throws {
        let (now, deadline, time) = (context.time.now, context.deadline, context.time)
        let horizon = context.horizon
        let arrival = buckets.withLock { buckets -> Arrival in
            let state = buckets.bucket(for: key, full, waiting, at: now)
            if state.queue.isEmpty, state.bucket.take(at: now) { return .go }
            let priority = context.options.priority ?? .normal
            let turn = state.bucket.availability(at: now, after: state.queue.ahead(of: priority))
            if let end = horizon.instant, end <= turn {
                return .refuse(
                    "The next token is due only after the deadline of the call", now.duration(to: turn))
            }
            let waiter = RateBucket.Waiter(turn: SharedResult(), deadline: deadline)
            guard let ticket = state.queue.wait(waiter, priority) else {
                return .refuse("\(state.queue.count) calls already wait for a token", now.duration(to: turn))
            }
            defer { state.isPumped = true }
            return .wait(ticket, waiter.turn, startsPump: !state.isPumped)
        }
        switch arrival {
        case .go: break
        case .refuse(let what, let wait): throw refusal(of: key, what, wait)
        case .wait(let ticket, let turn, let startsPump):
            if startsPump { pump(key, time) }
            do {
                try await turn.wait(until: deadline, on: time)
            } catch {
                leave(key, ticket, at: time.now)
                guard error is DeadlinePassed else { throw error }
                throw refusal(
                    of: key, "No token became free before the deadline of the call", nil,
                    reason: .timedOut(.queue))
            }
        }
    }

    /// Starts the task that serves the waiting calls of a queue. Each queue has at most one.
    private func pump(_ key: LimitScope.Key, _ time: any TimeSource) {
        // The task does not inherit the priority of the first waiting call, because that call may be the least urgent.
        Task(priority: .high) {
            while let next = serve(key, at: time.now, asPump: true) {
                try await time.sleep(until: next)
            }
        }
    }

    /// Resumes the waiting calls that get a token. Returns the time of the next token, or nil if no call waits.
    private func serve(_ key: LimitScope.Key, at now: SystemTime.Instant, asPump: Bool) -> SystemTime.Instant? {
        let (turns, next) = buckets.withLock { buckets -> ([SharedResult<Void>], SystemTime.Instant?) in
            guard let state = buckets[key] else { return ([], nil) }
            var turns: [SharedResult<Void>] = []
            while !state.queue.isEmpty, state.bucket.take(at: now) {
                if let waiter = state.queue.next() { turns.append(waiter.turn) }
            }
            guard state.queue.isEmpty else { return (turns, state.bucket.availability(at: now)) }
            if asPump { state.isPumped = false }
            return (turns, nil)
        }
        for turn in turns { turn.finish(.success(())) }
        return next
    }

    /// Removes a waiting call. If its turn came at the same moment, the next call gets its token.
    private func leave(_ key: LimitScope.Key, _ ticket: UInt64, at now: SystemTime.Instant) {
        let hadTurn = buckets.withLock { buckets in
            guard let state = buckets[key], !state.queue.leave(ticket) else { return false }
            state.bucket.giveBack()
            return true
        }
        if hadTurn { _ = serve(key, at: now, asPump: false) }
    }

    /// Puts back the token of a request that was not sent, and resumes the next waiting call.
    func giveBack(_ key: LimitScope.Key, at now: SystemTime.Instant) {
        buckets.withLock { $0[key]?.bucket.giveBack() }
        _ = serve(key, at: now, asPump: false)
    }

    func refusal(
        of key: LimitScope.Key, _ what: String, _ wait: Duration?,
        reason: NetworkError.Reason = .refused(by: .rateLimit)
    ) -> NetworkError {
        var error = NetworkError(
            reason,
            detail: "\(what): the limit for \(key) is \(count) in \(period.brief).",
            hint: "Send less often, give urgent calls a higher RequestOptions.priority, or raise .rateLimit(\(count)).")
        error.expectedWait = wait
        return error
    }
}

/// Limits the number of requests in a period. For the rules, see `RateLimit`.
struct RateLimitInterceptor: Interceptor {
    let limit: RateLimit

    var traits: InterceptorTraits { InterceptorTraits(.rateLimit, problem: problem(in:)) }

    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var context = next.context
        let arrival = context.time.now
        let key = limit.scope.key(of: request, in: context)
        do {
            try await limit.acquire(key, context)
        } catch {
            context.reportRefusal(error, .rateLimit, key)
            throw error
        }
        let waited = context.wait(since: arrival, for: .rateLimit, key)
        do {
            var response = try await next(request, context: context)
            limit.learn(from: response, key, context)
            response.note(waited, for: "a token")
            return response
        } catch let error as NetworkError where error.reason == .refused(by: .circuitBreaker) {
            // The circuit opened while the call was queued: nothing was sent.
            limit.giveBack(key, at: context.time.now)
            throw error
        }
    }

    func problem(in setup: Pipeline.Environment) -> String? {
        limit.count > 0 && limit.period > .zero && limit.full.burst > 0
            ? nil
            : "The rate limit of \(limit.count) in \(limit.period.brief) allows no calls, or all of them."
                + " Make both positive."
    }
}

extension RateLimitInterceptor: CustomStringConvertible {
    /// A description such as `RateLimit(10 in 1 s per origin)`.
    var description: String { "RateLimit(\(limit.count) in \(limit.period.brief) per \(limit.scope))" }
}
