// SPDX-License-Identifier: MIT

#if os(Linux)
/// The connections of HTTP/2, which several transfers may use at a time, and which of them are dead.
///
/// A connection is dead when nothing comes on it although responses are due, as after a balancer has forgotten it. libcurl
/// takes a transfer that was late off such a connection and goes on using it for others, which would all be late.
struct SharedConnections {
    private struct Connection {
        /// When something came last.
        var heard: Int64
        /// Since when a response has been late without anything having come.
        var suspectSince: Int64?
    }

    private var connections: [Int32: Connection] = [:]

    /// A connection is dead when nothing has come on it for so many nanoseconds while a response was late. With other
    /// transfers on it, which may wait for something slow, the connection gets more time.
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

    /// There is something to read. Nothing happens for other connections.
    mutating func noteHeard(_ socket: Int32, at now: Int64) {
        guard !connections.isEmpty, let index = connections.index(forKey: socket) else { return }
        connections.values[index] = Connection(heard: now)
    }

    /// A response on this connection is late, of a transfer that has seen no progress since `moment`. True if the
    /// connection is dead.
    ///
    /// - `isAlone`: no other transfer uses the connection.
    mutating func isDead(_ socket: Int32, lateSince moment: Int64, isAlone: Bool, at now: Int64) -> Bool {
        guard let connection = connections[socket], connection.heard <= moment else { return false }
        // Several short waits add up: a deadline of 0.1 s says little, ten of them say what one of 1 s does.
        let start = min(connection.suspectSince ?? moment, moment)
        connections[socket]?.suspectSince = start
        return now - start >= (isAlone ? Self.patience : Self.sharedPatience)
    }
}
#endif
