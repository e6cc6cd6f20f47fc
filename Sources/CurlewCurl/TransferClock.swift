// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCore

/// When a transfer runs out of time, as arithmetic on the agent's monotonic clock.
///
/// Activity only moves `lastActivity`; nothing is armed or cancelled. The agent looks at a transfer when its earliest
/// possible end comes, and either ends it or learns the next moment to look.
struct TransferClock {
    private let total: Int64
    private let firstByte: Int64?
    private let idle: Int64?
    /// Whether the deadline of the attempt, not of the call, is the earlier one.
    private let endsWithAttempt: Bool

    var lastActivity: Int64
    var hasHead = false
    var isSending: Bool
    /// We are the cause that nothing moves: the reader or the producer is behind.
    var isHeldByUs = false

    /// Reads the context's own clock once: with a manual clock the *remaining* time still counts in real time.
    init(_ context: ExchangeContext, hasUpload: Bool, now: Int64 = Self.now()) {
        lastActivity = now
        isSending = hasUpload
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

    /// The phase whose time is over at `now`, or else the next moment to look again.
    func check(at now: Int64) -> (expired: NetworkError.Phase?, next: Int64) {
        if now >= total { return (endsWithAttempt ? .attempt : .total, now) }
        guard !isHeldByUs else { return (nil, total) }
        let waitsForHead = !hasHead && !isSending
        guard let limit = waitsForHead ? firstByte : idle else { return (nil, total) }
        let end = Self.sum(lastActivity, limit)
        if now >= end { return (waitsForHead ? .firstByte : .idle, now) }
        return (nil, min(total, end))
    }

    /// The time left for the whole transfer, in nanoseconds.
    func remaining(at now: Int64) -> Int64 {
        total == .max ? .max : max(0, total - now)
    }

    /// The agent's clock.
    static func now() -> Int64 {
        SystemTime().now.nanoseconds
    }

    private static func sum(_ left: Int64, _ right: Int64) -> Int64 {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? .max : sum
    }
}
#endif
