// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP

/// What a callback of libcurl leaves to be done when libcurl has returned.
enum Effect {
    /// The head is complete and the body streams: the caller gets the response.
    case head(Transfer)
    /// A reader waits for what has come of the body.
    case body(Transfer)
    /// Observers hear of it.
    case event(Transfer, ExchangeEvent)
    /// libcurl looks again at a request that needs no more of its body.
    case goOn(Transfer)
    case end(Transfer, NetworkError)
}

/// libcurl's multi handle with the transfers that it performs, from the first one until the event loop rests.
///
/// A transfer comes in through `begin` and leaves through `complete`, whatever ended it. On the loop's thread only.
final class MultiHandle {
    /// When it was made, on the loop's clock.
    let opened: Int64
    /// When a transfer may be late; `Int64.max` when none has a deadline.
    private var nextCheck = Int64.max
    let poller: SocketPoller
    let handles: HandleStore
    unowned let loop: EventLoop

    private let pointer: UnsafeMutableRawPointer
    private(set) var active: [ObjectIdentifier: Transfer] = [:]
    /// How many of them the loop's numbers have.
    private var counted = 0
    private var effects: [Effect] = []
    /// Those that wait for the addresses of a name; libcurl does not have them meanwhile.
    private var waiting: [String: [Transfer]] = [:]
    /// What was found in this turn: libcurl may ask for it once more before it has worked on the transfer that brings it.
    private var foundNow: [String: NameLookup.Answer] = [:]
    /// Those that have the slots of others that ended.
    private var successors: [Transfer] = []
    /// Transfers that libcurl has got since it last worked on what is due.
    private var begun = 0

    /// Nil when the system has no descriptor left, or this libcurl cannot be used.
    init?(loop: EventLoop) {
        // Initialises libcurl, if this is the first use.
        guard CurlLibrary.current.problem == nil, let pointer = curl_multi_init() else { return nil }
        guard let poller = SocketPoller(multi: pointer, wakeUp: loop.commandQueue.descriptor) else {
            curl_multi_cleanup(pointer)
            return nil
        }
        (self.loop, self.pointer, self.poller, opened) = (loop, pointer, poller, loop.now)
        handles = HandleStore(loop: loop, multi: pointer, poller: poller)
        let pool = loop.configuration.pool
        curlew_multi_set_long(pointer, CURLMOPT_MAX_HOST_CONNECTIONS, pool.perHost)
        curlew_multi_set_long(pointer, CURLMOPT_MAXCONNECTS, pool.idle)
        curlew_multi_set_long(pointer, CURLMOPT_MAX_CONCURRENT_STREAMS, 100)
        if let total = pool.total { curlew_multi_set_long(pointer, CURLMOPT_MAX_TOTAL_CONNECTIONS, total) }
    }

    /// Closes all connections. Nothing may be active any more.
    func close() {
        handles.removeAll()
        curl_multi_cleanup(pointer)
    }

    var isIdle: Bool { active.isEmpty }

    // MARK: The steps of a turn

    /// When there is something to do although nothing stirs.
    var nextMoment: Int64 { min(poller.nextCall, nextCheck) }

    /// Waits for sockets, commands, or so many milliseconds.
    func wait(_ milliseconds: Int32) {
        poller.wait(milliseconds)
    }

    /// Tells the system what libcurl waits for from now on.
    func applyChanges() {
        poller.applyChanges()
    }

    func letCurlWork() {
        // Before transfers begin, so that none begins on an idle connection on which something has come.
        poller.workOnSockets(at: loop.now)
        if begun > 0 { noteEndedConnections() }
        poller.workOnTimer(at: loop.now, beginning: begun)
        begun = 0
        poller.lookAtSilent(at: loop.now)
    }

    func applyEffects() {
        applyNoted()
        takeFinished()
        endAfterFault()
        // One that fails to begin makes room for another: the list grows while it is worked through.
        var index = 0
        while index < successors.count {
            loop.begin(successors[index])
            index += 1
        }
        if index > 0 { successors.removeAll(keepingCapacity: true) }
        if !foundNow.isEmpty { foundNow = [:] }
        handles.recount(at: loop.now, isIdle: isIdle)
    }

