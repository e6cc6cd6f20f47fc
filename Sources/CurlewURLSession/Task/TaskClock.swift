// SPDX-License-Identifier: MIT

import CurlewCore

/// When an exchange runs out of time, as arithmetic on the monotonic clock.
///
/// URLSession tells neither when a connection begins nor when it stands, so the time for connecting counts as part of
/// `firstByte`. While a body leaves, what counts is that bytes move (`idle`); behind its last byte the wait for the head
/// begins anew. Events only move `lastActivity`: nothing is armed or cancelled for them.
struct TaskClock: Sendable {
    private enum Phase {
        case waiting(since: Int64)
        case sending
        case receiving
    }

    private let started: Int64
    private var begun: Int64?
    private var headAt: Int64?
    private let total: Int64
    private let firstByte: Int64?
    private let idle: Int64?
    /// Whether the deadline of the attempt, not of the call, is the earlier one.
    private let endsWithAttempt: Bool
    private var phase: Phase
    private var lastActivity: Int64
    /// The reader is the cause that nothing moves.
    var isHeld = false

    /// Reads the context's own clock once: with a manual clock the *remaining* time still counts in real time.
    init(_ context: ExchangeContext, now: Int64 = Self.now()) {
        started = now
        phase = .waiting(since: now)
        lastActivity = now
        firstByte = context.timeouts.firstByte?.wholeNanoseconds
        idle = context.timeouts.idle?.wholeNanoseconds
        endsWithAttempt = context.deadline != context.totalDeadline
        let remaining = context.deadline.remaining(at: context.time.now)
        total = remaining.map { Self.sum(now, $0.wholeNanoseconds) } ?? .max
    }

    /// The task begins: what came before was waiting for our own turn, or for the body.
    mutating func begin(at now: Int64) {
        begun = now
        phase = .waiting(since: now)
        lastActivity = now
    }

    /// Bytes of the body have left; `isLast` when there are no more.
    mutating func sent(isLast: Bool, at now: Int64) {
        lastActivity = now
        if case .receiving = phase { return }
        phase = isLast ? .waiting(since: now) : .sending
    }

    /// The head, or a piece of the body, has come.
    mutating func received(at now: Int64) {
        lastActivity = now
        if headAt == nil { headAt = now }
        phase = .receiving
    }

    /// The phase whose time is over at `now`, or else the next moment to look again.
    func check(at now: Int64) -> (expired: NetworkError.Phase?, next: Int64) {
        if now >= total { return (endsWithAttempt ? .attempt : .total, now) }
        // Before the task begins only the whole time counts: the body is still being produced.
        guard !isHeld, begun != nil else { return (nil, total) }
        let (start, limit, name): (Int64, Int64?, NetworkError.Phase) =
            if case .waiting(let since) = phase { (since, firstByte, .firstByte) } else { (lastActivity, idle, .idle) }
        guard let limit else { return (nil, total) }
        let end = Self.sum(start, limit)
        return now >= end ? (name, now) : (nil, min(total, end))
    }

    /// Phases by the wall clock, as far as they show from outside.
    func metrics(at now: Int64, isComplete: Bool) -> ExchangeMetrics {
        var metrics = ExchangeMetrics()
        metrics.queue = .nanoseconds((begun ?? now) - started)
        if let headAt {
            metrics.firstByte = .nanoseconds(headAt - (begun ?? started))
            if isComplete { metrics.transfer = .nanoseconds(now - headAt) }
        }
        metrics.total = .nanoseconds(now - started)
        return metrics
    }

    /// The monotonic clock.
    static func now() -> Int64 {
        SystemTime().now.nanoseconds
    }

    private static func sum(_ left: Int64, _ right: Int64) -> Int64 {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? .max : sum
    }
}
