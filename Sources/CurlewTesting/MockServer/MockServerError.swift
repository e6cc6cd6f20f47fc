// SPDX-License-Identifier: MIT

/// The reason a mock server could not start, or a wait for its requests that failed.
public struct MockServerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A description of the failure, for the test's output.
    public let message: String

    init(_ message: String) { self.message = message }

    /// The message.
    public var description: String { message }
}

/// A wait on a `ManualClock` or a `MockTransport` that timed out.
public struct MockWaitError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was awaited, and what was there instead, for the test's output.
    public let message: String

    init(_ message: String) { self.message = message }

    /// The message.
    public var description: String { message }
}
