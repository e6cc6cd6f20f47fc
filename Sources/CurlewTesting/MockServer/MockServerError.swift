// SPDX-License-Identifier: MIT

/// Why a mock server could not start, or what a test waited for in vain.
public struct MockServerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What happened, for the person who reads the test's output.
    public let message: String

    init(_ message: String) { self.message = message }

    /// The message.
    public var description: String { message }
}

/// What a test waited for in vain, on a `ManualClock` or a `MockTransport`.
public struct MockWaitError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was awaited, and what was there instead, for the person who reads the test's output.
    public let message: String

    init(_ message: String) { self.message = message }

    /// The message.
    public var description: String { message }
}
