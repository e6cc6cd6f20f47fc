// SPDX-License-Identifier: MIT

/// What a transport is busy with, as numbers for a dashboard or a log line.
///
/// The engine takes it between two pieces of work; it may be one such piece, usually well under a millisecond, behind
/// what callers have just seen. All numbers of one snapshot belong to the same moment. Reading it costs one lock.
public struct TransportSnapshot: Hashable, Sendable {
    /// Exchanges the engine works on, from their start until the last byte has come. Those in `waiting` do not count.
    public var active = 0
    /// Active exchanges that stand still because the reader of the body or the producer of the upload is behind.
    public var paused = 0
    /// Exchanges that wait for a place at their host.
    public var waiting = 0
    /// Open connections: in use, idle, or being established.
    public var connections = 0
    /// Connections opened since the beginning, attempts that failed included.
    public var connectionsOpened = 0
    /// Exchanges that have ended since the beginning, whatever their outcome, and that had begun.
    public var completed = 0
    /// Those of them that went over a connection that existed before.
    public var reused = 0
    /// Handles of the engine's library, in use and kept for later.
    public var handles = 0

    /// A snapshot of a transport that has done nothing.
    public init() {}

    /// The numbers of two engines together.
    public static func + (left: TransportSnapshot, right: TransportSnapshot) -> TransportSnapshot {
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

extension TransportSnapshot: CustomStringConvertible {
    /// All numbers on one line.
    public var description: String {
        "\(active) active, \(paused) paused, \(waiting) waiting; \(connections) connections, \(connectionsOpened) opened; "
            + "\(completed) completed, \(reused) on a reused connection; \(handles) handles"
    }
}
