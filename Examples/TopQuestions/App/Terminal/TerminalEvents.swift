// SPDX-License-Identifier: MIT

#if !canImport(SwiftUI)
import Dispatch

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// What happens in a terminal.
enum TerminalEvent: Equatable {
    case key(Key)
    case resized
    /// Something that is shown has changed.
    case changed
    /// Time to turn the wheel.
    case tick
    /// A signal asks the program to end.
    case asked(toEnd: Int32)
    /// There is no terminal any more.
    case gone
}

/// Waits for keys and signals on a thread of its own, for both at once.
enum TerminalEvents {
    static func begin(_ events: AsyncStream<TerminalEvent>.Continuation) {
        guard signals.output >= 0 else { return }
        for number in [SIGWINCH, SIGINT, SIGTERM, SIGHUP] {
            // A handler may do next to nothing: it passes the number on, to be read as any other input.
            signal(number) { number in
                let before = errno
                var byte = UInt8(truncatingIfNeeded: number)
                _ = write(signals.input, &byte, 1)
                errno = before
            }
        }
        DispatchQueue(label: "keys").async { wait(events) }
    }

    private static func wait(_ events: AsyncStream<TerminalEvent>.Continuation) {
        var decoder = KeyDecoder()
        var sources = [STDIN_FILENO, signals.output].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while true {
            // The rest of a key follows at once. What does not, was Escape.
            let count = poll(&sources, nfds_t(sources.count), decoder.isWaiting ? 50 : -1)
            if count < 0 && errno != EINTR { break }
            if count == 0 { decoder.rest().forEach { events.yield(.key($0)) } }
            guard count > 0 else { continue }
            if sources[1].revents != 0 {
                for number in bytes(from: signals.output) ?? [] {
                    events.yield(Int32(number) == SIGWINCH ? .resized : .asked(toEnd: Int32(number)))
                }
            }
            if sources[0].revents != 0 {
                guard let bytes = bytes(from: STDIN_FILENO) else { break }
                decoder.decode(bytes).forEach { events.yield(.key($0)) }
            }
        }
        events.yield(.gone)
    }

    /// What there is to read; nil at the end of it.
    private static func bytes(from descriptor: Int32) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 1024)
        let count = read(descriptor, &buffer, buffer.count)
        if count < 0 && errno == EINTR { return [] }
        return count > 0 ? Array(buffer.prefix(count)) : nil
    }
}

/// The pipe from the handlers of signals to the thread that waits; -1 if there is none to be had.
private let signals: (output: Int32, input: Int32) = {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return (-1, -1) }
    // A full pipe must not hold up a handler; a signal that gets no place there has company enough.
    _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
    return (ends[0], ends[1])
}()
#endif
