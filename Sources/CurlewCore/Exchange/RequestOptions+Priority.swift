// SPDX-License-Identifier: MIT

extension RequestOptions {
    /// The priority of a call in queues: for a connection slot to its host, and for `.rateLimit` and
    /// `.concurrencyLimit`.
    ///
    /// It orders the queues inside the client; no header field contains it. `URLSessionTransport` also sets it as the
    /// priority of the task. A steady stream of urgent calls delays other calls but does not starve them: every eighth
    /// turn is for the call that has waited longest.
    public enum Priority: Int, Hashable, Sendable, CaseIterable {
        /// After all other calls: for prefetching and background synchronization.
        case low
        /// The default priority.
        case normal
        /// Before all other calls: for content that the user is waiting for.
        case high
    }
}
