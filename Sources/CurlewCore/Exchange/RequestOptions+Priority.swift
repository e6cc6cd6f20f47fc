// SPDX-License-Identifier: MIT

extension RequestOptions {
    /// The priority of a call in the queue for a connection slot to its host.
    ///
    /// It orders the queue inside the transport and is never sent. A steady stream of urgent calls delays other calls
    /// but does not starve them: every eighth slot is assigned to the call that has waited longest.
    public enum Priority: Int, Hashable, Sendable, CaseIterable {
        /// After all other calls: for prefetching and background synchronization.
        case low
        /// The default priority.
        case normal
        /// Before all other calls: for content that the user is waiting for.
        case high
    }
}
