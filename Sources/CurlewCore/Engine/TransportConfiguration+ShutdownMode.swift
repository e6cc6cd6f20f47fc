// SPDX-License-Identifier: MIT

extension TransportConfiguration {
    /// The way in which a transport treats running exchanges when it shuts down. In both modes, the transport refuses
    /// new work immediately, with `.refused(by: .shutdown)`.
    public enum ShutdownMode: Hashable, Sendable {
        /// Ends all running exchanges immediately, with `.refused(by: .shutdown)`.
        case now
        /// Lets accepted exchanges finish, including their bodies. Exchanges that are left after `deadline` end as with
        /// `now`.
        ///
        /// A body that is not read keeps its exchange open until `deadline`. A deadline of zero or less means `now`.
        case drain(deadline: Duration)
    }
}
