// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore
import CurlewFoundation
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
    private(set) lazy var handles = HandleStore(of: self)
    unowned let loop: EventLoop

    let pointer: UnsafeMutableRawPointer
    @exclusivity(unchecked) private(set) var active: [ObjectIdentifier: Transfer] = [:]
    @exclusivity(unchecked) private var effects: [Effect] = []
    /// The lookup results of this turn. libcurl may request a name once more before it has processed the transfer that
    /// provides the addresses of the name.
    @exclusivity(unchecked) var foundNow: [String: NameLookup.Outcome] = [:]
    /// The transfers that received the slots of ended transfers and have not begun.
    @exclusivity(unchecked) private var successors: [Transfer] = []
    /// Whether transfers may wait for a descriptor.
    @exclusivity(unchecked) var mayLackDescriptors = false
    /// Whether a transfer has failed on a connection that others may share, or has left it, since libcurl last read
    /// from these connections.
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
        let pool = loop.configuration.pool
        curlew_multi_set_long(pointer, CURLMOPT_MAX_HOST_CONNECTIONS, pool.perHost)
        if let total = pool.total { curlew_multi_set_long(pointer, CURLMOPT_MAX_TOTAL_CONNECTIONS, total) }
    }

    /// Closes all connections. No transfer may be active.
    func close() {
        handles.dropSurplus(beyond: 0)
        curl_multi_cleanup(pointer)
    }

    var isIdle: Bool { active.isEmpty }

    // MARK: The steps of a turn

    /// The next deadline, on the loop's clock.
    var nextMoment: Int64 { mayHaveBroken ? 0 : min(poller.nextCall, nextCheck) }

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
    /// that finds the error; each other one waits until something arrives, or for its timeout. A read is harmless if
    /// the connection is sound. Otherwise it ends at least one more transfer (exactly one in libcurl 7.88), and that
    /// leads here again.
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
            transfer.carrier = self
            transfer.state.take(.begin(try attachedHandle(for: transfer)))
            active[ObjectIdentifier(transfer)] = transfer
            handles.noteActive(active.count, at: loop.now)
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
        release(transfer)
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
        guard !transfer.state.isDraining else { return }
        drainOrEnd(transfer, at: loop.now)
    }

    /// Removes an active transfer and completes it with `error`. Does nothing if the transfer is not active.
    func end(_ transfer: Transfer, with error: NetworkError) {
        guard let easy = transfer.easy else { return }
        let wasPaused = transfer.isReceivingPaused
        release(transfer)
        transfer.state.take(.end)
        // libcurl 7.88 leaks the stream of a paused HTTP/2 transfer that is removed. So the transfer is resumed first,
        // and its bytes are discarded.
        if wasPaused { curl_easy_pause(easy.pointer, CURLPAUSE_CONT) }
        complete(transfer, easy, .failure(error))
    }

    func add(_ effect: Effect) { effects.append(effect) }

    func noteHeld(_ transfer: Transfer) {
        if !transfer.isHeld { loop.gauges.paused += 1 }
    }

    /// Records the HTTP version of the origin from a response head. Begins waiting requests if they now have slots.
    func noteVersion(of transfer: Transfer) {
        let isShared = transfer.received.head.version == .http2
        if isShared, let socket = transfer.connection.socket { poller.noteShared(socket, at: loop.now) }
        guard let queue = transfer.queue, let hasChanged = loop.queues.note(transfer.received.head.version, at: queue)
        else { return }
        if hasChanged, transfer.plan.request.origin.isSecure { loop.mixedVersions.note(queue.origin) }
        while let next = loop.queues.next(queue, at: loop.number) { successors.append(next) }
    }

    /// Returns the transfers with these states, the oldest first.
    func transfers(where isIncluded: (TransferState) -> Bool) -> [Transfer] {
        active.values.filter { isIncluded($0.state) }.ordered {
            $0.clock.elapsed(at: loop.now) > $1.clock.elapsed(at: loop.now)
        }
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
        while let handle = curlew_multi_next_done(pointer, &code) {
            guard let transfer = EasyHandle.of(handle)?.transfer, let easy = transfer.easy else { continue }
            if case .curl(_, .needsName(let name)) = transfer.state {
                wait(transfer, easy, for: name)
                continue
            }
            if code == CURLE_COULDNT_CONNECT, awaitDescriptor(transfer, easy) { continue }
            if code == CURLE_OK, transfer.received.decoder?.isComplete == false {
                let detail = "The body ends before its content coding does: it is truncated."
                transfer.state.take(.fail(NetworkError(.badResponse, detail: detail)))
            }
            if code == CURLE_OK, transfer.state.failure == nil, transfer.received.head.isComplete {
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
        let metrics = measure(transfer)
        if metrics.connectionsOpened ?? 0 > 0, transfer.plan.context.isObserved {
            for warning in easy.warnings(for: transfer) { transfer.plan.context.record(.warned(warning)) }
        }
        transfer.received.decoder = nil
        easy.serverCheck?.forgetCertificates()
        curl_multi_remove_handle(pointer, easy.pointer)
        // libcurl may report a socket of this handle later, when it closes a connection.
        easy.transfer = nil
        active[ObjectIdentifier(transfer)] = nil
        release(transfer)
        transfer.state.take(.leave)
        if keepsConnection { handles.noteIdleConnection(of: transfer) }
        loop.mixedVersions.leave(transfer)
        successors += loop.queues.releaseSlot(of: transfer)
        handles.noteActive(active.count, at: loop.now)
        loop.gauges.completed += 1
        if metrics.reusedConnection == true { loop.gauges.reused += 1 } else { handles.noteLostAttempt() }
        transfer.plan.upload?.end()
        if isWorn(transfer, result) { handles.drop() } else { handles.putBack(easy) }
        if case .success = result, !transfer.received.head.trailers.isEmpty {
            transfer.plan.context.record(.trailers(transfer.received.head.trailers))
        }
        transfer.plan.context.record(metrics)
        transfer.deliver(result, metrics: metrics)
        transfer.carrier = nil
        if mayLackDescriptors { endLackOfDescriptors() }
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

    func suspendReceiving(of transfer: Transfer) { handles.hold(transfer, true) }

    func measure(_ transfer: Transfer) -> ExchangeMetrics {
        guard let easy = transfer.easy else { return ExchangeMetrics() }
        var metrics = easy.metrics(of: transfer)
        metrics.queue = transfer.clock.queued(at: loop.now)
        metrics.version = transfer.received.hasHead ? transfer.received.head.version : nil
        metrics.connection = connectionInfo(of: transfer, easy)
        return metrics
    }

    /// Clears the pause state of a transfer that resumes or ends.
    private func release(_ transfer: Transfer) {
        guard transfer.isHeld else { return }
        loop.gauges.paused -= 1
        if transfer.isReceivingPaused { handles.hold(transfer, false) }
        transfer.state.take(.resume)
    }
}
#endif
