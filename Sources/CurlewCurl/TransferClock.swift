// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCore

/// When a transfer runs out of time, as arithmetic on the agent's monotonic clock.
///
///     handed over ──▶ waiting for the head ──▶ receiving the body
///                        │          ▲
///                        ▼          │ last byte of the request
///                      sending ─────┘
///
/// Waiting ends after `firstByte`, whatever trickles in before the head is complete; sending and receiving end when
/// nothing has moved for `idle`. Activity only moves `lastActivity`; nothing is armed or cancelled. The agent looks at a
/// transfer when its earliest possible end comes, and either ends it or learns the next moment to look.
struct TransferClock {
    private enum Phase {
        case waiting(since: Int64)
        case sending
        case receiving
    }

    /// When the agent was given the transfer, and when it began with it.
    private let handedOver: Int64
    private var begun: Int64?
    private let total: Int64
    private let firstByte: Int64?
    private let idle: Int64?
    /// Whether the deadline of the attempt, not of the call, is the earlier one.
    private let endsWithAttempt: Bool

    private var phase: Phase
    var lastActivity: Int64
    /// We are the cause that nothing moves: the reader or the producer is behind.
    var isHeldByUs = false

    /// Reads the context's own clock once: with a manual clock the *remaining* time still counts in real time.
    init(_ context: ExchangeContext, now: Int64 = Self.now()) {
        handedOver = now
        phase = .waiting(since: now)
        lastActivity = now
        firstByte = context.timeouts.firstByte?.wholeNanoseconds
        idle = context.timeouts.idle?.wholeNanoseconds
        endsWithAttempt = context.deadline != context.totalDeadline
        guard context.deadline.instant != nil else {
            total = .max
            return
        }
        let remaining = context.deadline.remaining(at: context.time.now)?.wholeNanoseconds ?? .max
        total = Self.sum(now, remaining)
    }

    /// How long the transfer waited for its turn.
    var queued: Duration { .nanoseconds((begun ?? handedOver) - handedOver) }

    /// The time since the agent was given the transfer.
    func elapsed(at now: Int64) -> Duration { .nanoseconds(now - handedOver) }

    /// The transfer waits for its turn: only its whole time counts.
    mutating func hold() {
        isHeldByUs = true
    }

    /// The transfer begins.
    mutating func begin(at now: Int64) {
        begun = now
        guard isHeldByUs else { return }
        isHeldByUs = false
        phase = .waiting(since: now)
        lastActivity = now
    }

    /// Content leaves. True when that begins another phase, with another end.
    mutating func send(at now: Int64) -> Bool {
        guard case .waiting = phase else { return false }
        phase = .sending
        lastActivity = now
        return true
    }

    /// The request is complete, or begins anew; what counts now is the answer.
    mutating func awaitHead(at now: Int64) {
        if case .receiving = phase { return }
        phase = .waiting(since: now)
    }

    /// The head is complete.
    mutating func receive() {
        phase = .receiving
    }

    /// The phase whose time is over at `now`, or else the next moment to look again.
    func check(at now: Int64) -> (expired: NetworkError.Phase?, next: Int64) {
        if now >= total { return (endsWithAttempt ? .attempt : .total, now) }
        guard !isHeldByUs else { return (nil, total) }
        let (start, limit, name): (Int64, Int64?, NetworkError.Phase) =
            if case .waiting(let since) = phase { (since, firstByte, .firstByte) } else { (lastActivity, idle, .idle) }
        guard let limit else { return (nil, total) }
        let end = Self.sum(start, limit)
        return now >= end ? (name, now) : (nil, min(total, end))
    }

    /// The agent's clock.
    static func now() -> Int64 {
        SystemTime().now.nanoseconds
    }

    /// The moment `time` from now on the agent's clock; one that has passed for times below zero.
    static func moment(after time: Duration) -> Int64 {
        sum(now(), max(0, time.wholeNanoseconds))
    }

    private static func sum(_ left: Int64, _ right: Int64) -> Int64 {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? .max : sum
    }
}
#endif
