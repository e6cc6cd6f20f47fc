// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP

/// Work that a callback of libcurl defers until libcurl has returned.
enum Effect {
    /// The head is complete and the body streams: deliver the response to the caller.
    case head(Transfer)
    /// Deliver the received bytes to a waiting reader.
    case body(Transfer)
    /// Notify the observers.
    case event(Transfer, ExchangeEvent)
    /// Resume a transfer with a paused upload, because the server has refused the request and needs no more of the
    /// body.
    case resumeRefused(Transfer)
    /// End the upload of a transfer whose server has ended its side of a switched connection.
    case endUpgrade(Transfer)
    case end(Transfer, NetworkError)
}

/// libcurl's multi handle and its active transfers. It exists from the first transfer until the event loop replaces it
/// or ends its thread.
///
/// A transfer enters through `begin` and leaves through `complete`, whatever ended it. Used only on the loop's thread.
final class MultiHandle: Carrier {
    /// The time of creation, on the loop's clock.
    let opened: Int64
    /// The time of the next deadline check, on the loop's clock; `Int64.max` if no transfer has a deadline.
    @exclusivity(unchecked) var nextCheck = Int64.max
    let poller: SocketPoller
    let handles: HandleStore
    unowned let loop: EventLoop

    let pointer: UnsafeMutableRawPointer
    @exclusivity(unchecked) private(set) var active: [ObjectIdentifier: Transfer] = [:]
    @exclusivity(unchecked) private var effects: [Effect] = []
    /// The transfers that wait for the addresses of a name. They are removed from libcurl while they wait.
    @exclusivity(unchecked) var waiting: [String: [Transfer]] = [:]
    /// The lookup results of this turn. libcurl may request a name once more before it has processed the transfer that
    /// provides the addresses of the name.
    @exclusivity(unchecked) var foundNow: [String: NameLookup.Outcome] = [:]
    /// The transfers that received the slots of ended transfers and have not begun.
    @exclusivity(unchecked) private var successors: [Transfer] = []
    /// The transfers that wait for the end of another one, because the process had no descriptor for their connection.
    /// They are removed from libcurl while they wait.
    @exclusivity(unchecked) var withoutDescriptor: [Transfer] = []
    /// Whether a transfer has failed on a connection that others may share, or has left it, since libcurl last read from
    /// these connections.
    @exclusivity(unchecked) var mayHaveBroken = false
    /// The number of transfers added since libcurl last processed its timer.
    @exclusivity(unchecked) var begun = 0

    /// Creates a multi handle. Returns nil if the system has no descriptor left, or if this libcurl cannot be used.
    init?(loop: EventLoop) {
        // Initializes libcurl on first use.
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

    /// Closes all connections. No transfer may be active.
    func close() {
        handles.removeAll()
        curl_multi_cleanup(pointer)
    }

    var isIdle: Bool { active.isEmpty }

    // MARK: The steps of a turn

    /// The next deadline, on the loop's clock.
    var nextMoment: Int64 { mayHaveBroken ? 0 : min(poller.nextCall, nextCheck) }

    /// Waits for sockets or commands, at most this number of milliseconds.
    func wait(_ milliseconds: Int32) {
        poller.wait(milliseconds)
    }

    /// Registers the events that libcurl waits for.
    func applyChanges() {
        poller.applyChanges()
    }

    func letCurlWork() {
        // Sockets come before the timer, which begins transfers: none may begin on an idle connection with unread
        // bytes.
        poller.workOnSockets(at: loop.now)
        endBroken()
        if begun > 0 { noteEndedConnections() }
        poller.workOnTimer(at: loop.now, beginning: begun)
        begun = 0
        poller.checkSilentSockets(at: loop.now)
    }

    func applyEffects() {
        applyNoted()
        takeFinished()
        endAfterFault()
        // A transfer that fails to begin frees its slot for another: the list grows during the iteration.
        var index = 0
        while index < successors.count {
            loop.begin(successors[index])
            index += 1
        }
        if index > 0 { successors.removeAll(keepingCapacity: true) }
        if !foundNow.isEmpty { foundNow = [:] }
        handles.recount(at: loop.now, isIdle: isIdle)
    }

    /// Lets libcurl read once from the shared connections after a transfer on one of them has failed.
    ///
    /// An HTTP/2 connection error ends all streams of the connection (RFC 9113 §5.4.1). libcurl ends only the transfer
    /// that finds the error; each other one waits until something arrives, or for its timeout. A read is harmless if the
    /// connection is sound. Otherwise it ends at least one more transfer (exactly one in libcurl 7.88), and that leads
    /// here again.
    private func endBroken() {
        guard mayHaveBroken else { return }
        mayHaveBroken = false
        poller.readShared()
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
            let now = TimeoutTracker.now()
            transfer.clock.begin(at: now, connecting: transfer.plan.context.timeouts.connect)
            if let phase = transfer.clock.check(at: now).expired {
                throw CurlFailure.timeout(phase, transfer: transfer)
            }
            transfer.multi = self
            transfer.carrier = self
            transfer.easy = try attachedHandle(for: transfer)
            active[ObjectIdentifier(transfer)] = transfer
            noteActive()
            begun += 1
            transfer.plan.upload?.begin { [weak transfer] in
                if let transfer { transfer.loop?.send(.resume(transfer)) }
            }
            noteDeadline(of: transfer)
        } catch {
            successors += loop.queues.releaseSlot(of: transfer)
            transfer.refuse(error)
        }
    }

