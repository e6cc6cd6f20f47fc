// SPDX-License-Identifier: MIT

extension RequestOptions {
    /// The order in which calls that wait for a connection slot to their host begin.
    ///
    /// It orders the queue inside the transport and is never sent. A steady stream of urgent calls delays others and
    /// does not starve them: every eighth slot is assigned to the call that has waited longest.
    public enum Priority: Int, Hashable, Sendable, CaseIterable {
        /// After everything else: prefetching, synchronizing in the background.
        case low
        /// The default.
        case normal
        /// Before everything else: for content that the user is waiting for.
        case high
    }
}
