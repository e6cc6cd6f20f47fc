// SPDX-License-Identifier: MIT

import CurlewFoundation

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP

/// A thread that performs transfers. All calls into libcurl for these transfers happen on this thread.
///
///     caller ──▶ RequestQueues ──▶ CommandQueue ──▶ EventLoop ──▶ MultiHandle ──▶ network
///       ▲                                                              │
///       └──────────────── continuation, BodyPipe ◀─────────────────────┘
///
/// A turn of the loop has five steps: take commands, wait for sockets, let libcurl work, apply the effects of its
/// callbacks, end late transfers. libcurl's callbacks only record effects. Callers and readers are resumed after
/// libcurl has returned, with no lock held.
///
/// The thread starts with the first request. If there is no request for `TransportConfiguration.Pool.idleLifetime`,
/// after which no connection would be reused, the thread closes everything and ends. The next request starts another
/// thread.
///
/// `@unchecked Sendable` is valid because everything but the constants is accessed only by the loop's thread, of which
/// there is one at a time: the command queue's lock orders the end of one thread and the start of the next. For the
/// same reason its properties, and those of the other classes of the loop, are not checked for exclusive access
/// (Decision 0032).
final class EventLoop: @unchecked Sendable {
    let configuration: TransportConfiguration
    let proxies: ProxyRules
    let queues: RequestQueues
    let names: NameLookup
    /// The index of the loop among the loops that share its queues.
    let number: Int
    let home = HomeProcess()
    let memory = BodyMemory()
    let fields = FieldCache()
    @exclusivity(unchecked) var mixedVersions = MixedVersions()
    /// The current values for `snapshot`.
    @exclusivity(unchecked) var gauges = TransportConfiguration.Pool.Snapshot()
    /// The time, read once per turn: callbacks record activity too often to read the clock themselves.
    @exclusivity(unchecked) private(set) var now: Int64 = 0

    let commandQueue = CommandQueue()
    /// An executor that runs the steps of tasks on this thread.
    var executor: EventLoopExecutor { EventLoopExecutor(self) }
    @exclusivity(unchecked) private var commands: [Command] = []
    /// The libcurl handle, while there is work.
    @exclusivity(unchecked) private var multi: MultiHandle?
    /// The transport's own connections, while there is work.
    @exclusivity(unchecked) private var direct: DirectConnections?
    /// Earlier handles with connections older than `TransportConfiguration.Pool.lifetime`, until their last transfers
    /// have ended.
    @exclusivity(unchecked) private var retired: [MultiHandle] = []
    /// The time of the next check for late waiting requests; `Int64.max` if this loop has no check to make.
    @exclusivity(unchecked) private var nextCheck = Int64.max
    /// The time limit of `stop`; `Int64.max` if it was not called. A stopping loop accepts no new work.
    @exclusivity(unchecked) private var stopAt = Int64.max
    @exclusivity(unchecked) private var isStopping = false
    /// The idle timeout of the thread, in nanoseconds.
    private let idleLifetime: Int64
    @exclusivity(unchecked) private var idleSince: Int64 = 0

    /// The idle timeout of unused body memory and surplus handles, in nanoseconds.
    private static let idleMemoryTime: Int64 = 10_000_000_000
    static let shutdownError = NetworkError(
        .refused(by: .shutdown), detail: "The transport has been shut down.",
        hint: "Create a new transport, or shut down later. Clients without a transport of their own share one.")
    static let noDescriptor = NetworkError(
        .configuration, detail: "The system provided no thread or descriptor for the transport.",
        hint: "Close files or connections, or raise the limit of open files (ulimit -n).")

    init(
        configuration: TransportConfiguration, proxies: ProxyRules, queues: RequestQueues, names: NameLookup,
        number: Int
    ) {
        self.configuration = configuration
        idleLifetime = max(1_000_000_000, configuration.pool.idleLifetime.wholeNanoseconds)
        self.proxies = proxies
        self.queues = queues
        self.names = names
        self.number = number
    }

