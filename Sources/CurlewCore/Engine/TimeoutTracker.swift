// SPDX-License-Identifier: MIT

/// Computes the timeouts of an exchange on the monotonic clock, for transports.
///
///     handed over ──▶ waiting for the head ──▶ receiving the body
///                        │          ▲
///                        ▼          │ last byte of the request
///                      sending ─────┘
///
/// These limits apply:
/// - Until the exchange begins, only the deadlines of the attempt and of the call apply.
/// - A transport that reports when the request is sent on a connection can also limit the time until then.
/// - Waiting for the head ends after `firstByte`, whatever arrives before the head is complete.
/// - Sending and receiving end when nothing has been transferred for `idle`.
/// - The deadline of a live call also limits only the time to the head.
/// - The deadline of the attempt limits the time to the head. It is suspended while the request body is transferred.
///
/// Activity only updates `lastActivity`; no timer is set or cancelled. The transport calls `check(at:)` at the earliest
/// possible end, and either ends the exchange or receives the next time to check.
package struct TimeoutTracker: Sendable {
    private enum Phase {
        case waiting(since: Int64)
        case sending
        case receiving
    }

    private let handedOver: Int64
    private var begun: Int64?
    private var responded: Int64?
    private var total: Int64
    /// Whether the deadline of the call limits only the time to the head; see `RequestOptions.isLive`.
    private let isLive: Bool
    /// The deadline for the head, extended by the time that sending the request body takes.
    private var attempt: Int64
    private var sendingSince: Int64?
    /// The time that sending took until the last call of `awaitHead`.
    private var sent: Int64 = 0
    /// The start of the wait for a connection; nil once the request is about to be sent.
    private var connectingSince: Int64?
    private var connectedAt: Int64?
    private var connect: Int64?
    private let firstByte: Int64?
    private let idle: Int64?
    private var phase: Phase
    package var lastActivity: Int64
    /// True while the transfer is paused on this side: until the reader takes the buffered bytes, or until the producer
    /// of the request body supplies more bytes.
    package var isHeld = false

    /// Creates a tracker from the deadlines and timeouts of `context`. The context's own clock is read only once: even
    /// with a manual clock, the *remaining* time is measured in real time.
    package init(_ context: ExchangeContext, now: Int64 = Self.now()) {
        handedOver = now
        isLive = context.isLive
        phase = .waiting(since: now)
        lastActivity = now
        firstByte = context.timeouts.firstByte?.wholeNanoseconds
        idle = context.timeouts.idle?.wholeNanoseconds
        let isBounded = context.totalDeadline.instant != nil || context.attemptDeadline.instant != nil
        let reading = isBounded ? context.time.now : SystemTime.Instant(nanoseconds: 0)
        func end(_ deadline: SystemTime.Deadline) -> Int64 {
            deadline.remaining(at: reading).map { Self.sum(now, $0.wholeNanoseconds) } ?? .max
        }
        (total, attempt) = (end(context.totalDeadline), end(context.attemptDeadline))
    }

    /// The time spent queued; until `now` if the exchange is still queued.
    package func queued(at now: Int64) -> Duration { .nanoseconds((begun ?? now) - handedOver) }

    /// The time since the exchange began, in nanoseconds; 0 if it has not begun.
    package func running(at now: Int64) -> Int64 { now - (begun ?? now) }

    /// The time from the start of the exchange to the response head; to `now` if none has arrived.
    package func untilResponse(at now: Int64) -> Duration { .nanoseconds(running(at: responded ?? now)) }

    /// The time since the response head arrived; nil until then.
    package func sinceResponse(at now: Int64) -> Duration? { responded.map { .nanoseconds(now - $0) } }

    /// The time since the transport received the exchange.
    package func elapsed(at now: Int64) -> Duration { .nanoseconds(now - handedOver) }

    /// Records that the exchange begins. The time until then was spent in a queue. `time` limits the phase until
    /// `connected(at:)`; nil sets no limit.
    package mutating func begin(at now: Int64, connecting time: Duration? = nil) {
        begun = now
        connect = time?.wholeNanoseconds
        connectingSince = now
        awaitHead(at: now)
    }

    /// Records that the request is about to be sent on a connection.
    package mutating func connected(at now: Int64) {
        connectingSince = nil
        connectedAt = now
    }

    /// Restarts the connecting phase, because the exchange has waited for a connection that other exchanges use.
    package mutating func connectLater(from now: Int64) {
        connectingSince = now
        connectedAt = nil
    }

    package var isConnected: Bool { begun != nil && connectingSince == nil }

    /// Records that a part of the request body is sent or prepared for sending. Returns true if this starts the sending
    /// phase, whose time limit differs.
    @discardableResult package mutating func send(at now: Int64) -> Bool {
        lastActivity = now
        guard case .waiting = phase else { return false }
        phase = .sending
        sendingSince = now
        return true
    }

    /// Records that the request has been sent, or starts again, and that the response head is awaited.
    package mutating func awaitHead(at now: Int64) {
        lastActivity = now
        if let start = sendingSince {
            attempt = Self.sum(attempt, max(0, now - start))
            sent += max(0, now - start)
        }
        sendingSince = nil
        if case .receiving = phase { return }
        phase = .waiting(since: now)
    }

    /// Records that the head is complete or that a part of the body has arrived.
    package mutating func receive(at now: Int64) {
        lastActivity = now
        if responded == nil {
            responded = now
            if isLive { total = .max }
        }
        phase = .receiving
    }

    /// Limits the exchange, so that it ends at `moment` at the latest.
    package mutating func end(by moment: Int64) {
        total = min(total, moment)
    }

    /// The deadline for the head, extended by the time that sending the request body has taken so far; `.max` once the
    /// head has arrived.
    private var endOfAttempt: Int64 {
        guard responded == nil else { return .max }
        return sendingSince.map { Self.sum(attempt, max(0, lastActivity - $0)) } ?? attempt
    }

    /// Returns the phase that has timed out at `now`, or else the next time to check.
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

    /// The activities of an exchange, in the words of errors.
    enum Activity: String {
        case queued, connecting, sending, receiving
        case waiting = "waiting for the response"
        /// For a transport that does not report when the request is sent on a connection.
        case connectingAndWaiting = "connecting and waiting for the response"
    }

    /// Returns what the exchange has done until `now`, with the time of each activity, from a millisecond on. The last
    /// one is under way.
    func activities(at now: Int64) -> [(activity: Activity, time: Duration)] {
        var all: [(Activity, Int64)] = [(.queued, (begun ?? now) - handedOver)]
        if let begun {
            let ready = connectedAt ?? (connect == nil ? begun : responded ?? now)
            if ready > begun || connectedAt == nil, connect != nil { all.append((.connecting, ready - begun)) }
            if connectedAt != nil || connect == nil {
                let sending = sent + (sendingSince.map { now - $0 } ?? 0)
                let waiting = connectedAt == nil ? Activity.connectingAndWaiting : .waiting
                all.append((.sending, sending))
                all.append((waiting, (responded ?? now) - ready - sending))
                if sendingSince != nil { all.swapAt(all.count - 1, all.count - 2) }
            }
            if let responded { all.append((.receiving, now - responded)) }
        }
        let long = all.filter { $0.1 >= 1_000_000 }
        return (long.isEmpty ? all.suffix(1) : long).map { ($0.0, .nanoseconds($0.1)) }
    }

    /// Returns the time of the system's monotonic clock, in nanoseconds.
    package static func now() -> Int64 {
        SystemTime().now.nanoseconds
    }

    /// Returns the moment that is `time` from now, in nanoseconds. A negative duration counts as zero.
    package static func moment(after time: Duration) -> Int64 {
        sum(now(), max(0, time.wholeNanoseconds))
    }

    private static func sum(_ left: Int64, _ right: Int64) -> Int64 {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? .max : sum
    }
}

