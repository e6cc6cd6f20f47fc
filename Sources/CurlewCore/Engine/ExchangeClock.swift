// SPDX-License-Identifier: MIT

/// When an exchange runs out of time, as arithmetic on the monotonic clock: for engines.
///
///     handed over ──▶ waiting for the head ──▶ receiving the body
///                        │          ▲
///                        ▼          │ last byte of the request
///                      sending ─────┘
///
/// An engine that tells when the request leaves on a connection has a limit for the time until then, too.
/// Waiting ends after `firstByte`, whatever trickles in before the head is complete; sending and receiving end when
/// nothing has moved for `idle`. The deadline of the attempt bounds the time to the head and stands still while the body of
/// the request moves. Until the exchange begins only those of the attempt and of the call count. Activity only moves
/// `lastActivity`; nothing is armed or cancelled. The engine looks when the earliest possible end comes, and either ends
/// the exchange or learns the next moment to look.
package struct ExchangeClock: Sendable {
    private enum Phase {
        case waiting(since: Int64)
        case sending
        case receiving
    }

    private let handedOver: Int64
    private var begun: Int64?
    private var answered: Int64?
    private var total: Int64
    /// When the head has to be there; moved by what sending takes.
    private var attempt: Int64
    private var sendingSince: Int64?
    /// Until the request is about to leave on a connection: since when it waits for that.
    private var connectingSince: Int64?
    private var connect: Int64?
    private let firstByte: Int64?
    private let idle: Int64?
    private var phase: Phase
    package var lastActivity: Int64
    /// We are the cause that nothing moves: the reader or the producer is behind.
    package var isHeld = false

    /// Reads the context's own clock once: with a manual clock the *remaining* time still counts in real time.
    package init(_ context: ExchangeContext, now: Int64 = Self.now()) {
        handedOver = now
        phase = .waiting(since: now)
        lastActivity = now
        firstByte = context.timeouts.firstByte?.wholeNanoseconds
        idle = context.timeouts.idle?.wholeNanoseconds
        let isBounded = context.totalDeadline.instant != nil || context.attemptDeadline.instant != nil
        let reading = isBounded ? context.time.now : MonotonicInstant(nanoseconds: 0)
        func end(_ deadline: Deadline) -> Int64 {
            deadline.remaining(at: reading).map { Self.sum(now, $0.wholeNanoseconds) } ?? .max
        }
        (total, attempt) = (end(context.totalDeadline), end(context.attemptDeadline))
    }

    /// How long the exchange waited until it began.
    package func queued(at now: Int64) -> Duration { .nanoseconds((begun ?? now) - handedOver) }

    /// From the beginning to the head, once that has come.
    package var untilAnswer: Duration? { answered.map { .nanoseconds($0 - (begun ?? handedOver)) } }

    /// The time since the head came.
    package func sinceAnswer(at now: Int64) -> Duration? { answered.map { .nanoseconds(now - $0) } }

    /// The time since the engine was given the exchange.
    package func elapsed(at now: Int64) -> Duration { .nanoseconds(now - handedOver) }

    /// The exchange begins: what came before was waiting for its turn. With a time for `connecting`, that phase lasts until
    /// `connected`.
    package mutating func begin(at now: Int64, connecting time: Duration? = nil) {
        begun = now
        connect = time?.wholeNanoseconds
        connectingSince = now
        awaitHead(at: now)
    }

    /// The request is about to leave on a connection.
    package mutating func connected() {
        connectingSince = nil
    }

    /// What came before was waiting for a connection that others use.
    package mutating func connectLater(from now: Int64) {
        connectingSince = now
    }

    package var isConnected: Bool { begun != nil && connectingSince == nil }

    /// Content leaves, or is made ready to leave. True when that begins another phase, with another end.
    @discardableResult package mutating func send(at now: Int64) -> Bool {
        lastActivity = now
        guard case .waiting = phase else { return false }
        phase = .sending
        sendingSince = now
        return true
    }

    /// The request is complete, or begins anew; what counts now is the answer.
    package mutating func awaitHead(at now: Int64) {
        lastActivity = now
        if let start = sendingSince { attempt = Self.sum(attempt, max(0, now - start)) }
        sendingSince = nil
        if case .receiving = phase { return }
        phase = .waiting(since: now)
    }

    /// The head is complete, or a piece of the body has come.
    package mutating func receive(at now: Int64) {
        lastActivity = now
        if answered == nil { answered = now }
        phase = .receiving
    }

    /// Whatever was allowed, it is over then.
    package mutating func end(by moment: Int64) {
        total = min(total, moment)
    }

    /// When the head has to be there: later by the time in which the body of the request has moved so far.
    private var endOfAttempt: Int64 {
        guard answered == nil else { return .max }
        return sendingSince.map { Self.sum(attempt, max(0, lastActivity - $0)) } ?? attempt
    }

    /// The phase whose time is over at `now`, or else the next moment to look again.
    package func check(at now: Int64) -> (expired: NetworkError.Phase?, next: Int64) {
        if now >= total { return (.total, now) }
        let attempt = endOfAttempt
        if now >= attempt { return (.attempt, now) }
        var total = min(total, attempt)
        if let connectingSince, let connect {
            let end = Self.sum(connectingSince, connect)
            if now >= end { return (.connect, now) }
            total = min(total, end)
        }
        guard !isHeld, begun != nil else { return (nil, total) }
        let (start, limit, name): (Int64, Int64?, NetworkError.Phase) =
            if case .waiting(let since) = phase { (since, firstByte, .firstByte) } else { (lastActivity, idle, .idle) }
        guard let limit else { return (nil, total) }
        let end = Self.sum(start, limit)
        return now >= end ? (name, now) : (nil, min(total, end))
    }

    /// The monotonic clock of the system.
    package static func now() -> Int64 {
        SystemTime().now.nanoseconds
    }

    /// The moment `time` from now; one that has passed for times below zero.
    package static func moment(after time: Duration) -> Int64 {
        sum(now(), max(0, time.wholeNanoseconds))
    }

    private static func sum(_ left: Int64, _ right: Int64) -> Int64 {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? .max : sum
    }
}

extension NetworkError {
    /// The error for a phase that took longer than `timeouts` allow.
    package static func timeout(_ phase: Phase, _ timeouts: Timeouts) -> NetworkError {
        let text =
            switch phase {
            case .connect: timeouts.connect.map { "No connection within \($0.brief)." }
            case .firstByte: timeouts.firstByte.map { "No answer within \($0.brief)." }
            case .idle: timeouts.idle.map { "No byte moved for \($0.brief)." }
            case .total: timeouts.total.map { "The call was not complete within \($0.brief)." }
            case .attempt: timeouts.attempt.map { "The attempt had no response within \($0.brief)." }
            default: nil as String?
            }
        let otherwise =
            phase == .attempt ? "The attempt had no response in its time." : "The time for the call was over."
        return NetworkError(.timedOut(phase), detail: text ?? otherwise)
    }
}
