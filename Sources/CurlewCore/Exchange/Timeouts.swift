// SPDX-License-Identifier: MIT

/// How long each phase of a call may take. Every wait of the package is bounded by one of them.
///
/// Nil means no limit of its own for that phase. Accurate to a few milliseconds on Linux. Time in which the device sleeps
/// does not count, on any system (`SystemTime`).
public struct Timeouts: Hashable, Sendable {
    /// Name lookup, TCP and TLS together, for each new connection. Default 10 s.
    public var connect: Duration?
    /// From handing an attempt to the transport until the response head has arrived. Default 30 s.
    public var firstByte: Duration?
    /// Without a byte in either direction once bytes flow. A reader that pauses does not count. Default 30 s.
    public var idle: Duration?
    /// The whole call: attempts, waits, redirects and the body. Default 300 s.
    public var total: Duration?

    /// Timeouts with the defaults where nothing is said.
    public init(
        connect: Duration? = .seconds(10), firstByte: Duration? = .seconds(30), idle: Duration? = .seconds(30),
        total: Duration? = .seconds(300)
    ) {
        self.connect = connect
        self.firstByte = firstByte
        self.idle = idle
        self.total = total
    }

    /// Connect 10 s, first byte 30 s, idle 30 s, total 300 s.
    public static let standard = Timeouts()

    /// No limits at all. For streams that stay open; the transport still ends when the task is cancelled.
    public static let none = Timeouts(connect: nil, firstByte: nil, idle: nil, total: nil)
}