    private func attachedHandle(for transfer: Transfer) throws(NetworkError) -> EasyHandle {
        guard let easy = handles.take() else {
            throw NetworkError(.configuration, detail: "libcurl is out of memory.")
        }
        do throws(NetworkError) {
            try easy.prepare(transfer)
            try attach(easy)
            return easy
        } catch {
            // It is unknown which options the handle has accepted, so the handle is discarded.
            handles.drop()
            throw error
        }
    }

    func attach(_ easy: EasyHandle) throws(NetworkError) {
        let code = curl_multi_add_handle(pointer, easy.pointer)
        guard code != CURLM_OK else { return }
        throw NetworkError(.configuration, detail: "libcurl refused the transfer (error \(code.rawValue)).")
    }

    func resume(_ transfer: Transfer) {
        guard let easy = transfer.easy, transfer.isHeld else { return }
        noteReleased(transfer)
        transfer.clock.isHeld = false
        transfer.clock.lastActivity = TimeoutTracker.now()
        noteDeadline(of: transfer)
        // libcurl may deliver buffered bytes during this call. Only the result indicates a failure. A bad argument
        // means that the transfer has no connection; it then ends elsewhere.
        let code = transfer.unpause(easy)
        guard code != CURLE_OK, code != CURLE_BAD_FUNCTION_ARGUMENT else { return }
        complete(transfer, easy, .failure(CurlFailure.error(code, handle: easy, transfer: transfer)))
    }

    func cancel(_ transfer: Transfer) {
        guard !transfer.ending.isDraining else { return }
        drainOrEnd(transfer, at: loop.now)
    }

    /// Removes an active transfer and completes it with `error`. Does nothing if the transfer is not active.
    func end(_ transfer: Transfer, with error: NetworkError) {
        guard let easy = transfer.easy else { return }
        transfer.ending.isDiscarding = true
        // libcurl 7.88 leaks the stream of a paused HTTP/2 transfer that is removed. So the transfer is resumed first,
        // and its bytes are discarded.
        if transfer.received.isPaused { curl_easy_pause(easy.pointer, CURLPAUSE_CONT) }
        complete(transfer, easy, .failure(error))
    }

    func add(_ effect: Effect) {
        effects.append(effect)
    }

    func noteHeld(_ transfer: Transfer) {
        if !transfer.isHeld { loop.gauges.paused += 1 }
    }

    /// Records the HTTP version of the origin from a response head. Begins waiting requests if they now have slots.
    func noteVersion(of transfer: Transfer) {
        let isShared = transfer.received.head.version == .http2
        if isShared, let socket = transfer.connection.socket { poller.noteShared(socket, at: loop.now) }
        guard let queue = transfer.queue else { return }
        let change = loop.queues.note(transfer.received.head.version, at: queue)
        guard change != .none else { return }
        if change == .changed, transfer.plan.request.origin.isSecure { loop.mixedVersions.note(queue.origin) }
        while let next = loop.queues.next(queue, at: loop.number) { successors.append(next) }
    }

    /// Returns the transfers on this connection.
    func transfers(on connection: ConnectionName) -> [Transfer] {
        active.values.filter { $0.connection.name == connection }
    }

    private func applyNoted() {
        guard !effects.isEmpty else { return }
        let noted = effects
        effects = []
        noted.forEach(apply)
    }