    /// Ends what is late, if the moment to look has come.
    func endLate() {
        guard loop.now >= nextCheck else { return }
        let now = ExchangeClock.now()
        nextCheck = .max
        var late: [(Transfer, NetworkError)] = []
        for transfer in active.values {
            var check = transfer.clock.check(at: now)
            if check.expired == .connect, waitsForOthers(transfer) {
                transfer.clock.connectLater(from: now)
                check = transfer.clock.check(at: now)
            }
            if let phase = check.expired {
                let error =
                    transfer.isDraining ? NetworkError(.cancelled) : CurlFailure.timeout(phase, transfer: transfer)
                late.append((transfer, error))
            } else {
                nextCheck = min(nextCheck, check.next)
            }
        }
        for (transfer, error) in late {
            giveUpConnection(of: transfer, at: now)
            end(transfer, with: error)
        }
        applyEffects()
    }

    /// Others use connections to its origin: perhaps it waits for one of these. If it connects, libcurl has the time.
    private func waitsForOthers(_ transfer: Transfer) -> Bool {
        if case .waiting = transfer.lookup { return false }
        return active.values.contains { $0.queue === transfer.queue && $0.clock.isConnected }
    }

    /// A transfer is late. Its connection goes with it if nothing at all comes on that.
    private func giveUpConnection(of transfer: Transfer, at now: Int64) {
        // What we hold back ourselves says nothing about the server.
        guard !transfer.isHeld, let connection = transfer.easy.flatMap(ConnectionName.init(of:)) else { return }
        let isAlone = active.values.allSatisfy { $0 === transfer || $0.queue !== transfer.queue }
        poller.giveUp(connection, lateSince: transfer.clock.lastActivity, isAlone: isAlone, at: now)
    }

    func endAll(with error: NetworkError) {
        for transfer in Array(active.values) { end(transfer, with: error) }
        applyEffects()
    }

    // MARK: Transfers

    func begin(_ transfer: Transfer) {
        do throws(NetworkError) {
            if let problem = CurlLibrary.current.problem(with: loop.configuration.tls) {
                throw NetworkError(.configuration, detail: problem)
            }
            if transfer.isCancelled { throw NetworkError(.cancelled) }
            let now = ExchangeClock.now()
            transfer.clock.begin(at: now, connecting: transfer.context.timeouts.connect)
            if let phase = transfer.clock.check(at: now).expired {
                throw CurlFailure.timeout(phase, transfer: transfer)
            }
            transfer.multi = self
            transfer.easy = try attachedHandle(for: transfer)
            active[ObjectIdentifier(transfer)] = transfer
            noteActive()
            begun += 1
            transfer.upload?.begin { [weak transfer] in
                if let transfer { transfer.loop?.send(.resume(transfer)) }
            }
            noteDeadline(of: transfer)
        } catch {
            successors += loop.queues.leave(transfer)
            transfer.refuse(error)
        }
    }

    private func attachedHandle(for transfer: Transfer) throws(NetworkError) -> EasyHandle {
        guard let easy = handles.take() else {
            throw NetworkError(.configuration, detail: "libcurl has no memory left.")
        }
        do throws(NetworkError) {
            try easy.prepare(transfer)
            try attach(easy)
            return easy
        } catch {
            // What it has taken over is not known: it goes.
            handles.drop()
            throw error
        }
    }

    private func attach(_ easy: EasyHandle) throws(NetworkError) {
        let code = curl_multi_add_handle(pointer, easy.pointer)
        guard code != CURLM_OK else { return }
        throw NetworkError(.configuration, detail: "libcurl refused the transfer (error \(code.rawValue)).")
    }

    /// libcurl was about to ask for the addresses of `name`, and ended the transfer instead: the loop asks for them, once for
    /// all who wait.
    private func wait(_ transfer: Transfer, _ easy: EasyHandle, for name: String) {
        curl_multi_remove_handle(pointer, easy.pointer)
        transfer.lookup = .waiting(name, since: loop.now)
        let isFirst = waiting[name] == nil
        waiting[name, default: []].append(transfer)
        // Names such as `app.localhost` are this machine by definition (RFC 6761 §6.3), and not every libcurl knows. The
        // DNS is not asked for them: it could name another machine, which would get what only this one may see.
        if let known = Origin(scheme: "http", host: name, port: 80)?.loopbackAddresses {
            return found(name, .addresses(known))
        }
        if let known = foundNow[name] { return found(name, known) }
        transfer.context.record(.connecting(.lookingUp(name: name)))
        guard isFirst else { return }
        loop.names.ask(name) { [weak loop] answer in loop?.send(.found(name, answer)) }
    }

