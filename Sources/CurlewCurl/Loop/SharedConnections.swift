// SPDX-License-Identifier: MIT

#if os(Linux)
/// The HTTP/2 connections that several transfers may use concurrently, and the detection of dead ones.
///
/// A connection is dead if nothing arrives on it although responses are due, for example after a load balancer has
/// dropped its state. libcurl removes a late transfer from such a connection and continues to use it for others, which
/// would all be late.
struct SharedConnections {
    private struct Connection {
        /// The arrival of the last bytes.
        var heard: Int64
        /// The time since which nothing has arrived while a response was late; nil if no response was late.
        var suspectSince: Int64?
    }

    private var connections: [Int32: Connection] = [:]

    /// The silence in nanoseconds after which a connection with a late response counts as dead. The second value
    /// applies if other transfers also use the connection, because they may wait for a slow response.
    static let (patience, sharedPatience) = (Int64(1_000_000_000), Int64(5_000_000_000))

    var sockets: some Sequence<Int32> { connections.keys }
    var count: Int { connections.count }

    func contains(_ socket: Int32) -> Bool { !connections.isEmpty && connections[socket] != nil }

    mutating func insert(_ socket: Int32, at now: Int64) {
        if connections[socket] == nil { connections[socket] = Connection(heard: now) }
    }

    mutating func remove(_ socket: Int32) {
        if !connections.isEmpty { connections[socket] = nil }
    }

    /// Records that the socket is readable. Does nothing if it is not one of these connections.
    mutating func noteHeard(_ socket: Int32, at now: Int64) {
        guard !connections.isEmpty, let index = connections.index(forKey: socket) else { return }
        connections.values[index] = Connection(heard: now)
    }

    /// Records a late response of a transfer without progress since `moment`. Returns true if the connection is dead.
    ///
    /// - `isAlone`: whether no other transfer uses the connection.
    mutating func isDead(_ socket: Int32, lateSince moment: Int64, isAlone: Bool, at now: Int64) -> Bool {
        guard let connection = connections[socket], connection.heard <= moment else { return false }
        // Several short waits add up: a single deadline of 0.1 s is weak evidence, ten of them are as strong as one of
        // 1 s.
        let start = min(connection.suspectSince ?? moment, moment)
        connections[socket]?.suspectSince = start
        return now - start >= (isAlone ? Self.patience : Self.sharedPatience)
    }
}
#endif
