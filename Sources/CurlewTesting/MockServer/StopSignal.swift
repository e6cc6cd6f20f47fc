// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation

/// A signal that ends all waits of the server at once. Every wait polls the same pipe. The signal writes one byte to
/// the pipe, and no wait reads it.
final class StopSignal: Sendable {
    private let pipe: WakePipe

    /// The reason why a wait ended.
    enum Wake {
        case ready
        case timedOut
        case stopped
    }

    init() throws(MockError) {
        pipe = try WakePipe()
    }

    func raise() {
        pipe.wake()
    }

    /// Waits for `events` on the descriptor until the deadline, or until the server stops. A broken connection counts
    /// as ready.
    func wait(for events: Int32, on descriptor: Int32, until deadline: SystemTime.Deadline) -> Wake {
        wait(for: events, on: descriptor, or: nil, until: deadline).wake
    }

    /// Waits as `wait(for:on:until:)` does, and also for a wake-up, which counts as ready. Returns what has happened on
    /// the descriptor as well: `events`, and `POLLERR` or `POLLHUP` if the connection is broken.
    func wait(
        for events: Int32, on descriptor: Int32, or other: WakePipe?, until deadline: SystemTime.Deadline
    ) -> (wake: Wake, events: Int32) {
        while true {
            // The system ignores a negative descriptor.
            var entries = [
                pollfd(fd: pipe.readEnd, events: Int16(POLLIN), revents: 0),
                pollfd(fd: descriptor, events: Int16(events), revents: 0),
                pollfd(fd: other?.readEnd ?? -1, events: Int16(POLLIN), revents: 0),
            ]
            let count = poll(&entries, 3, Self.milliseconds(until: deadline))
            if entries[0].revents != 0 { return (.stopped, 0) }
            if count > 0 { return (.ready, Int32(entries[1].revents)) }
            if count < 0, errno != EINTR { return (.ready, Int32(POLLERR)) }
            if deadline.hasPassed(at: SystemTime().now) { return (.timedOut, 0) }
        }
    }

    /// Waits until the peer closes its side, the deadline passes, or the server stops. With `.never` there is no
    /// deadline.
    ///
    /// The wait leaves bytes that the peer has sent unread. These bytes must neither wake the thread repeatedly nor
    /// hide the end of the stream that follows them.
    func hold(_ descriptor: Int32, until deadline: SystemTime.Deadline) -> Wake {
        #if canImport(Darwin)
        holdByQueue(descriptor, until: deadline)
        #else
        wait(for: Self.peerEnd, on: descriptor, until: deadline)
        #endif
    }

    #if canImport(Darwin)
    /// The event that reports the end of the peer's stream, and its bytes as well.
    static let peerEnd = Int32(POLLIN)
    #else
    /// The event that reports only the end of the peer's stream, not its bytes: POLLRDHUP, which Swift does not import.
    static let peerEnd: Int32 = 0x2000
    #endif

    private static func milliseconds(until deadline: SystemTime.Deadline) -> Int32 {
        guard let remaining = deadline.remaining(at: SystemTime().now) else { return -1 }
        return Int32(clamping: remaining.roundedUpMilliseconds)
    }
}

#if canImport(Darwin)
extension StopSignal {
    /// Waits with a kqueue, because Darwin's `poll` has no event for the end of the stream alone. A kqueue reports the
    /// end of the stream, and every other event only once.
    private func holdByQueue(_ descriptor: Int32, until deadline: SystemTime.Deadline) -> Wake {
        let queue = kqueue()
        guard queue >= 0 else { return wait(for: Int32(POLLIN), on: descriptor, until: deadline) }
        defer { close(queue) }
        let changes = [pipe.readEnd, descriptor].map {
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
                if event.ident == UInt(pipe.readEnd) { return .stopped }
                if event.flags & UInt16(EV_EOF | EV_ERROR) != 0 { return .ready }
            }
            if deadline.hasPassed(at: SystemTime().now) { return .timedOut }
        }
    }
}
#endif

/// A pipe that ends the wait of a thread that polls its read end.
final class WakePipe: Sendable {
    let readEnd: Int32
    private let writeEnd: Int32

    init() throws(MockError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw MockError("the mock server could not open a pipe") }
        for end in ends { LoopbackSocket.configure(end) }
        readEnd = ends[0]
        writeEnd = ends[1]
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    /// Ends the current wait, or the next one. A full pipe does so already.
    func wake() {
        _ = write(writeEnd, [1], 1)
    }

    /// Clears the wake-ups so far. The thread calls this before it checks what they announce.
    func drain() {
        var bytes = [UInt8](repeating: 0, count: 256)
        while read(readEnd, &bytes, bytes.count) == bytes.count {}
    }
}