    /// Those that wait for this name go on, or end.
    func found(_ name: String, _ answer: NameLookup.Answer) {
        foundNow[name] = answer
        for transfer in waiting.removeValue(forKey: name) ?? [] {
            guard let easy = transfer.easy, case .waiting(_, let since) = transfer.lookup else { continue }
            let now = ExchangeClock.now()
            transfer.lookup = .over(took: now - since)
            do throws(NetworkError) {
                switch answer {
                case .addresses(let list): easy.setAddresses(list, for: transfer)
                case .unwritable: break
                case .failed(let reason): throw CurlFailure.lookup(of: name, reason, easy, transfer)
                }
                try attach(easy)
                begun += 1
            } catch {
                complete(transfer, easy, .failure(error))
            }
        }
    }

    /// Goes on with a transfer that was held. Nothing happens if it was not.
    func resume(_ transfer: Transfer) {
        guard let easy = transfer.easy, transfer.isHeld else { return }
        noteReleased(transfer)
        transfer.clock.isHeld = false
        transfer.clock.lastActivity = ExchangeClock.now()
        noteDeadline(of: transfer)
        // May call back at once, with what libcurl has held; only its result tells if that went wrong. A bad argument
        // means that no connection is attached, which ends the transfer elsewhere.
        let code = transfer.unpause(easy)
        guard code != CURLE_OK, code != CURLE_BAD_FUNCTION_ARGUMENT else { return }
        complete(transfer, easy, .failure(CurlFailure.error(code, handle: easy, transfer: transfer)))
    }

    /// The caller wants no more of it. The small rest of a body is received and thrown away, for a second at most: that
    /// costs less than another connection.
    func cancel(_ transfer: Transfer) {
        guard !transfer.isDraining else { return }
        guard transfer.mayDrain else { return end(transfer, with: NetworkError(.cancelled)) }
        transfer.isDiscarding = true
        transfer.isDraining = true
        transfer.clock.end(by: loop.now + Self.drainTime)
        noteDeadline(of: transfer)
        resume(transfer)
    }

    static let (drainLimit, drainTime) = (64 << 10, Int64(1_000_000_000))

    /// Takes an active transfer down and completes it with `error`. Does nothing for any other.
    func end(_ transfer: Transfer, with error: NetworkError) {
        guard let easy = transfer.easy else { return }
        transfer.isDiscarding = true
        // Removing a paused HTTP/2 transfer leaks its stream in libcurl 7.88: let it run into nothing first.
        if transfer.isReceivePaused { curl_easy_pause(easy.pointer, CURLPAUSE_CONT) }
        complete(transfer, easy, .failure(error))
    }

    /// The transfer has come into another phase, which may end sooner than the one before.
    func noteDeadline(of transfer: Transfer) {
        nextCheck = min(nextCheck, transfer.clock.check(at: loop.now).next)
    }

    /// Called from callbacks.
    func add(_ effect: Effect) {
        effects.append(effect)
    }

    /// Called from callbacks: the transfer is about to stand still because of its reader or producer.
    func noteHeld(_ transfer: Transfer) {
        if !transfer.isHeld { loop.gauges.paused += 1 }
    }

    /// The head tells what the origin speaks.
    func noteVersion(of transfer: Transfer) {
        let isShared = transfer.head.version == .http2
        if isShared, let socket = transfer.socket { poller.noteShared(socket, at: loop.now) }
        guard let queue = transfer.queue else { return }
        let news = loop.queues.note(transfer.head.version, at: queue)
        guard news != .none else { return }
        if news == .changed, transfer.request.origin.isSecure { loop.mixedVersions.note(queue.origin) }
        while let next = loop.queues.next(queue, at: loop.number) { successors.append(next) }
    }

    /// Those on the same connection.
    func transfers(on connection: ConnectionName) -> [Transfer] {
        active.values.filter { $0.connection == connection }
    }

    private func applyNoted() {
        guard !effects.isEmpty else { return }
        let noted = effects
        effects = []
        for effect in noted {
            switch effect {
            case .head(let transfer):
                if let easy = transfer.easy { transfer.handOverHead(metrics: measured(transfer, easy)) }
            case .body(let transfer):
                transfer.isBodyDue = false
                transfer.pipe?.release()
            case .event(let transfer, let event): transfer.context.record(event)
            case .goOn(let transfer): if transfer.isRefusedEarly { resume(transfer) }
            case .end(let transfer, let error): end(transfer, with: error)
            }
        }
    }

