// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore
#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// What other threads ask of an event loop.
enum Command {
    case start(Transfer)
    case cancel(Transfer)
    /// The reader of a body has made room, or the producer of an upload has bytes.
    case resume(Transfer)
    /// What the system says about a name.
    case found(String, NameLookup.Answer)
    /// Requests wait, one of which may be late at this moment on the loop's clock.
    case look(by: Int64)
    /// End when nothing is left to do, at this moment at the latest.
    case stop(by: Int64)
}

/// The way into the thread of an event loop: a list of commands and a descriptor that wakes it.
///
/// A command costs a system call only when the loop sleeps.
final class CommandQueue: Sendable {
    struct State {
        var commands: [Command] = []
        var isSleeping = false
        /// No new work is taken.
        var isStopped = false
        /// The loop's thread has been started and has not ended.
        var isRunning = false
        /// The loop's numbers at its last look at this queue, which holds the lock anyway.
        var snapshot = TransportSnapshot()
        /// Called when the loop has ended.
        var endings: [@Sendable () -> Void] = []
    }

    private let state = Locked(State())
    /// Readable while a wake-up is due. Negative if the system had no descriptor left.
    let descriptor: Int32

    init() {
        descriptor = curlew_event_descriptor()
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Runs `body` under the queue's lock; it may append commands. Wakes the loop if it did and the loop sleeps.
    func withLock<Result: Sendable>(_ body: @Sendable (inout State) -> Result) -> Result {
        let (result, mustWake) = state.withLock { state in
            let result = body(&state)
            let mustWake = state.isSleeping && !state.commands.isEmpty
            if mustWake { state.isSleeping = false }
            return (result, mustWake)
        }
        if mustWake { wake() }
        return result
    }

    /// All commands so far. If there are none the loop is about to wait, and is woken by the next one.
    func take(into commands: inout [Command], publishing snapshot: TransportSnapshot) {
        commands.removeAll(keepingCapacity: true)
        // Two lists that take turns: neither is allocated anew.
        state.withLock { state in
            swap(&state.commands, &commands)
            state.snapshot = snapshot
            state.isSleeping = commands.isEmpty
        }
    }

    /// Waits for a wake-up alone, where there is no libcurl to wait for.
    func wait(_ milliseconds: Int32) {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        var count: UInt64 = 0
        if poll(&entry, 1, milliseconds) > 0 { _ = read(descriptor, &count, MemoryLayout<UInt64>.size) }
    }

    private func wake() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
    }
}
#endif
