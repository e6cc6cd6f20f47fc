// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP
import Synchronization
#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// What other threads ask of the agent.
enum Command {
    case start(Transfer)
    case cancel(Transfer)
    /// The reader of a body has made room, or the producer of an upload has bytes.
    case resume(Transfer)
    /// Somebody who came to another agent waits for this origin.
    case look(Origin)
    /// End when nothing is left to do, at this moment on the agent's clock at the latest.
    case stop(by: Int64)
}

/// The way into the agent's thread: a list of commands and a descriptor that wakes it.
///
/// A command costs a system call only when the agent sleeps.
final class CommandQueue: Sendable {
    struct State {
        var commands: [Command] = []
        var isSleeping = false
        /// No new work is taken.
        var isStopped = false
        /// The agent's thread has been started and has not ended.
        var isRunning = false
        /// The agent's numbers at its last look at this queue, which holds the lock anyway.
        var snapshot = TransportSnapshot()
        /// Called when the agent has ended.
        var endings: [@Sendable () -> Void] = []
        /// Transfers that were handed over and have not ended as far as the agent has told.
        private(set) var inFlight: [Transfer] = []
        /// How often the agent has looked here.
        var turns: UInt64 = 0
        /// Somebody watches that the agent goes on.
        var isWatched = false
        /// The agent has not gone on for too long.
        var isStalled = false

        mutating func enter(_ transfer: Transfer) {
            transfer.slot = inFlight.count
            inFlight.append(transfer)
        }

        mutating func leave(_ transfer: Transfer) {
            guard let slot = transfer.slot, let last = inFlight.popLast() else { return }
            transfer.slot = nil
            transfer.watchedPipe = nil
            guard last !== transfer else { return }
            inFlight[slot] = last
            last.slot = slot
        }
    }

    private let state = Locked(State())
    private let inFlight = Atomic(0)
    /// Readable while a wake-up is due. Negative if the system had no descriptor left.
    let descriptor: Int32

    init() {
        descriptor = curlew_event_descriptor()
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Runs `body` under the queue's lock; it may append commands. Wakes the agent if it did and the agent sleeps.
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

    /// All commands so far. If there are none the agent is about to wait, and is woken by the next one. `ended` are
    /// transfers that are not in flight any more.
    func take(into commands: inout [Command], publishing snapshot: TransportSnapshot, forgetting ended: [Transfer]) {
        commands.removeAll(keepingCapacity: true)
        // Two lists that take turns: neither is allocated anew.
        state.withLock { state in
            swap(&state.commands, &commands)
            state.snapshot = snapshot
            state.isSleeping = commands.isEmpty
            state.turns &+= 1
            state.isStalled = false
            for transfer in ended { state.leave(transfer) }
            noteLoad(state)
        }
    }

    /// How many transfers were handed over and have not ended, for those who choose among agents: about, and without the
    /// lock.
    var load: Int { inFlight.load(ordering: .relaxed) }

    /// To be called under the lock.
    func noteLoad(_ state: borrowing State) {
        inFlight.store(state.inFlight.count, ordering: .relaxed)
    }

    /// Waits for a wake-up alone, where there is no libcurl to wait for.
    func wait() {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        var count: UInt64 = 0
        if poll(&entry, 1, 60_000) > 0 { _ = read(descriptor, &count, MemoryLayout<UInt64>.size) }
    }

    private func wake() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
    }
}
#endif
