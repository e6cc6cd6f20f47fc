// SPDX-License-Identifier: MIT

import CurlewHTTP

/// So many sendings in a time, and a fair line for the others. Made by `.rateLimit(10, every: .seconds(1))`; share one
/// among clients that are to be limited together. They have to share their `TimeSource` too.
///
/// What it guarantees:
/// - Each sending takes a token of its scope's `TokenBucket`; never more in any span of time than the burst and those
///   that the span has brought, and none early.
/// - Those that find none wait in line: first come, first served within a `RequestOptions.priority`, a higher one first,
///   and every eighth token goes to whoever has waited longest.
/// - A call that cannot get a token before its deadline fails at once with `.refused(by: .rateLimit)`, and
///   `retryAfter` says when there would be one; so does the call that would be one more than `waiting` in line. One that
///   is overtaken by more urgent calls until its deadline fails with `.timedOut(.queue)`. A waiting call that is cancelled
///   leaves the line at once. A request that an open circuit keeps from being sent gives its token back.
/// - It learns: a 429, 503 or 403 with `Retry-After`, and any answer whose `RateLimit` or `X-RateLimit` fields leave
///   nothing, pause the scope for as long as the server says, at most `longestPause`; what they leave is not exceeded.
/// - An answer that names the resource of its quota (`X-RateLimit-Resource`, as GitHub's do) pauses the calls of routes
///   whose answers have named that resource, and no others; those that wait in the queue already go. 16 resources and 256
///   routes of a scope are remembered.
/// - `scopes` have a bucket of their own. When more are in use, one in which nobody waits is forgotten, of eight the one
///   whose bucket is full or will be soonest: it begins with a full bucket when it comes back.
public final class RateLimit: Sendable {
    /// How many in `period`, in each scope.
    public let count: Int
    /// The time for `count`.
    public let period: Duration
    /// What shares a bucket.
    public let scope: LimitScope
    /// How many may wait, in each scope.
    public let waiting: Int
    /// The longest that a server can make a scope stand still at a time.
    public let longestPause: Duration

    /// Whether the `RateLimit` fields of answers count.
    public let heedsQuotas: Bool
    /// How many scopes are remembered.
    public let scopes: Int

    let full: TokenBucket
    let lines: Locked<RateLines>

    /// - `count`, `period`: the pace. Values that are not positive are a problem of the pipeline.
    /// - `burst`: how many may go at once after a rest. Default `count`.
    /// - `scope`: what shares a bucket. Default each origin.
    /// - `waiting`: how many may wait in line. Default 1000; zero refuses whatever finds no token.
    /// - `longestPause`: how much a server is believed. Default 60 s; zero believes nothing.
    /// - `heedsQuotas`: false ignores the `RateLimit` fields, of servers that tell them wrongly or of a quota that many
    ///   clients share. `Retry-After` counts all the same. Default true.
    /// - `scopes`: how many are remembered, some 200 bytes each. Default 10,000.
    public init(
        _ count: Int, every period: Duration, burst: Int? = nil, per scope: LimitScope = .origin, waiting: Int = 1000,
        longestPause: Duration = .seconds(60), heedsQuotas: Bool = true, scopes: Int = 10_000
    ) {
        self.count = count
        self.period = period
        self.scope = scope
        self.waiting = max(0, waiting)
        self.longestPause = max(.zero, longestPause)
        self.heedsQuotas = heedsQuotas
        self.scopes = max(1, scopes)
        full = TokenBucket(count, every: period, burst: burst)
        lines = Locked(RateLines(most: self.scopes))
    }

    /// How many may go at once after a rest.
    public var burst: Int { full.burst }

    /// How many calls wait, in all scopes together.
    public var waitingCount: Int {
        lines.withLock { lines in lines.lines.values.reduce(0) { $0 + $1.queue.count + $1.pausing } }
    }
}

extension RateLimit {
    private enum Arrival: Sendable {
        case go
        case wait(UInt64, OneShot<Void>, startsPump: Bool)
        case pause(until: MonotonicInstant)
        case refuse(String, Duration)
    }

    /// Takes a token of `key` for `request`, waiting for it if need be.
    func enter(_ key: LimitScope.Key, _ request: HTTPRequest, _ context: ExchangeContext) async throws {
        while let end = try await take(key, request, context) {
            defer { lines.withLock { $0[key]?.pausing -= 1 } }
            try await context.time.sleep(until: end)
        }
    }

