// SPDX-License-Identifier: MIT

/// How long each phase of a call may take. Every wait of the package is bounded by one of them.
///
/// Nil means no limit of its own for that phase. Accurate to a few milliseconds on Linux. Time in which the device sleeps
/// does not count, on any system (`SystemTime`).
public struct Timeouts: Hashable, Sendable {
    /// Name lookup, TCP and TLS together, for each new connection. Default 10 s.
    public var connect: Duration?
    /// Waiting for the head of the response: from the last byte of the request, or from handing an attempt without a body to
    /// the engine. Sending a body does not count, however long it takes. Default 30 s.
    public var firstByte: Duration?
    /// One attempt: connecting, waiting and the head of its response. The time in which the body of the request moves does
    /// not count, and the body of the response is guarded by `idle`. Default nil: what the pipeline's `.attemptTimeout(_:)`
    /// says, and no limit without one. A limit that is set here takes its place.
    public var attempt: Duration?
    /// Without a byte in either direction once bytes flow. A reader that pauses does not count. Default 30 s.
    public var idle: Duration?
    /// The whole call: attempts, waits, redirects and the body. Default 300 s.
    public var total: Duration?

    /// Timeouts with the defaults where nothing is said.
    public init(
        connect: Duration? = .seconds(10), firstByte: Duration? = .seconds(30), idle: Duration? = .seconds(30),
        total: Duration? = .seconds(300), attempt: Duration? = nil
    ) {
        self.connect = connect
        self.firstByte = firstByte
        self.attempt = attempt
        self.idle = idle
        self.total = total
    }

    /// Connect 10 s, first byte 30 s, idle 30 s, total 300 s; attempts have no limit of their own.
    public static let standard = Timeouts()

    /// No limits at all. For streams that stay open; the transport still ends when the task is cancelled.
    public static let none = Timeouts(connect: nil, firstByte: nil, idle: nil, total: nil, attempt: unlimited)

    /// Longer than anything lasts: takes the place of a limit of the pipeline.
    package static let unlimited = Duration.seconds(Int64(1) << 32)
}
