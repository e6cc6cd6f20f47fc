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
    ///
    /// The peer may have sent more, which nobody reads meanwhile: its bytes must not wake the thread again and again, nor
    /// hide the end behind them.
    func hold(_ descriptor: Int32, until deadline: Deadline) -> Wake {
        #if canImport(Darwin)
        holdByQueue(descriptor, until: deadline)
        #else
        // The end of the peer's stream, apart from its bytes.
        wait(for: 0x2000, on: descriptor, until: deadline)
        #endif
    }

    private static func milliseconds(until deadline: Deadline) -> Int32 {
        guard let remaining = deadline.remaining(at: SystemTime().now) else { return -1 }
        return Int32(clamping: remaining.roundedUpMilliseconds)
    }
}

#if canImport(Darwin)
extension StopSignal {
    /// `poll` of Darwin has no event for the end alone, but a queue tells it, and everything else once.
    private func holdByQueue(_ descriptor: Int32, until deadline: Deadline) -> Wake {
        let queue = kqueue()
        guard queue >= 0 else { return wait(for: Int32(POLLIN), on: descriptor, until: deadline) }
        defer { close(queue) }
        let changes = [readEnd, descriptor].map {
            kevent(
                ident: UInt($0), filter: Int16(EVFILT_READ), flags: UInt16(EV_ADD | EV_CLEAR), fflags: 0, data: 0,
                udata: nil)
        }
        guard kevent(queue, changes, 2, nil, 0, nil) == 0 else { return .ready }
        while true {
            var event = kevent()
            let milliseconds = Int(Self.milliseconds(until: deadline))
            var limit = timespec(tv_sec: milliseconds / 1000, tv_nsec: milliseconds % 1000 * 1_000_000)
            let count =
                milliseconds < 0 ? kevent(queue, nil, 0, &event, 1, nil) : kevent(queue, nil, 0, &event, 1, &limit)
            if count < 0, errno != EINTR { return .ready }
            if count > 0 {
                if event.ident == UInt(readEnd) { return .stopped }
                if event.flags & UInt16(EV_EOF | EV_ERROR) != 0 { return .ready }
            }
            if deadline.hasPassed(at: SystemTime().now) { return .timedOut }
        }
    }
}
#endif
