// SPDX-License-Identifier: MIT

#if os(Linux)
/// The connections of HTTP/2, which several transfers may use at a time: when libcurl has to read from each although the
/// system reports nothing, and which of them are dead.
///
/// Up to version 8.0 a transfer that finds the bytes of another one in the socket may come to where that one has no room
/// for more. libcurl then keeps what it has read, goes on when there is room, and forgets the rest, among which may be
/// the last bytes of others: they would come with the next ones that the server sends, or never. Reading once more, from
/// a socket that has nothing, brings them.
///
/// A connection is dead when nothing comes on it although responses are due, as after a balancer has forgotten it. libcurl
/// takes a transfer that was late off such a connection and goes on using it for others, which would all be late.
struct SharedConnections {
    private struct Connection {
        /// When libcurl has to read from it next.
        var lookAt: Int64
        /// When something came last.
        var heard: Int64
        /// Since when a response has been late without anything having come.
        var suspectSince: Int64?
    }

    private var connections: [Int32: Connection] = [:]
    /// When the first one is due; `Int64.max` for none. It may be early.
    private(set) var nextLook = Int64.max

    /// After so much silence libcurl looks, and then each second; in nanoseconds.
    static let (silence, longSilence) = (Int64(5_000_000), Int64(1_000_000_000))

    /// A connection is dead when nothing has come on it for so many nanoseconds while a response was late. With other
    /// transfers on it, which may wait for something slow, the connection gets more time.
    static let (patience, sharedPatience) = (Int64(1_000_000_000), Int64(5_000_000_000))

    var sockets: some Sequence<Int32> { connections.keys }
    var count: Int { connections.count }

    func contains(_ socket: Int32) -> Bool { !connections.isEmpty && connections[socket] != nil }

    mutating func insert(_ socket: Int32, at now: Int64) {
        guard connections[socket] == nil else { return }
        connections[socket] = Connection(lookAt: now, heard: now)
        note(socket, now + Self.silence)
    }

    mutating func remove(_ socket: Int32) {
        connections[socket] = nil
    }

    /// There is something to read, if `isReadable`, or room to write. Nothing happens for other connections.
    mutating func noteStir(_ socket: Int32, isReadable: Bool, at now: Int64) {
        guard !connections.isEmpty, let index = connections.index(forKey: socket) else { return }
        connections.values[index].lookAt = now + Self.silence
        nextLook = min(nextLook, now + Self.silence)
        guard isReadable else { return }
        connections.values[index].heard = now
        connections.values[index].suspectSince = nil
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

    /// Those that have been silent for long enough, of the ones that somebody reads from.
    mutating func takeDue(at now: Int64, where isRead: (Int32) -> Bool) -> [Int32] {
        nextLook = .max
        var due: [Int32] = []
        for (socket, connection) in connections where isRead(socket) {
            let isDue = connection.lookAt <= now
            if isDue { due.append(socket) }
            note(socket, isDue ? now + Self.longSilence : connection.lookAt)
        }
        return due
    }

    private mutating func note(_ socket: Int32, _ moment: Int64) {
        connections[socket]?.lookAt = moment
        nextLook = min(nextLook, moment)
    }
}
#endif
