// SPDX-License-Identifier: MIT

import CurlewCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Ends every wait of the server at once: a pipe that all threads poll, with one byte that nobody reads.
final class StopSignal: Sendable {
    private let readEnd: Int32
    private let writeEnd: Int32

    /// Why a wait ended.
    enum Wake {
        case ready
        case timedOut
        case stopped
    }

    init() throws(MockServerError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw MockServerError("the mock server could not open a pipe") }
        for end in ends { LoopbackSocket.configure(end) }
        readEnd = ends[0]
        writeEnd = ends[1]
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    func raise() {
        _ = write(writeEnd, [1], 1)
    }

    /// Waits for `events` on the descriptor; a broken connection is ready as well.
    func wait(for events: Int32, on descriptor: Int32, until deadline: Deadline) -> Wake {
        while true {
            var entries = [
                pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0),
                pollfd(fd: descriptor, events: Int16(events), revents: 0),
            ]
            let count = poll(&entries, 2, Self.milliseconds(until: deadline))
            if entries[0].revents != 0 { return .stopped }
            if count > 0 { return .ready }
            if count < 0, errno != EINTR { return .ready }
            if deadline.hasPassed(at: SystemTime().now) { return .timedOut }
        }
    }

    /// Lets time pass while the peer is there: until the deadline, and with `.never` until the peer goes away.
    func hold(_ descriptor: Int32, until deadline: Deadline) -> Wake {
        var events = Int32(POLLIN)
        while true {
            let wake = wait(for: events, on: descriptor, until: deadline)
            guard wake == .ready else { return wake }
            if LoopbackSocket.isClosed(descriptor) { return .ready }
            // The peer has sent more. Its bytes would wake every poll, so only hang-up and errors are watched now.
            if events == Self.hangUp { return .ready }
            events = Self.hangUp
        }
    }

    /// Linux tells the end of the peer's stream apart from its bytes; elsewhere it shows when both directions have ended.
    #if canImport(Darwin)
    private static let hangUp: Int32 = 0
    #else
    private static let hangUp: Int32 = 0x2000
    #endif

    private static func milliseconds(until deadline: Deadline) -> Int32 {
        guard let remaining = deadline.remaining(at: SystemTime().now) else { return -1 }
        return Int32(clamping: remaining.roundedUpMilliseconds)
    }
}
