// SPDX-License-Identifier: MIT

#if os(Linux)
/// Quirk of libcurl before 8.1: on an HTTP/2 connection, a transfer that finds the bytes of another one in the socket may
/// come to where that one has no room for more. libcurl then keeps what it has read, goes on when there is room, and
/// forgets the rest, among which may be the last bytes of others: they would come with the next ones that the server
/// sends, or never. Reading once more, from a socket that has nothing, brings them.
///
/// So a connection that has been silent for a moment is read although the system reports nothing.
struct ForgottenBytes {
    private let isNeeded: Bool
    private var lookAt: [Int32: Int64] = [:]
    /// When the first one is due; `Int64.max` for none. It may be early.
    private(set) var nextLook = Int64.max

    /// After so much silence libcurl looks, and then each second; in nanoseconds.
    static let (silence, longSilence) = (Int64(5_000_000), Int64(1_000_000_000))

    init(isNeeded: Bool = CurlLibrary.current.forgetsBytes) {
        self.isNeeded = isNeeded
    }

    mutating func insert(_ socket: Int32, at now: Int64) {
        guard isNeeded, lookAt[socket] == nil else { return }
        note(socket, now + Self.silence)
    }

    mutating func remove(_ socket: Int32) {
        if !lookAt.isEmpty { lookAt[socket] = nil }
    }

    /// There is something to read, or room to write. Nothing happens for other connections.
    mutating func noteStir(_ socket: Int32, at now: Int64) {
        guard !lookAt.isEmpty, lookAt[socket] != nil else { return }
        note(socket, now + Self.silence)
    }

    /// Those that have been silent for long enough, of the ones that a transfer reads from.
    mutating func takeDue(at now: Int64, where isRead: (Int32) -> Bool) -> [Int32] {
        nextLook = .max
        var due: [Int32] = []
        for (socket, moment) in lookAt where isRead(socket) {
            if moment <= now { due.append(socket) }
            note(socket, moment <= now ? now + Self.longSilence : moment)
        }
        return due
    }

    private mutating func note(_ socket: Int32, _ moment: Int64) {
        lookAt[socket] = moment
        nextLook = min(nextLook, moment)
    }
}
#endif