    /// The same, or when to ask again because the server's quota is used up until then.
    private func take(
        _ key: LimitScope.Key, _ request: HTTPRequest, _ context: ExchangeContext
    ) async throws -> MonotonicInstant? {
        let (now, deadline, time) = (context.time.now, context.deadline, context.time)
        let horizon = context.horizon
        let arrival = lines.withLock { lines -> Arrival in
            let line = lines.line(for: key, full, waiting, at: now)
            if let (resource, end) = line.resources?.pause(of: Self.route(of: request, context), at: now) {
                let isLate = horizon.instant.map { $0 <= end } ?? false
                if isLate || line.pausing >= waiting {
                    let what = isLate ? "until after the deadline of the call" : "and \(line.pausing) calls wait"
                    return .refuse(
                        "The server's quota of \(resource.printable) is used up \(what)", now.duration(to: end))
                }
                line.pausing += 1
                return .pause(until: end)
            }
            if line.queue.isEmpty, line.bucket.take(at: now) { return .go }
            let priority = context.options.priority ?? .normal
            let turn = line.bucket.availability(at: now, after: line.queue.ahead(of: priority))
            if let end = horizon.instant, end <= turn {
                return .refuse("A token comes only after the deadline of the call", now.duration(to: turn))
            }
            let waiter = RateLine.Waiter(turn: OneShot(), deadline: deadline)
            guard let ticket = line.queue.wait(waiter, priority) else {
                return .refuse("\(line.queue.count) calls wait for a token already", now.duration(to: turn))
            }
            defer { line.isPumped = true }
            return .wait(ticket, waiter.turn, startsPump: !line.isPumped)
        }
        switch arrival {
        case .go: break
        case .pause(let end): return end
        case .refuse(let what, let wait): throw refusal(of: key, what, wait)
        case .wait(let ticket, let turn, let startsPump):
            if startsPump { pump(key, time) }
            do {
                try await turn.wait(until: deadline, on: time)
            } catch {
                leave(key, ticket, at: time.now)
                guard error is DeadlinePassed else { throw error }
                throw refusal(of: key, "No token came before the deadline of the call", nil, reason: .timedOut(.queue))
            }
        }
        return nil
    }

    /// Gives tokens to those who wait, in one task for each line that has any.
    private func pump(_ key: LimitScope.Key, _ time: any TimeSource) {
        // Whoever waits first may be the least urgent.
        Task(priority: .high) {
            while let next = serve(key, at: time.now, asPump: true) {
                try await time.sleep(until: next)
            }
        }
    }

    /// Lets those go who have a token, and gives the time of the next one; nil when nobody waits.
    private func serve(_ key: LimitScope.Key, at now: MonotonicInstant, asPump: Bool) -> MonotonicInstant? {
        let (turns, next) = lines.withLock { lines -> ([OneShot<Void>], MonotonicInstant?) in
            guard let line = lines[key] else { return ([], nil) }
            var turns: [OneShot<Void>] = []
            while !line.queue.isEmpty, line.bucket.take(at: now) {
                if let waiter = line.queue.next() { turns.append(waiter.turn) }
            }
            guard line.queue.isEmpty else { return (turns, line.bucket.availability(at: now)) }
            if asPump { line.isPumped = false }
            return (turns, nil)
        }
        for turn in turns { turn.finish(.success(())) }
        return next
    }

    /// A waiter goes away. The token of one whose turn came in the same moment is the next one's.
    private func leave(_ key: LimitScope.Key, _ ticket: UInt64, at now: MonotonicInstant) {
        let hadTurn = lines.withLock { lines in
            guard let line = lines[key], !line.queue.leave(ticket) else { return false }
            line.bucket.giveBack()
            return true
        }
        if hadTurn { _ = serve(key, at: now, asPump: false) }
    }

    /// The token of a request that was not sent is the next one's.
    func giveBack(_ key: LimitScope.Key, at now: MonotonicInstant) {
        lines.withLock { $0[key]?.bucket.giveBack() }
        _ = serve(key, at: now, asPump: false)
    }

    func refusal(
        of key: LimitScope.Key, _ what: String, _ wait: Duration?,
        reason: NetworkError.Reason = .refused(by: .rateLimit)
    ) -> NetworkError {
        var error = NetworkError(
            reason,
            detail: "\(what): \(count) in \(period.brief) are let through for \(key).",
            hint: "Send less often, give urgent calls a higher RequestOptions.priority, or raise .rateLimit(\(count)).")
        error.expectedWait = wait
        return error
    }
}