    // MARK: From any thread

    /// Sends a command to the loop's thread. `.start` and `.checkLate` start the thread if it is not running. They return an
    /// error if the loop is stopped or the thread cannot be started. Other commands have no effect without a thread.
    @discardableResult
    func send(_ command: Command) -> NetworkError? {
        guard home.isHere else { return nil }
        return commandQueue.withLock { state in
            switch command {
            case .start, .checkLate:
                if state.isStopped { return Self.shutdownError }
                if !state.isRunning { state.isRunning = startThread() }
                if !state.isRunning { return Self.noDescriptor }
            case .cancel, .resume, .found, .unsent, .wake, .run, .stop:
                if !state.isRunning { return nil }
            }
            state.commands.append(command)
            return nil
        }
    }

    /// Runs a step of a task on the loop's thread. Returns false without a thread.
    func run(_ job: UnownedJob, _ executor: EventLoopExecutor) -> Bool {
        guard home.isHere else { return false }
        return commandQueue.withLock { state in
            let isTaken = state.isRunning && state.avoidsStepsUntil.map { TimeoutTracker.now() >= $0 } ?? true
            if isTaken {
                state.avoidsStepsUntil = nil
                state.commands.append(.run(job, executor))
            }
            return isTaken
        }
    }

    /// Refuses new work, and ends all work that is not complete by `moment`. Calls `ending` when the thread has ended.
    func stop(by moment: Int64, _ ending: (@Sendable () -> Void)?) {
        let hasEnded = commandQueue.withLock { state -> Bool in
            state.isStopped = true
            guard state.isRunning else { return true }
            if let ending { state.endings.append(ending) }
            state.commands.append(.stop(by: moment))
            return false
        }
        if hasEnded { ending?() }
    }

    /// The values that the loop published in its last turn.
    var snapshot: TransportConfiguration.Pool.Snapshot { commandQueue.withLock { $0.snapshot } }

    /// Starts the loop's thread. Returns false if the system cannot create a thread or a descriptor.
    private func startThread() -> Bool {
        guard commandQueue.descriptor >= 0 else { return false }
        return CurlewCurl.startThread(self, runEventLoop)
    }

    // MARK: On the loop's thread

    fileprivate func run() {
        // With `CURLOPT_NOSIGNAL`, libcurl does not handle SIGPIPE. A broken connection must not end the process.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        curlew_name_thread("curlew-loop")
        curlew_set_current_loop(Unmanaged.passUnretained(self).toOpaque())
        now = TimeoutTracker.now()
        idleSince = now
        while !isStopping {
            turn()
            if mayEndThread, endThread() { return }
        }
        close()
    }

    private func turn() {
        commandQueue.take(into: &commands, publishing: gauges)
        commands.forEach(perform)
        guard !isStopping else { return }
        now = TimeoutTracker.now()
        let pause = prepareToWait()
        if let multi {
            // The events that retired handles wait for must be registered before this thread waits.
            for handle in retired { handle.poller.applyChanges() }
            multi.poller.wait(pause)
            for handle in retired { handle.poller.wait(0) }
            direct?.wait(0)
        } else if let direct {
            direct.wait(pause)
        } else if pause > 0 {
            commandQueue.wait(pause)
        }
        now = TimeoutTracker.now()
        // A short exchange may begin and end between two turns.
        let isBusy = !commands.isEmpty || direct?.hasEvents == true
        direct?.work()
        forEachHandle { $0.letCurlWork() }
        forEachHandle { $0.applyEffects() }
        endLate()
        closeRetired()
        if isBusy || !isIdle { idleSince = now }
        if stopAt != .max, isIdle { isStopping = true }
    }

    /// Returns the time in milliseconds to wait. Commands may have given libcurl work, so the loop does not wait after
    /// them.
    private func prepareToWait() -> Int32 {
        let pause = commands.isEmpty ? pause : 0
        return direct?.prepareToWait(pause) ?? pause
    }

