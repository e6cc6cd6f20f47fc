// SPDX-License-Identifier: MIT

#if os(Linux)
/// Quirk of libcurl before 8.1: on an HTTP/2 connection, a transfer may read bytes of another transfer from the socket
/// that the other has no room for. libcurl then keeps these bytes, continues when there is room, and forgets the rest,
/// which may contain the last bytes of other transfers. They would be delivered with the next bytes from the server, or
/// never. Reading again from an empty socket delivers them.
///
/// So a connection that has been silent for a short time is read although the system reports no event.
struct ForgottenBytes {
    private let isNeeded: Bool
    private var lookAt: [Int32: Int64] = [:]
    /// When the first connection is due; `Int64.max` if there is none. It may be too early.
    private(set) var nextLook = Int64.max

    /// The time of silence after which libcurl reads, and the interval of further reads, in nanoseconds.
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

    /// Records that the socket is readable or writable. Does nothing for other connections.
    mutating func noteStir(_ socket: Int32, at now: Int64) {
        guard !lookAt.isEmpty, lookAt[socket] != nil else { return }
        note(socket, now + Self.silence)
    }

    /// Returns the connections that have been silent long enough and that a transfer reads from.
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
