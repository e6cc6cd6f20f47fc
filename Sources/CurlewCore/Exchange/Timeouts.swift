// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// The maximum durations of the phases of a call. By default, at least one of them limits every wait in the package.
///
/// Nil means that the phase has no separate limit. Timeouts are accurate to a few milliseconds on Linux. Time during
/// which the device sleeps does not count on any system (`SystemTime`).
///
/// A value records which limits were set. A limit that a call sets overrides that limit of the client and no other:
///
///     let client = APIClient(baseURL: url, configuration: .init(timeouts: Timeouts(connect: .seconds(3))))
///     client.send(.report.options { $0.timeouts.total = .seconds(60) })       // still connects within 3 s
///
/// Two values are equal if all their limits are equal. A default is equal to the same limit that was set.
public struct Timeouts: ComparedByKey, MirroredByDescription, Sendable {
    private var connectChoice: Duration??
    private var firstByteChoice: Duration??
    private var attemptChoice: Duration??
    private var idleChoice: Duration??
    private var totalChoice: Duration??

    /// Creates timeouts that set only the given values. Nil sets no limit for the phase. An omitted limit keeps the
    /// client's value in the options of a call, and has its default in the configuration of a client.
    public init(
        connect: Duration? = unset, firstByte: Duration? = unset, idle: Duration? = unset, total: Duration? = unset,
        attempt: Duration? = unset
    ) {
        connectChoice = Self.choice(connect)
        firstByteChoice = Self.choice(firstByte)
        attemptChoice = Self.choice(attempt)
        idleChoice = Self.choice(idle)
        totalChoice = Self.choice(total)
    }

    /// The limit for name lookup, TCP and TLS together, for each new connection. Default 10 s.
    public var connect: Duration? {
        get { connectChoice ?? .seconds(10) }
        set { connectChoice = .some(newValue) }
    }

    /// The limit for the wait for the response head, from the last byte of the request or, without a body, from the
    /// start of the attempt in the transport. The time to send a body does not count. Default 30 s.
    public var firstByte: Duration? {
        get { firstByteChoice ?? .seconds(30) }
        set { firstByteChoice = .some(newValue) }
    }

    /// The limit for one attempt: connecting, waiting, and the head of its response. The time during which the request
    /// body is transferred does not count, and `idle` limits the response body. Default nil: the pipeline's
    /// `.attemptTimeout(_:)` applies, or no limit if there is none. A limit that is set here overrides the pipeline's.
    public var attempt: Duration? {
        get { attemptChoice ?? nil }
        set { attemptChoice = .some(newValue) }
    }

    /// The limit for the time without a byte in either direction, once the transfer has begun. Pauses of the reader do
    /// not count. Default 30 s.
    public var idle: Duration? {
        get { idleChoice ?? .seconds(30) }
        set { idleChoice = .some(newValue) }
    }

    /// The limit for the complete call: attempts, waits, redirects and the body; of streams of events and records and
    /// of WebSockets, the time to the response head. Default 300 s.
    public var total: Duration? {
        get { totalChoice ?? .seconds(300) }
        set { totalChoice = .some(newValue) }
    }

    /// The default timeouts, all of them set: connect 10 s, first byte 30 s, idle 30 s, total 300 s. Attempts have no
    /// separate limit.
    public static let standard = Timeouts(
        connect: .seconds(10), firstByte: .seconds(30), idle: .seconds(30), total: .seconds(300), attempt: nil)

    /// Timeouts without any limit, for streams that stay open. Cancelling the task still ends the transfer.
    public static let none = Timeouts(connect: nil, firstByte: nil, idle: nil, total: nil, attempt: unlimited)

    /// Returns these timeouts, overridden by every limit that `other` sets.
    func overridden(by other: Timeouts) -> Timeouts {
        var result = self
        if let limit = other.connectChoice { result.connectChoice = .some(limit) }
        if let limit = other.firstByteChoice { result.firstByteChoice = .some(limit) }
        if let limit = other.attemptChoice { result.attemptChoice = .some(limit) }
        if let limit = other.idleChoice { result.idleChoice = .some(limit) }
        if let limit = other.totalChoice { result.totalChoice = .some(limit) }
        return result
    }

    /// The default argument of the initializer, which marks a limit as not set. It is never used as a duration.
    public static var unset: Duration { .seconds(Int64.min) }

    private static func choice(_ limit: Duration?) -> Duration?? {
        limit == unset ? nil : .some(limit)
    }

    /// A practically infinite duration. Unlike nil, it overrides the `.attemptTimeout(_:)` of a pipeline.
    static let unlimited = Duration.seconds(Int64(1) << 32)

    /// All limits, including the defaults of those that were not set.
    var comparisonKey: [Duration?] { [connect, firstByte, attempt, idle, total] }

    /// The limits on one line: `connect 10 s, first byte 30 s, idle 30 s, total 300 s, attempt none`.
    public var description: String {
        func text(_ limit: Duration?) -> String { limit.map { $0 < Self.unlimited ? $0.brief : "none" } ?? "none" }
        return "connect \(text(connect)), first byte \(text(firstByte)), idle \(text(idle)), total \(text(total)), "
            + "attempt \(text(attempt))"
    }
}
