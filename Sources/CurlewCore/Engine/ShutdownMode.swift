// SPDX-License-Identifier: MIT

/// The way in which a transport shuts down. In each mode new work is refused immediately, with `.refused(by:
/// .shutdown)`.
public enum ShutdownMode: Hashable, Sendable {
    /// Ends all running exchanges immediately, with `.refused(by: .shutdown)`.
    case now
    /// Lets accepted exchanges finish, including bodies. Those left after this time end as in `now`.
    ///
    /// A body that is not read keeps its exchange open until then. Zero and negative times mean `now`.
    case drain(deadline: Duration)
}