extension NetworkError {
    /// Returns the error for a phase that exceeded `timeouts`, with the time that each phase of the exchange took.
    package static func timeout(_ phase: Phase, _ timeouts: Timeouts, _ clock: TimeoutTracker) -> NetworkError {
        let activities = clock.activities(at: TimeoutTracker.now())
        let spent = activities.map { "\($0.time.brief) \($0.activity.rawValue)" }.joined(separator: ", ")
        let (text, limit) =
            switch phase {
            case .connect: ("No connection within", timeouts.connect)
            case .firstByte: ("No response within", timeouts.firstByte)
            case .idle: ("No data was transferred for", timeouts.idle)
            case .attempt: ("The attempt had no response within", timeouts.attempt)
            case .queue: ("The request was not sent within", nil)
            case .total: ("The call was not complete within", timeouts.total)
            }
        var error = NetworkError(
            .timedOut(phase), detail: "\(text) \(limit?.brief ?? "its time limit"): \(spent).")
        let slowest = activities.max { $0.time < $1.time }?.activity ?? .waiting
        switch phase {
        case .idle:
            let end = activities.last?.activity == .sending ? "reading the request" : "sending the response"
            error.hint = "The server stopped \(end); see Timeouts.idle."
        case .queue: error.hint = slowest.advice
        case .total: error.hint = slowest.advice + " If this time is normal, raise Timeouts.total."
        case .attempt:
            error.hint = slowest.advice + " If this time is normal, raise .attemptTimeout(_:) or Timeouts.attempt."
        default: break
        }
        return error
    }
}

extension TimeoutTracker.Activity {
    /// What to check if this took too long.
    fileprivate var advice: String {
        switch self {
        case .queued:
            "The call waited for a connection. Start fewer concurrent calls, give urgent ones a higher "
                + "RequestOptions.priority, or raise TransportConfiguration.Pool.perHost."
        case .connecting: "Check host and port, and that no firewall drops the packets."
        case .sending: "The server or the network takes the body slowly."
        case .waiting, .connectingAndWaiting: "Check what the server does with this request."
        case .receiving: "The server or the network delivers the body slowly."
        }
    }
}
