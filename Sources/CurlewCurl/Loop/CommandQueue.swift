// SPDX-License-Identifier: MIT

import CurlewFoundation

#if os(Linux)
import CCurl
import CurlewCore

/// A command from another thread to an event loop.
enum Command {
    case start(Transfer)
    case cancel(Transfer)
    /// The reader of a body has made room, or the producer of an upload has bytes.
    case resume(Transfer)
    /// The result of a name lookup.
    case found(String, NameLookup.Outcome)
    /// The thread of a caller has sent only a part of a request: the rest, and the error of the socket, if any.
    case unsent(Transfer, DirectConnection, [UInt8], error: Int32)
    /// Do nothing but look at the deadlines again.
    case wake
    /// Run a step of a task on the loop's thread.
    case run(UnownedJob, EventLoopExecutor)
    /// Check for late requests at this time on the loop's clock, because requests are waiting.
    case checkLate(by: Int64)
    /// End the thread when no work is left, at this time at the latest.
    case stop(by: Int64)
}

/// A queue of commands for the thread of an event loop, with a descriptor that wakes the loop.
///
/// A command costs a system call only if the loop is waiting.
final class CommandQueue: Sendable {
    struct State {
        var commands: [Command] = []
        var isSleeping = false
        /// Whether new work is refused.
        var isStopped = false
        /// Whether the loop's thread has been started and has not ended.
        var isRunning = false
        /// The values that the loop published when it last took commands. Taking commands requires the lock in any
        /// case.
        var snapshot = TransportConfiguration.Pool.Snapshot()
        /// The time until which the steps of tasks are refused, because one of them took long.
        var avoidsStepsUntil: Int64?
        /// The completion handlers for the end of the loop's thread.
        var endings: [@Sendable () -> Void] = []
    }

    private let state = Locked(State())
    /// The descriptor that becomes readable when the loop must wake up. Negative if the system had no descriptor left.
    let descriptor: Int32

    init() {
        descriptor = curlew_event_descriptor()
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Runs `body`, which may append commands, under the queue's lock. Wakes the loop if commands were appended and it
    /// is waiting.
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

    /// Takes all commands and publishes `snapshot`. If there are no commands, the loop is about to wait, and the next
    /// command wakes it.
    func take(into commands: inout [Command], publishing snapshot: TransportConfiguration.Pool.Snapshot) {
        commands.removeAll(keepingCapacity: true)
        // Two arrays are swapped, so that neither is reallocated.
        state.withLock { state in
            swap(&state.commands, &commands)
            state.snapshot = snapshot
            state.isSleeping = commands.isEmpty
        }
    }

    /// Waits until a command wakes the loop, at most `milliseconds`. Used if there is no libcurl handle to wait for.
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
