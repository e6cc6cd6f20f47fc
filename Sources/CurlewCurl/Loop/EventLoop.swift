// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP
#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// A thread that performs transfers: every call into libcurl happens here.
///
///     caller ──▶ RequestQueues ──▶ CommandQueue ──▶ EventLoop ──▶ MultiHandle ──▶ network
///       ▲                                                              │
///       └──────────────── continuation, BodyPipe ◀─────────────────────┘
///
/// A turn has five steps: take commands, wait for sockets, let libcurl work, apply the effects of what it reported, end
/// what is late. libcurl's callbacks only take notes; callers and readers hear when it has returned, with no lock held.
///
/// The thread starts with the first request. Without any for `ConnectionPool.idleLifetime`, when no connection would be
/// used again, it closes everything and ends, and the next request starts another one.
///
/// `@unchecked Sendable` holds because everything but the constants is touched by the loop's thread only, of which there
/// is one at a time: the command queue's lock orders the end of one and the start of the next.
final class EventLoop: @unchecked Sendable {
    let configuration: TransportConfiguration
    let proxies: ProxyRules
    let queues: RequestQueues
    let names: NameLookup
    /// Its number among the loops of its queues.
    let number: Int
    let home = HomeProcess()
    let memory = BodyMemory()
    let fields = FieldCache()
    var mixedVersions = MixedVersions()
    /// What its snapshots tell.
    var gauges = TransportSnapshot()
    /// The clock, read once in each turn: callbacks note activity far too often to ask it themselves.
    private(set) var now: Int64 = 0

    let commandQueue = CommandQueue()
    private var commands: [Command] = []
    /// libcurl, while there is something to do.
    private var multi: MultiHandle?
    /// Earlier ones with connections that are older than `ConnectionPool.lifetime`, until their last transfers are over.
    private var retired: [MultiHandle] = []
    /// When a request that waits for a slot may be late, for the loop that looks after them; else `Int64.max`.
    private var nextLook = Int64.max
    /// From now on no new work is taken, and the thread ends when nothing is left or this moment has come.
    private var stopAt = Int64.max
    private var isStopping = false
    /// Since when there has been nothing to do.
    private var restingSince: Int64 = 0

    /// Memory for bodies is kept for so many nanoseconds without any work.
    private static let restTime: Int64 = 10_000_000_000
    static let shutdownError = NetworkError(
        .refused(by: .shutdown), detail: "The transport has been shut down.",
        hint: "Make a new transport, or shut down later.")
    static let noDescriptor = NetworkError(
        .configuration, detail: "The system gave no thread or descriptor for the engine.",
        hint: "Close files or connections, or raise the limit of open files (ulimit -n).")

    init(
        configuration: TransportConfiguration, proxies: ProxyRules, queues: RequestQueues, names: NameLookup,
        number: Int
    ) {
        self.configuration = configuration
        self.proxies = proxies
        self.queues = queues
        self.names = names
        self.number = number
    }

    // MARK: From any thread

    /// Hands a transfer over that has a slot here. The error if that is not possible.
    func start(_ transfer: Transfer) -> NetworkError? {
        send(.start(transfer))
    }

    /// Asks for something. Nothing happens if the thread is gone, except that a start, and a look, start it.
    @discardableResult
    func send(_ command: Command) -> NetworkError? {
        guard home.isHere else { return nil }
        return commandQueue.withLock { state in
            switch command {
            case .start, .look:
                if state.isStopped { return Self.shutdownError }
                if !state.isRunning { state.isRunning = startThread() }
                if !state.isRunning { return Self.noDescriptor }
            case .cancel, .resume, .found, .stop:
                if !state.isRunning { return nil }
            }
            state.commands.append(command)
            return nil
        }
    }

    /// Refuses new work, and ends everything that has not ended by `moment`. `ending` is called when the thread has ended.
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

    /// The numbers of the last turn.
    var snapshot: TransportSnapshot { commandQueue.withLock { $0.snapshot } }

    /// False when the system gives no thread or no descriptor.
    private func startThread() -> Bool {
        guard commandQueue.descriptor >= 0 else { return false }
        return CurlewCurl.startThread(self, runEventLoop)
    }

    // MARK: On the loop's thread

    fileprivate func run() {
        // libcurl leaves SIGPIPE alone because of NOSIGNAL; a broken connection must not end the process.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        curlew_name_thread("curlew-engine")
        now = ExchangeClock.now()
        restingSince = now
        while !isStopping {
            turn()
            if isRested, endThread() { return }
        }
        close()
    }

    private func turn() {
        commandQueue.take(into: &commands, publishing: gauges)
        commands.forEach(perform)
        guard !isStopping else { return }
        now = ExchangeClock.now()
        // What came in is not slept over.
        let pause = commands.isEmpty ? pause : 0
        if let multi {
            // What they want of the system has to be known before this thread waits.
            for handle in retired { handle.applyChanges() }
            multi.wait(pause)
            for handle in retired { handle.wait(0) }
        } else if pause > 0 {
            commandQueue.wait(pause)
        }
        now = ExchangeClock.now()
        for handle in multis { handle.letCurlWork() }
        for handle in multis { handle.applyEffects() }
        endLate()
        closeRetired()
        if !isIdle || !commands.isEmpty { restingSince = now }
        if stopAt != .max, isIdle { isStopping = true }
    }