    /// Ends all transfers if the multi handle has failed, usually for lack of memory. libcurl may have lost some of the
    /// transfers, and their callers would otherwise wait forever.
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
            if case .needed(let name) = transfer.lookup, !transfer.ending.isDiscarding {
                wait(transfer, easy, for: name)
                continue
            }
            if code == CURLE_COULDNT_CONNECT, awaitDescriptor(transfer, easy) { continue }
            if code == CURLE_OK, transfer.received.decoder?.isComplete == false, !transfer.ending.isDiscarding {
                transfer.ending.failure = NetworkError(
                    .badResponse, detail: "The body ends before its content coding does: it is truncated.")
            }
            if code == CURLE_OK, transfer.ending.failure == nil, transfer.received.head.isComplete {
                complete(transfer, easy, .success(()), keepsConnection: true)
            } else {
                if poller.hasShared { mayHaveBroken = true }
                let error = CurlFailure.error(code, handle: easy, transfer: transfer)
                complete(transfer, easy, .failure(error), keepsConnection: code == CURLE_OK)
            }
        }
    }

    /// Completes a transfer: removes it from libcurl, releases its slot, and resumes its caller or reader.
    ///
    /// - `keepsConnection`: whether libcurl has ended the transfer successfully, even if the transport rejects the
    ///   response.
    func complete(
        _ transfer: Transfer, _ easy: EasyHandle, _ result: Result<Void, NetworkError>, keepsConnection: Bool = false
    ) {
        applyNoted()
        // One of these effects may have ended the transfer.
        guard transfer.easy === easy else { return }
        let metrics = measured(transfer, easy)
        if metrics.connectionsOpened ?? 0 > 0, transfer.plan.context.isObserved {
            for warning in easy.warnings(for: transfer) { transfer.plan.context.record(.warned(warning)) }
        }
        transfer.received.decoder = nil
        easy.serverCheck?.forgetCertificates()
        curl_multi_remove_handle(pointer, easy.pointer)
        easy.forgetTransfer()
        active[ObjectIdentifier(transfer)] = nil
        // The other transfers that wait for the name still receive the result of the lookup.
        if case .waiting(let name, _) = transfer.lookup { waiting[name]?.removeAll { $0 === transfer } }
        withoutDescriptor.removeAll { $0 === transfer }
        transfer.easy = nil
        noteReleased(transfer)
        if keepsConnection { handles.noteIdleConnection(of: transfer) }
        loop.mixedVersions.leave(transfer)
        successors += loop.queues.releaseSlot(of: transfer)
        noteActive()
        loop.gauges.completed += 1
        if metrics.reusedConnection == true { loop.gauges.reused += 1 } else { handles.noteLostAttempt() }
        transfer.plan.upload?.end()
        if isWorn(transfer, result) { handles.drop() } else { handles.putBack(easy) }
        if case .success = result, !transfer.received.head.trailers.isEmpty {
            transfer.plan.context.record(.trailers(transfer.received.head.trailers))
        }
        transfer.plan.context.record(metrics)
        transfer.deliver(result, metrics: metrics)
        transfer.multi = nil
        transfer.carrier = nil
        guard let next = withoutDescriptor.first, let handle = next.easy else { return }
        withoutDescriptor.removeFirst()
        beginAgain(next, handle)
    }

    /// Returns whether the handle must be discarded. libcurl counts the repeated requests of a handle over all its
    /// transfers, and refuses the sixth. So a handle is not reused if it has repeated a request or sent trailers, or if
    /// its transfer failed for a reason other than cancellation.
    private func isWorn(_ transfer: Transfer, _ result: Result<Void, NetworkError>) -> Bool {
        if CurlLibrary.current.keepsFreedFields || transfer.sent.attempts > 1
            || transfer.plan.request.body.trailers != nil
        {
            return true
        }
        guard case .failure(let error) = result else { return false }
        return !error.isCancelled
    }

    func suspendReceiving(of transfer: Transfer) {
        handles.hold(transfer, true)
    }

    func measure(_ transfer: Transfer) -> ExchangeMetrics {
        transfer.easy.map { measured(transfer, $0) } ?? ExchangeMetrics()
    }

    private func measured(_ transfer: Transfer, _ easy: EasyHandle) -> ExchangeMetrics {
        var metrics = easy.metrics(of: transfer)
        metrics.queue = transfer.clock.queued(at: loop.now)
        metrics.version = transfer.received.hasHead ? transfer.received.head.version : nil
        metrics.connection = connectionInfo(of: transfer, easy)
        return metrics
    }

    private func noteActive() {
        handles.noteActive(active.count, at: loop.now)
    }

    /// Clears the pause state of a transfer that resumes or ends.
    private func noteReleased(_ transfer: Transfer) {
        if transfer.isHeld { loop.gauges.paused -= 1 }
        if transfer.received.isPaused { handles.hold(transfer, false) }
        transfer.received.isPaused = false
        transfer.sent.isPaused = false
    }
}
#endif