    /// Ends all transfers if libcurl has failed as a whole, mostly for want of memory: it then may have forgotten some of
    /// them, whose callers would wait for ever.
    private func endAfterFault() {
        guard let code = poller.takeFault() else { return }
        let text = curl_multi_strerror(code).map { String(cString: $0) } ?? "error \(code.rawValue)"
        for transfer in Array(active.values) {
            end(transfer, with: CurlFailure.fault("libcurl failed: \(text).", transfer: transfer))
        }
    }

    private func takeFinished() {
        var code = CURLE_OK
        while let easy = curlew_multi_next_done(pointer, &code) {
            guard let context = curlew_info_pointer(easy, CURLINFO_PRIVATE) else { continue }
            let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
            guard let easy = transfer.easy else { continue }
            if case .needed(let name) = transfer.lookup, !transfer.isDiscarding {
                wait(transfer, easy, for: name)
                continue
            }
            if code == CURLE_OK, transfer.decoder?.isComplete == false, !transfer.isDiscarding {
                transfer.failure = NetworkError(
                    .badResponse, detail: "The body ends before its content coding does: it was cut off.")
            }
            if code == CURLE_OK, transfer.failure == nil, transfer.head.isComplete {
                complete(transfer, easy, .success(()), keepsConnection: true)
            } else {
                let error = CurlFailure.error(code, handle: easy, transfer: transfer)
                complete(transfer, easy, .failure(error), keepsConnection: code == CURLE_OK)
            }
        }
    }

    /// The one way out: takes the transfer off libcurl, gives its slot away, and tells its caller or reader.
    ///
    /// - `keepsConnection`: for libcurl all is well, whatever the engine found in the response.
    private func complete(
        _ transfer: Transfer, _ easy: EasyHandle, _ result: Result<Void, NetworkError>, keepsConnection: Bool = false
    ) {
        applyNoted()
        // One of these may have been its end.
        guard transfer.easy === easy else { return }
        let metrics = measured(transfer, easy)
        if metrics.connectionsOpened ?? 0 > 0, transfer.context.isObserved {
            for warning in easy.warnings(for: transfer) { transfer.context.record(.warned(warning)) }
        }
        transfer.decoder = nil
        easy.serverCheck?.forgetCertificates()
        curl_multi_remove_handle(pointer, easy.pointer)
        active[ObjectIdentifier(transfer)] = nil
        // What was asked is answered to the others.
        if case .waiting(let name, _) = transfer.lookup { waiting[name]?.removeAll { $0 === transfer } }
        transfer.easy = nil
        noteReleased(transfer)
        if keepsConnection { handles.noteIdleConnection(of: transfer) }
        loop.mixedVersions.leave(transfer)
        successors += loop.queues.leave(transfer)
        noteActive()
        loop.gauges.completed += 1
        if metrics.reusedConnection == true { loop.gauges.reused += 1 } else { handles.noteLostAttempt() }
        transfer.upload?.end()
        if isWorn(transfer, result) { handles.drop() } else { handles.putBack(easy) }
        if case .success = result, !transfer.head.trailers.isEmpty {
            transfer.context.record(.trailers(transfer.head.trailers))
        }
        transfer.context.record(.measured(metrics))
        transfer.deliver(result, metrics: metrics)
        transfer.multi = nil
    }

    /// libcurl counts how often a handle has sent again over all its transfers, and refuses the sixth time. So a handle
    /// that has, or whose transfer failed, is not used any more. Neither is one that has sent trailers.
    private func isWorn(_ transfer: Transfer, _ result: Result<Void, NetworkError>) -> Bool {
        if transfer.sendings > 1 || transfer.request.body.trailers != nil { return true }
        guard case .failure(let error) = result else { return false }
        return !error.isCancelled
    }

    private func measured(_ transfer: Transfer, _ easy: EasyHandle) -> ExchangeMetrics {
        var metrics = easy.metrics(of: transfer)
        metrics.queue = transfer.clock.queued(at: loop.now)
        metrics.version = transfer.hasHead ? transfer.head.version : nil
        metrics.connection = connectionInfo(of: transfer, easy)
        return metrics
    }

    private func noteActive() {
        loop.gauges.active += active.count - counted
        counted = active.count
        handles.noteActive(active.count, at: loop.now)
    }

    /// The transfer goes on, or is over.
    private func noteReleased(_ transfer: Transfer) {
        if transfer.isHeld { loop.gauges.paused -= 1 }
        if transfer.isReceivePaused { handles.hold(transfer, false) }
        transfer.isReceivePaused = false
        transfer.isSendPaused = false
    }
}
#endif
