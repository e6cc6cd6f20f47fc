// SPDX-License-Identifier: MIT

extension TransportConfiguration.Pool {
    /// The current load of a transport, as numbers for a dashboard or a log line.
    ///
    /// An event loop updates its numbers between two units of work, so they may lag behind by one unit, usually well
    /// under a millisecond. The numbers of one event loop belong to the same moment. A transport with several event
    /// loops sums numbers that it reads one after the other, so the sums may be off by the exchanges that start or end
    /// meanwhile. Reading a snapshot takes one lock for each event loop.
    public struct Snapshot: Hashable, Sendable {
        /// The number of active exchanges, from their start until the last byte has arrived. Exchanges in `waiting` are
        /// not included.
        public var active = 0
        /// The number of active exchanges that are paused until the reader of the body takes the buffered bytes, or
        /// until the producer of the upload supplies more.
        public var paused = 0
        /// The number of exchanges that wait for a connection slot to their host.
        public var waiting = 0
        /// The number of open connections: in use, idle, or being established.
        public var connections = 0
        /// The total number of connections opened, including failed attempts.
        public var connectionsOpened = 0
        /// The total number of exchanges that began and have ended, whatever their outcome.
        public var completed = 0
        /// The total number of completed exchanges that used an existing connection.
        public var reused = 0
        /// The number of libcurl handles, in use and kept for reuse.
        public var handles = 0

        package init() {}

        /// Returns a snapshot in which each number is the sum of the numbers in `left` and `right`.
        package static func + (left: Self, right: Self) -> Self {
            var sum = left
            sum.active += right.active
            sum.paused += right.paused
            sum.waiting += right.waiting
            sum.connections += right.connections
            sum.connectionsOpened += right.connectionsOpened
            sum.completed += right.completed
            sum.reused += right.reused
            sum.handles += right.handles
            return sum
        }
    }
}

extension TransportConfiguration.Pool.Snapshot: CustomStringConvertible {
    /// All numbers on one line.
    public var description: String {
        "\(active) active, \(paused) paused, \(waiting) waiting; \(connections) connections, "
            + "\(connectionsOpened) opened; \(completed) completed, \(reused) on a reused connection; \(handles) handles"
    }
}
