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
/// - It learns: a 429 or 503 with `Retry-After`, and any answer whose `RateLimit` fields leave nothing, pause the scope
///   for as long as the server says, at most `longestPause`; what they leave is not exceeded.
/// - At most 1000 scopes have a bucket of their own. When more are in use, the new ones share one.
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

    private let full: TokenBucket
    private let lines = Locked<[LimitKey: RateLine]>([:])
    private static let mostLines = 1000

    /// - `count`, `period`: the pace. Values that are not positive are a problem of the pipeline.
    /// - `burst`: how many may go at once after a rest. Default `count`.
    /// - `scope`: what shares a bucket. Default each origin.
    /// - `waiting`: how many may wait in line. Default 1000; zero refuses whatever finds no token.
    /// - `longestPause`: how much a server is believed. Default 60 s.
    public init(
        _ count: Int, every period: Duration, burst: Int? = nil, per scope: LimitScope = .origin, waiting: Int = 1000,
        longestPause: Duration = .seconds(60)
    ) {
        self.count = count
        self.period = period
        self.scope = scope
        self.waiting = max(0, waiting)
        self.longestPause = max(.zero, longestPause)
        full = TokenBucket(count, every: period, burst: burst)
    }

    /// How many may go at once after a rest.
    public var burst: Int { full.burst }

    /// How many calls wait, in all scopes together.
    public var waitingCount: Int {
        lines.withLock { lines in lines.values.reduce(0) { $0 + $1.queue.count } }
    }
}

extension RateLimit {
    private enum Arrival: Sendable {
        case go
        case wait(UInt64, OneShot<Void>, startsPump: Bool)
        case refuse(String, Duration)
    }

    /// Takes a token of `key`, waiting for it if need be. Gives the key whose token it was.
    func enter(_ key: LimitKey, _ context: ExchangeContext) async throws -> LimitKey {
        let (now, deadline, time) = (context.time.now, context.deadline, context.time)
        let horizon = context.horizon
        let (key, arrival) = lines.withLock { lines -> (LimitKey, Arrival) in
            let (key, line) = line(for: key, in: &lines, at: now)
            if line.queue.isEmpty, line.bucket.take(at: now) { return (key, .go) }
            let priority = context.options.priority ?? .normal
            let turn = line.bucket.availability(at: now, after: line.queue.ahead(of: priority))
            if let end = horizon.instant, end <= turn {
                return (key, .refuse("A token comes only after the deadline of the call", now.duration(to: turn)))
            }
            let waiter = RateLine.Waiter(turn: OneShot(), deadline: deadline)
            guard let ticket = line.queue.wait(waiter, priority) else {
                return (key, .refuse("\(line.queue.count) calls wait for a token already", now.duration(to: turn)))
            }
            defer { line.isPumped = true }
            return (key, .wait(ticket, waiter.turn, startsPump: !line.isPumped))
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
                throw refusal(of: key, "No token came before the deadline of the call", nil, reason: .timedOut(.queue))
            }
        }
        return key
    }

    /// What an answer says about the pace that the server wants.
    func learn(from response: HTTPResponse, _ key: LimitKey, _ context: ExchangeContext) {
        let date = context.time.date
        var (pause, remaining): (Duration?, Int?)
        if response.status == .tooManyRequests || response.status == .serviceUnavailable {
            pause = response.headers[.retryAfter].flatMap { RetryAfter($0) }?.delay(now: date)
        }
        if let status = RateLimitStatus(response.headers, now: date) {
            remaining = status.remaining
            if status.remaining == 0, let reset = status.reset { pause = max(pause ?? .zero, reset) }
        }
        guard pause != nil || remaining != nil else { return }
        let now = context.time.now
        let late = lines.withLock { lines -> [(OneShot<Void>, Duration)] in
            let line = lines[key] ?? RateLine(full, waiting)
            lines[key] = line
            if let remaining { line.bucket.lower(to: remaining, at: now) }
            guard let pause, pause > .zero else { return [] }
            line.bucket.pause(until: now.advanced(by: min(pause, longestPause)))
            let next = line.bucket.availability(at: now)
            let late = line.queue.elements.filter { $0.deadline.hasPassed(at: next) }
            return late.map { ($0.turn, now.duration(to: next)) }
        }
        for (turn, wait) in late {
            turn.finish(.failure(refusal(of: key, "The server asks to wait beyond the deadline of the call", wait)))
        }
    }

    /// Gives tokens to those who wait, in one task for each line that has any.
    private func pump(_ key: LimitKey, _ time: any TimeSource) {
        // Whoever waits first may be the least urgent.
        Task(priority: .high) {
            while let next = serve(key, at: time.now, asPump: true) {
                try await time.sleep(until: next)
            }
        }
    }

    /// Lets those go who have a token, and gives the time of the next one; nil when nobody waits.
    private func serve(_ key: LimitKey, at now: MonotonicInstant, asPump: Bool) -> MonotonicInstant? {
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
    private func leave(_ key: LimitKey, _ ticket: UInt64, at now: MonotonicInstant) {
        let hadTurn = lines.withLock { lines in
            guard let line = lines[key], !line.queue.leave(ticket) else { return false }
            line.bucket.giveBack()
            return true
        }
        if hadTurn { _ = serve(key, at: now, asPump: false) }
    }

    /// The token of a request that was not sent is the next one's.
    func giveBack(_ key: LimitKey, at now: MonotonicInstant) {
        lines.withLock { $0[key]?.bucket.giveBack() }
        _ = serve(key, at: now, asPump: false)
    }

    /// The line of `key`, if it has one or there is room for one; those at rest make room. Else that of the others.
    private func line(
        for key: LimitKey, in lines: inout [LimitKey: RateLine], at now: MonotonicInstant
    ) -> (LimitKey, RateLine) {
        if let line = lines[key] { return (key, line) }
        var key = key
        if lines.count >= Self.mostLines {
            lines = lines.filter { !$0.value.isAtRest(at: now) }
            if lines.count >= Self.mostLines { key = .others }
        }
        let line = lines[key] ?? RateLine(full, waiting)
        lines[key] = line
        return (key, line)
    }

    private func refusal(
        of key: LimitKey, _ what: String, _ wait: Duration?, reason: NetworkError.Reason = .refused(by: .rateLimit)
    ) -> NetworkError {
        var error = NetworkError(
            reason,
            detail: "\(what): \(count) in \(period.brief) are let through for \(key).",
            hint: "Send less often, give urgent calls a higher RequestOptions.priority, or raise .rateLimit(\(count)).")
        error.expectedWait = wait
        return error
    }
}

/// The tokens of one scope, and who waits for them. Inside the lock.
private final class RateLine {
    struct Waiter {
        let turn: OneShot<Void>
        let deadline: Deadline
    }

    var bucket: TokenBucket
    var queue: FairQueue<Waiter>
    /// A task is awake for those who wait.
    var isPumped = false

    init(_ bucket: TokenBucket, _ waiting: Int) {
        self.bucket = bucket
        queue = FairQueue(capacity: waiting)
    }

    /// Forgetting it changes nothing.
    func isAtRest(at now: MonotonicInstant) -> Bool {
        queue.isEmpty && !isPumped && bucket.tokens(at: now) == bucket.burst
    }
}
