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

/// The thread that owns libcurl: its connections, its handles and every call into it.
///
///     caller ──start/cancel/resume──▶ CommandQueue ──▶ agent ──▶ curl_multi ──▶ network
///       ▲                                                │
///       └────────── continuation, BodyPipe ◀─────────────┘
///
/// One turn: take commands, wait, let libcurl work, take what has finished, hand over results, end what is late.
/// Callbacks only take notes; results are handed over after libcurl has returned, with no lock held.
///
/// `@unchecked Sendable` holds because everything below `queue` and `configuration` is touched by the agent's thread
/// only, and that thread is started once, under the queue's lock.
final class CurlAgent: @unchecked Sendable {
    let configuration: TransportConfiguration
    /// What it has of the places at hosts, which others may serve too; see `AgentGroup`.
    private let plainPool, securePool: ConnectionPool
    let proxies: ProxyRules
    /// Who waits, also for the other agents of the transport, among which this one has a number.
    let lines: SharedLines
    let number: Int
    /// Its thread may wait for a disk: it serves those only who do.
    let mayBlock: Bool
    let home = HomeProcess()
    let queue = CommandQueue()
    let memory = BodyMemory()

    var multi: UnsafeMutableRawPointer?
    private(set) var pump: SocketPump?
    var transfers: [UInt64: Transfer] = [:]
    var idleHandles: [EasyHandle] = []
    private var commands: [Command] = []
    /// Those with exchanges, and what was learnt about others.
    var originLines: [Origin: OriginLine] = [:]
    var lastLine: OriginLine?
    /// Where somebody waits and there is a place.
    var dueLines: [OriginLine] = []
    /// Transfers whose head came in the current turn and is due before their end.
    var dueHeads: [Transfer] = []
    /// Transfers whose readers wait for what came of their bodies in the current turn.
    var dueBodies: [Transfer] = []
    /// What observers are to hear when libcurl has returned.
    var dueEvents: [(Transfer, ExchangeEvent)] = []
    /// Connections in use over TLS, where this libcurl might mix up two versions. See `CurlAgent+Occupants.swift`.
    var occupants: [ConnectionName: Occupants] = [:]
    var book = ConnectionBook()
    lazy var sessions = SessionStore()
    /// Transfers that stood on one connection although it speaks HTTP/1.1.
    var mixedUp: [Transfer] = []
    /// Transfers that wait for a producer whose bytes nobody wants any more.
    var refused: [Transfer] = []
    /// Transfers that have ended in the current turn.
    var ended: [Transfer] = []
    /// No transfer ends before this; `Int64.max` when none has a deadline.
    var nextCheck = Int64.max
    /// From now on no new work is taken, and the thread ends when nothing is left or this moment has come.
    var stopAt = Int64.max
    var isStopping = false
    var gauges = TransportSnapshot()
    var peak = RecentPeak()
    /// Transfers that libcurl has got since it last worked on what is due.
    private var begun = 0
    /// An exchange has ended that opened a connection, or tried to.
    var mayHaveLostSockets = false
    var nextRecount: Int64 = 0
    /// The clock, read once for each time libcurl works: callbacks note activity far too often to ask it themselves.
    private(set) var turnStart: Int64 = 0

    /// Memory for bodies is kept for so many nanoseconds without any work.
    private static let restTime: Int64 = 10_000_000_000
    static let idleHandleLimit = 256
    static let originLimit = 1024
    static let noDescriptor = (
        text: "The system gave no thread or descriptor for the engine.",
        hint: "Close files or connections, or raise the limit of open files (ulimit -n)."
    )
    static let shutdownError = NetworkError(
        .refused(by: .shutdown), detail: "The transport has been shut down.",
        hint: "Make a new transport, or shut down later.")