    /// Calls `body` with each libcurl handle, the retired ones first. An array of the handles would be allocated
    /// several times in each turn.
    private func forEachHandle(_ body: (MultiHandle) -> Void) {
        for handle in retired { body(handle) }
        if let multi { body(multi) }
    }

    /// Whether no transfer is in progress.
    private var isIdle: Bool { (multi?.isIdle ?? true) && retired.isEmpty && (direct?.isIdle ?? true) }

    private func perform(_ command: Command) {
        switch command {
        case .start(let transfer): begin(transfer)
        case .cancel(let transfer): carrier(of: transfer)?.cancel(transfer)
        case .resume(let transfer): carrier(of: transfer)?.resume(transfer)
        case .found(let name, let outcome):
            forEachHandle { $0.found(name, outcome) }
            direct?.found(name, outcome)
        case .unsent(let transfer, let connection, let remainder, let error):
            connection.owner.sendRemainder(remainder, of: transfer, on: connection, error: error)
        case .wake: break
        case .run(let job, let executor): run(job, as: executor)
        case .checkLate(let moment): nextCheck = min(nextCheck, moment)
        case .stop(let moment):
            stopAt = min(stopAt, moment)
            // The loop that checks waiting requests may end before the others.
            nextCheck = 0
            if TimeoutTracker.now() >= stopAt { isStopping = true }
        }
    }

    private func run(_ job: UnownedJob, as executor: EventLoopExecutor) {
        let start = TimeoutTracker.now()
        job.runSynchronously(on: executor.asUnownedTaskExecutor())
        let end = TimeoutTracker.now()
        guard end - start > EventLoopExecutor.longStep else { return }
        commandQueue.withLock { $0.avoidsStepsUntil = end + EventLoopExecutor.avoidance }
    }

    private func carrier(of transfer: Transfer) -> (any Carrier)? { transfer.multi ?? direct }

    /// Begins a transfer, or refuses it if there is no multi handle. If the multi handle could not be created, for
    /// example because too many files were open, the next transfer tries again.
    func begin(_ transfer: Transfer) {
        transfer.loop = self
        if transfer.plan.isDirect, !isStopping, beginDirectly(transfer) { return }
        beginWithCurl(transfer)
    }

    private func beginDirectly(_ transfer: Transfer) -> Bool {
        if direct == nil {
            direct = DirectConnections(loop: self)
            watchDirect()
        }
        direct?.begin(transfer)
        return direct != nil
    }

    /// Begins a transfer that libcurl performs.
    func beginWithCurl(_ transfer: Transfer) {
        retireOld()
        if multi == nil {
            multi = MultiHandle(loop: self)
            watchDirect()
        }
        if let multi, !isStopping { return multi.begin(transfer) }
        let problem = CurlLibrary.current.problem.map { NetworkError(.configuration, detail: $0) }
        refuse(transfer, isStopping ? Self.shutdownError : problem ?? Self.noDescriptor)
    }

    /// Lets the sockets of the own connections wake the loop while it waits for those of libcurl.
    private func watchDirect() {
        if let multi, let direct { _ = multi.poller.watch(direct.descriptor) }
    }

    /// Replaces the multi handle when its age reaches `TransportConfiguration.Pool.lifetime`. libcurl checks the age
    /// only of idle connections, and an HTTP/2 connection may never be idle.
    private func retireOld() {
        guard let lifetime = configuration.pool.lifetime?.wholeNanoseconds, let multi,
            now - multi.opened >= max(1_000_000_000, lifetime)
        else { return }
        // The sockets of the retired handle wake the loop through the poller of the next handle.
        guard let next = MultiHandle(loop: self) else { return }
        guard next.poller.watch(multi.poller.poll) else { return next.close() }
        for handle in retired { _ = next.poller.watch(handle.poller.poll) }
        retired.append(multi)
        self.multi = next
        watchDirect()
    }

