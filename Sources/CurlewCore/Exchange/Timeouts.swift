// SPDX-License-Identifier: MIT

/// How long each phase of a call may take. Every wait of the package is bounded by one of them.
///
/// Nil means no limit of its own for that phase. Accurate to a few milliseconds on Linux. Time in which the device sleeps
/// does not count, on any system (`SystemTime`).
///
/// A value remembers which limits were set, and those of a call are laid over the client's one by one:
///
///     let client = APIClient(baseURL: url, configuration: .init(timeouts: Timeouts(connect: .seconds(3))))
///     client.send(.report.options { $0.timeouts.total = .seconds(60) })       // connects within 3 s all the same
///
/// Two values are equal when they have the same limits, wherever these come from.
public struct Timeouts: Sendable {
    private var connectChoice: Duration??
    private var firstByteChoice: Duration??
    private var attemptChoice: Duration??
    private var idleChoice: Duration??
    private var totalChoice: Duration??

    /// Timeouts that set what is named here, nil included, and leave the rest as it is: to the client's in the options of a
    /// call, to the defaults in the configuration of a client. Default: nothing is set.
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

    /// Name lookup, TCP and TLS together, for each new connection. Default 10 s.
    public var connect: Duration? {
        get { connectChoice ?? .seconds(10) }
        set { connectChoice = .some(newValue) }
    }

    /// Waiting for the head of the response: from the last byte of the request, or from handing an attempt without a body to
    /// the engine. Sending a body does not count, however long it takes. Default 30 s.
    public var firstByte: Duration? {
        get { firstByteChoice ?? .seconds(30) }
        set { firstByteChoice = .some(newValue) }
    }

    /// One attempt: connecting, waiting and the head of its response. The time in which the body of the request moves does
    /// not count, and the body of the response is guarded by `idle`. Default nil: what the pipeline's `.attemptTimeout(_:)`
    /// says, and no limit without one. A limit that is set here takes its place.
    public var attempt: Duration? {
        get { attemptChoice ?? nil }
        set { attemptChoice = .some(newValue) }
    }

    /// Without a byte in either direction once bytes flow. A reader that pauses does not count. Default 30 s.
    public var idle: Duration? {
        get { idleChoice ?? .seconds(30) }
        set { idleChoice = .some(newValue) }
    }

    /// The whole call: attempts, waits, redirects and the body. Default 300 s.
    public var total: Duration? {
        get { totalChoice ?? .seconds(300) }
        set { totalChoice = .some(newValue) }
    }

    /// Connect 10 s, first byte 30 s, idle 30 s, total 300 s; attempts have no limit of their own. All of them are set.
    public static let standard = Timeouts(
        connect: .seconds(10), firstByte: .seconds(30), idle: .seconds(30), total: .seconds(300), attempt: nil)

    /// No limits at all. For streams that stay open; the transport still ends when the task is cancelled.
    public static let none = Timeouts(connect: nil, firstByte: nil, idle: nil, total: nil, attempt: unlimited)

    /// These timeouts with every limit that `other` sets laid over them.
    public func overridden(by other: Timeouts) -> Timeouts {
        var result = self
        if let limit = other.connectChoice { result.connectChoice = .some(limit) }
        if let limit = other.firstByteChoice { result.firstByteChoice = .some(limit) }
        if let limit = other.attemptChoice { result.attemptChoice = .some(limit) }
        if let limit = other.idleChoice { result.idleChoice = .some(limit) }
        if let limit = other.totalChoice { result.totalChoice = .some(limit) }
        return result
    }

    /// Stands for a limit that an initialiser leaves as it is. No wait takes that long.
    public static var unset: Duration { .seconds(Int64.min) }

    private static func choice(_ limit: Duration?) -> Duration?? {
        limit == unset ? nil : .some(limit)
    }

    /// Longer than anything lasts: takes the place of a limit of the pipeline.
    package static let unlimited = Duration.seconds(Int64(1) << 32)
}

extension Timeouts: Hashable, CustomStringConvertible, CustomReflectable {
    /// The same limits, set or by default.
    public static func == (left: Timeouts, right: Timeouts) -> Bool {
        left.connect == right.connect && left.firstByte == right.firstByte && left.attempt == right.attempt
            && left.idle == right.idle && left.total == right.total
    }

    /// The limits.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(connect)
        hasher.combine(firstByte)
        hasher.combine(attempt)
        hasher.combine(idle)
        hasher.combine(total)
    }

    /// The limits on one line: `connect 10 s, first byte 30 s, idle 30 s, total 300 s, attempt none`.
    public var description: String {
        func text(_ limit: Duration?) -> String { limit.map { $0 < Self.unlimited ? $0.brief : "none" } ?? "none" }
        return "connect \(text(connect)), first byte \(text(firstByte)), idle \(text(idle)), total \(text(total)), "
            + "attempt \(text(attempt))"
    }

    /// Shows the limits, to debuggers and `dump` too.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