    init(
        configuration: TransportConfiguration, proxies: ProxyRules, lines: SharedLines, number: Int = 0,
        plainPool: ConnectionPool? = nil, securePool: ConnectionPool? = nil, mayBlock: Bool = false
    ) {
        self.mayBlock = mayBlock
        self.lines = lines
        self.number = number
        self.configuration = configuration
        self.proxies = proxies
        self.plainPool = plainPool ?? configuration.pool
        self.securePool = securePool ?? configuration.pool
    }

    func pool(for origin: Origin) -> ConnectionPool {
        origin.isSecure ? securePool : plainPool
    }

    func run() {
        // libcurl leaves SIGPIPE alone because of NOSIGNAL; a broken connection must not end the process.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        curlew_name_thread("curlew-engine")

        while !isStopping { turn() }
        close()
    }

    private func turn() {
        takeCommands()
        // What could not begin, because a process had too many files open at that moment, begins with the next call.
        if multi == nil, !commands.isEmpty { openMulti() }
        commands.forEach(perform)
        guard !isStopping else { return }
        guard let pump else {
            // Nothing has begun, and there is nothing to drain.
            if stopAt != .max { isStopping = true } else if commands.isEmpty { queue.wait() }
            return
        }
        turnStart = ExchangeClock.now()
        // What came in is not slept over.
        pump.wait(commands.isEmpty ? idleTime(pump) : 0)
        let waitStart = turnStart
        turnStart = ExchangeClock.now()
        if transfers.isEmpty, turnStart - waitStart > Self.restTime { memory.forget() }
        // Before transfers begin, so that none begins on an idle connection on which something has come.
        pump.workOnSockets(at: turnStart)
        pump.workOnTimer(at: turnStart, beginning: begun)
        begun = 0
        pump.lookAtSilent(at: turnStart)
        endMixedUp()
        releaseRefused()
        recordEvents()
        finishDone()
        handOverHeads()
        handOverBodies()
        endLate()
        fillPlaces()
        recount()
        if stopAt != .max, transfers.isEmpty { isStopping = true }
    }

    /// How long nothing is due, in milliseconds.
    private func idleTime(_ pump: SocketPump) -> Int32 {
        let next = min(nextCheck, pump.timer, pump.nextLook)
        let untilNext = next == .max ? Int64.max : (max(0, next - turnStart) + 999_999) / 1_000_000
        // A bound on the wait costs nothing and would reveal a lost wake-up as a delay instead of a hang.
        let most = transfers.isEmpty ? (memory.isEmpty ? 60_000 : Self.restTime / 1_000_000 + 1) : 1_000
        return Int32(min(untilNext, most))
    }

    private func takeCommands() {
        queue.take(into: &commands, publishing: gauges, forgetting: ended)
        if !ended.isEmpty { ended.removeAll(keepingCapacity: true) }
    }

    private func perform(_ command: Command) {
        switch command {
        case .start(let transfer): admit(transfer)
        case .cancel(let transfer): end(transfer, with: NetworkError(.cancelled))
        case .resume(let transfer): resumeNow(transfer)
        case .look(let origin): look(at: originLine(of: origin))
        case .stop(let moment):
            stopAt = min(stopAt, moment)
            nextCheck = min(nextCheck, moment)
            if ExchangeClock.now() >= stopAt { isStopping = true }
        }
    }

    func begin(_ transfer: Transfer) {
        do throws(NetworkError) {
            if let problem = CurlLibrary.current.problem(with: configuration.tls) {
                throw NetworkError(.configuration, detail: problem)
            }
            guard !isStopping else { throw Self.shutdownError }
            let now = ExchangeClock.now()
            transfer.clock.begin(at: now)
            if let phase = transfer.clock.check(at: now).expired {
                throw CurlFailure.timeout(phase, transfer: transfer)
            }
            transfer.head.known = transfer.place?.knownHead
            try attachHandle(to: transfer)
            transfer.upload?.begin { [weak transfer] in
                if let transfer { transfer.agent.resume(transfer) }
            }
            noteDeadline(of: transfer)
        } catch {
            leavePlace(transfer)
            refuse(transfer, error)
        }
    }

