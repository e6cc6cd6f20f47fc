// SPDX-License-Identifier: MIT

/// An error of a ``MockServer``: it could not start, or a wait for its requests failed.
public struct MockServerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A description of the failure, for the test's output.
    public let message: String

    init(_ message: String) { self.message = message }

    /// The text of ``message``.
    public var description: String { message }
}

/// The error that is thrown when a wait on a ``ManualClock`` or a ``MockTransport`` times out.
public struct MockWaitError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A description of what was awaited and what was present instead, for the test's output.
    public let message: String

    init(_ message: String) { self.message = message }

    /// The text of ``message``.
    public var description: String { message }
}