    private var multis: [MultiHandle] {
        retired.isEmpty ? multi.map { [$0] } ?? [] : retired + (multi.map { [$0] } ?? [])
    }

    /// Nothing is under way.
    private var isIdle: Bool { (multi?.isIdle ?? true) && retired.isEmpty }

    private func perform(_ command: Command) {
        switch command {
        case .start(let transfer): begin(transfer)
        case .cancel(let transfer): transfer.multi?.cancel(transfer)
        case .resume(let transfer): transfer.multi?.resume(transfer)
        case .found(let name, let answer): for handle in multis { handle.found(name, answer) }
        case .look(let moment): nextLook = min(nextLook, moment)
        case .stop(let moment):
            stopAt = min(stopAt, moment)
            // The loop that looks after those who wait may end before the others.
            nextLook = 0
            if ExchangeClock.now() >= stopAt { isStopping = true }
        }
    }

    /// What could not begin, because a process had too many files open at that moment, begins with the next call.
    func begin(_ transfer: Transfer) {
        transfer.loop = self
        retireOld()
        if multi == nil { multi = MultiHandle(loop: self) }
        if let multi, !isStopping { return multi.begin(transfer) }
        let problem = CurlLibrary.current.problem.map { NetworkError(.configuration, detail: $0) }
        refuse(transfer, isStopping ? Self.shutdownError : problem ?? Self.noDescriptor)
    }

    /// libcurl looks at the age of connections that are idle, and a connection of HTTP/2 may never be. So new transfers get
    /// a new handle when this one has been there for the lifetime of a connection.
    private func retireOld() {
        guard let lifetime = configuration.pool.lifetime?.wholeNanoseconds, let multi,
            now - multi.opened >= max(1_000_000_000, lifetime)
        else { return }
        // Its sockets wake the loop through the next one's.
        guard let next = MultiHandle(loop: self) else { return }
        guard next.poller.watch(multi.poller) else { return next.close() }
        for handle in retired { _ = next.poller.watch(handle.poller) }
        retired.append(multi)
        self.multi = next
    }

    private func closeRetired() {
        guard !retired.isEmpty else { return }
        for handle in retired where handle.isIdle { handle.close() }
        retired.removeAll { $0.isIdle }
    }

    /// A transfer does not begin, nor do those that get its slot.
    private func refuse(_ transfer: Transfer, _ error: NetworkError) {
        var left = [transfer]
        while let transfer = left.popLast() {
            left += queues.leave(transfer)
            transfer.refuse(error)
        }
    }

    /// How long nothing is due, in milliseconds.
    private var pause: Int32 {
        var next = min(nextLook, stopAt)
        for handle in multis { next = min(next, handle.nextMoment) }
        if isIdle {
            if !memory.isEmpty { next = min(next, restingSince + Self.restTime + 1) }
            // The loop that looks for late requests does not rest, and need not wake for that.
            if nextLook == .max { next = min(next, restingSince + min(rest, 1 << 60)) }
        }
        // A bound on the wait costs nothing and would reveal a lost wake-up as a delay instead of a hang.
        let most: Int64 = isIdle ? 60_000_000_000 : 1_000_000_000
        return Int32((max(0, min(next - now, most)) + 999_999) / 1_000_000)
    }

    private func endLate() {
        if now >= stopAt { isStopping = true }
        for handle in multis { handle.endLate() }
        // What ended in a retired handle may have let others begin.
        if !retired.isEmpty { multi?.applyEffects() }
        if isIdle, now - restingSince > Self.restTime { memory.forget() }
        guard now >= nextLook else { return }
        let found = queues.takeLate(at: now)
        nextLook = found.next
        for transfer in found.late {
            var error = CurlFailure.timeout(.queue, transfer: transfer)
            error.hint =
                "It waited for a connection to its host all the time. Start fewer calls at a time, give urgent ones a "
                + "higher RequestOptions.priority, or raise ConnectionPool.perHost."
            transfer.refuse(error)
        }
    }

    /// No connection would be used again.
    private var isRested: Bool {
        isIdle && nextLook == .max && now - restingSince >= rest
    }

    /// After so many nanoseconds without work the thread ends.
    private var rest: Int64 { max(1_000_000_000, configuration.pool.idleLifetime.wholeNanoseconds) }

    /// Ends the thread, unless something has come in. True if it has ended.
    private func endThread() -> Bool {
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
        for handle in multis { handle.endAll(with: Self.shutdownError) }
        closeRetired()
        // Commands that came after the stop: their callers must hear too. Those that come last concern transfers that
        // have ended. They leave the queue, which would otherwise keep itself alive through them; they go outside the lock,
        // because a transport may go with them.
        commandQueue.take(into: &commands, publishing: gauges)
        commands.forEach(perform)
        commands = []
        multi?.close()
        multi = nil
        let last = commandQueue.withLock { state -> CommandQueue.State in
            defer { state = CommandQueue.State(isStopped: true, snapshot: gauges) }
            return state
        }
        for ending in last.endings { ending() }
    }
}

/// Entry of the loop's thread. The box keeps the loop alive until the thread has ended.
private func runEventLoop(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    Unmanaged<EventLoop>.fromOpaque(context).takeRetainedValue().run()
    return nil
}
#endif