    private func attachHandle(to transfer: Transfer) throws(NetworkError) {
        guard let multi else {
            throw NetworkError(.configuration, detail: Self.noDescriptor.text, hint: Self.noDescriptor.hint)
        }
        guard let easy = takeHandle() else {
            throw NetworkError(.configuration, detail: "libcurl has no memory left.")
        }
        do throws(NetworkError) {
            try easy.prepare(transfer)
            let code = curl_multi_add_handle(multi, easy.pointer)
            guard code == CURLM_OK else {
                throw NetworkError(.configuration, detail: "libcurl refused the transfer (error \(code.rawValue)).")
            }
        } catch {
            // Nobody knows what it has taken over: it goes.
            gauges.handles -= 1
            throw error
        }
        begun += 1
        transfer.easy = easy
        transfers[transfer.id] = transfer
        noteActive()
    }

    /// Takes a live transfer down and completes it with `error`. Does nothing for one that has ended.
    func end(_ transfer: Transfer, with error: NetworkError) {
        guard mayEnd(transfer, with: error) else { return }
        guard let easy = transfer.easy else { return }
        if transfer.isReceivePaused {
            // Removing a paused HTTP/2 transfer leaks its stream in libcurl 7.88: let it run into nothing first.
            transfer.isDiscarding = true
            curl_easy_pause(easy.pointer, CURLPAUSE_CONT)
        }
        transfer.isDiscarding = true
        complete(transfer, easy, .failure(error))
    }

    /// Goes on with a transfer that was held. Nothing happens if it was not.
    func resumeNow(_ transfer: Transfer) {
        guard let easy = transfer.easy, transfer.isReceivePaused || transfer.isSendPaused else { return }
        noteReleased(transfer)
        transfer.clock.isHeld = false
        transfer.clock.lastActivity = ExchangeClock.now()
        noteDeadline(of: transfer)
        // May call back at once, with what libcurl has held; only its result tells if that went wrong. A bad argument
        // means that no connection is attached, which ends the transfer elsewhere.
        let code = curl_easy_pause(easy.pointer, CURLPAUSE_CONT)
        guard code != CURLE_OK, code != CURLE_BAD_FUNCTION_ARGUMENT else { return }
        complete(transfer, easy, .failure(CurlFailure.error(code, handle: easy, transfer: transfer)))
    }

    private func openMulti() {
        guard CurlLibrary.current.problem == nil else { return }
        guard let multi = curlew_multi_open(queue.descriptor) else { return }
        guard let pump = SocketPump(multi: multi, wakeUp: queue.descriptor) else {
            curl_multi_cleanup(multi)
            return
        }
        self.multi = multi
        self.pump = pump
        curlew_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, configuration.pool.perHost)
        if let total = configuration.pool.total {
            curlew_multi_set_long(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, total)
        }
        curlew_multi_set_long(multi, CURLMOPT_MAXCONNECTS, configuration.pool.idle)
        curlew_multi_set_long(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, 100)
    }

    private func close() {
        for transfer in waitingTransfers + Array(transfers.values) { end(transfer, with: Self.shutdownError) }
        // Commands that came after the stop: their callers must hear too.
        takeCommands()
        commands.forEach(perform)
        // Transfers refer to the agent: it must not keep one.
        commands = []
        dueHeads = []
        dueBodies = []
        ended = []
        refused = []
        mixedUp = []
        idleHandles = []
        gauges.handles = 0
        if let multi { curl_multi_cleanup(multi) }
        multi = nil
        pump = nil
        // Commands that came last concern transfers that have ended, or that another agent has taken. They leave the queue,
        // which would otherwise keep itself alive through them; they go outside the lock, because a transport may go with
        // them.
        let last = queue.withLock { state -> CommandQueue.State in
            defer { state = CommandQueue.State(isStopped: true, snapshot: gauges) }
            return state
        }
        for case .cancel(let transfer) in last.commands { cancelTaken(transfer) }
        for ending in last.endings { ending() }
    }
}
#endif