    private func closeRetired() {
        guard !retired.isEmpty else { return }
        for handle in retired where handle.isIdle { handle.close() }
        retired.removeAll { $0.isIdle }
    }

    /// Fails a transfer, and the transfers that receive its slot.
    private func refuse(_ transfer: Transfer, _ error: NetworkError) {
        var left = [transfer]
        while let transfer = left.popLast() {
            left += queues.releaseSlot(of: transfer, keeping: transfer.direct.connection)
            transfer.refuse(error)
        }
    }

    /// The time in milliseconds until work is due.
    private var pause: Int32 {
        var next = min(nextCheck, stopAt)
        forEachHandle { next = min(next, $0.nextMoment) }
        if let direct { next = min(next, direct.nextMoment) }
        if isIdle {
            let keepsMuch = !memory.isEmpty || multi?.handles.hasSurplus == true
            if keepsMuch { next = min(next, idleSince + Self.idleMemoryTime + 1) }
            // The loop that checks for late requests does not end, so it need not wake up in order to end.
            if nextCheck == .max { next = min(next, idleSince + min(idleLifetime, 1 << 60)) }
        }
        // An upper bound on the wait costs nothing, and turns a lost wake-up into a delay instead of a hang.
        let maximum: Int64 = isIdle ? 60_000_000_000 : 1_000_000_000
        return Int32((max(0, min(next - now, maximum)) + 999_999) / 1_000_000)
    }

    private func endLate() {
        if now >= stopAt { isStopping = true }
        forEachHandle { $0.endLate() }
        direct?.endLate()
        // The end of a transfer in a retired handle may have let other transfers begin.
        if !retired.isEmpty { multi?.applyEffects() }
        if isIdle, now - idleSince > Self.idleMemoryTime {
            memory.forget()
            multi?.handles.dropSurplus()
        }
        guard now >= nextCheck else { return }
        let found = queues.takeLate(at: now)
        nextCheck = found.next
        for transfer in found.late { transfer.refuse(CurlFailure.timeout(.queue, transfer: transfer)) }
    }

    /// Whether the thread may end, because no connection would be reused.
    private var mayEndThread: Bool {
        isIdle && nextCheck == .max && now - idleSince >= idleLifetime
    }

    /// Closes all connections and, unless a command has arrived, marks the thread as ended. Returns whether the thread
    /// must end.
    private func endThread() -> Bool {
        // The thread of a caller may have taken an idle connection.
        guard queues.closeIdle(at: number, direct) else { return false }
        direct = nil
        multi?.close()
        multi = nil
        gauges.connections = 0
        memory.forget()
        return commandQueue.withLock { state in
            guard state.commands.isEmpty, !state.isStopped else { return false }
            state.snapshot = gauges
            state.isRunning = false
            return true
        }
    }

    private func close() {
        forEachHandle { $0.endAll(with: Self.shutdownError) }
        direct?.endAll(with: Self.shutdownError)
        closeRetired()
        // Performs commands that arrived after the stop, so that their callers are resumed. The last commands concern
        // transfers that have ended. They are removed from the queue, which they would otherwise keep alive, and are
        // released outside the lock, because they may hold the last reference to a transport.
        commandQueue.take(into: &commands, publishing: gauges)
        commands.forEach(perform)
        commands = []
        direct?.closeAll(with: Self.shutdownError)
        direct = nil
        multi?.close()
        multi = nil
        let last = commandQueue.withLock { state -> CommandQueue.State in
            defer { state = CommandQueue.State(isStopped: true, snapshot: gauges) }
            return state
        }
        // The task of a connection that has just ended may have one more step.
        for case .run(let job, let executor) in last.commands { executor.enqueue(job) }
        for ending in last.endings { ending() }
    }
}

/// Runs the loop on its thread. The context is a reference that keeps the loop alive until the thread has ended.
private func runEventLoop(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    Unmanaged<EventLoop>.fromOpaque(context).takeRetainedValue().run()
    return nil
}
#endif
