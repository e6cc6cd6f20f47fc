// SPDX-License-Identifier: MIT

/// How a transport ends. In each mode new work is refused at once, with `.refused(by: .shutdown)`.
public enum ShutdownMode: Hashable, Sendable {
    /// Everything that runs ends now, with `.refused(by: .shutdown)`.
    case now
    /// What has been handed over may finish, bodies included; what is left after this time ends as in `now`.
    ///
    /// A body that nobody reads holds its exchange open until then. Zero and negative times mean `now`.
    case drain(deadline: Duration)
}
