// SPDX-License-Identifier: MIT

#if os(Linux)
/// Quirk of libcurl before 8.1: it may leave received bytes of an HTTP/2 connection undelivered.
///
/// One transfer may read bytes from the socket that belong to another transfer, which has no room for them. libcurl
/// keeps these bytes and delivers them when there is room, but forgets the bytes that follow them. These may be the
/// last bytes of other transfers. libcurl would deliver them with the next bytes from the server, or never. Reading
/// again delivers them, even if the socket is empty.
///
/// So the event loop makes libcurl read from a connection that has been silent for a short time, although the system
/// reports no event.
struct ForgottenBytes {
    private let isNeeded: Bool
    private var checkTimes: [Int32: Int64] = [:]
    /// The next check, or an earlier time; `Int64.max` without connections.
    private(set) var nextCheck = Int64.max

    /// The delay of libcurl's first read on a silent connection, and the interval of further reads, in nanoseconds.
    static let (silence, longSilence) = (Int64(5_000_000), Int64(1_000_000_000))

    init(isNeeded: Bool = CurlLibrary.current.forgetsBytes) {
        self.isNeeded = isNeeded
    }

    mutating func insert(_ socket: Int32, at now: Int64) {
        guard isNeeded, checkTimes[socket] == nil else { return }
        note(socket, now + Self.silence)
    }

    mutating func remove(_ socket: Int32) {
        if !checkTimes.isEmpty { checkTimes[socket] = nil }
    }

    /// Records that the socket is readable or writable. Does nothing if the socket is not watched.
    mutating func noteStir(_ socket: Int32, at now: Int64) {
        guard !checkTimes.isEmpty, checkTimes[socket] != nil else { return }
        note(socket, now + Self.silence)
    }

    /// Returns the sockets that have been silent long enough and that a transfer reads from.
    mutating func takeDue(at now: Int64, where isRead: (Int32) -> Bool) -> [Int32] {
        nextCheck = .max
        var due: [Int32] = []
        for (socket, moment) in checkTimes where isRead(socket) {
            if moment <= now { due.append(socket) }
            note(socket, moment <= now ? now + Self.longSilence : moment)
        }
        return due
    }

    private mutating func note(_ socket: Int32, _ moment: Int64) {
        checkTimes[socket] = moment
        nextCheck = min(nextCheck, moment)
    }
}
#endif
