// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP

/// How transfers leave the engine: one way out, whatever ended them. On the agent's thread only.
extension CurlAgent {
    func finishDone() {
        guard let multi else { return }
        var code = CURLE_OK
        while let pointer = curlew_multi_next_done(multi, &code) {
            guard let context = curlew_info_pointer(pointer, CURLINFO_PRIVATE) else { continue }
            let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
            guard let easy = transfer.easy else { continue }
            if code == CURLE_OK, transfer.decoder?.isComplete == false {
                transfer.failure = NetworkError(
                    .badResponse, detail: "The body ends before its content coding does: it was cut off.")
            }
            if code == CURLE_OK, transfer.failure == nil, transfer.head.isComplete {
                complete(transfer, easy, .success(()))
            } else {
                complete(transfer, easy, .failure(CurlFailure.error(code, handle: easy, transfer: transfer)))
            }
        }
    }

    /// The one way out: takes the transfer off libcurl and the table, then tells its caller or reader.
    func complete(_ transfer: Transfer, _ easy: EasyHandle, _ result: Result<Void, NetworkError>) {
        recordEvents()
        let metrics = measured(transfer, easy)
        if metrics.connectionsOpened ?? 0 > 0, transfer.context.isObserved {
            for warning in easy.warnings(for: transfer) { transfer.context.record(.warned(warning)) }
        }
        transfer.decoder = nil
        easy.serverCheck?.forgetCertificates()
        if let multi { curl_multi_remove_handle(multi, easy.pointer) }
        transfers[transfer.id] = nil
        transfer.easy = nil
        noteReleased(transfer)
        if case .success = result { noteIdleConnection(of: transfer) }
        leaveConnection(transfer)
        leavePlace(transfer)
        noteActive()
        gauges.completed += 1
        if metrics.reusedConnection == true { gauges.reused += 1 } else { mayHaveLostSockets = true }
        transfer.upload?.end()
        if isWorn(transfer, result) { gauges.handles -= 1 } else { putBack(easy) }

        if case .success = result, !transfer.head.trailers.isEmpty {
            transfer.context.record(.trailers(transfer.head.trailers))
        }
        transfer.context.record(.measured(metrics))
        ended.append(transfer)
        deliver(result, to: transfer, metrics: metrics)
        // The pipe refers to the transfer for as long as somebody reads.
        transfer.pipe = nil
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
        metrics.queue = transfer.clock.queued(at: turnStart)
        metrics.version = transfer.hasHead ? transfer.head.version : nil
        metrics.connection = connectionInfo(of: transfer, easy)
        return metrics
    }

    private func deliver(_ result: Result<Void, NetworkError>, to transfer: Transfer, metrics: ExchangeMetrics) {
        if let pipe = transfer.pipe {
            // Head and end may come in one turn: the caller gets the response first, so that a body that breaks off
            // always fails where it is read.
            if case .failure(let error) = result, error.isCancelled, transfer.isAwaited {
                return transfer.deliver(.failure(error))
            }
            handOverHead(of: transfer, metrics: metrics)
            if case .success = result, !transfer.head.trailers.isEmpty { pipe.note(trailers: transfer.head.trailers) }
            pipe.finish(result)
            return
        }
        guard transfer.isAwaited else { return }
        switch result {
        case .success:
            let body = ResponseBody(
                transfer.buffered.take(), limit: transfer.bodyLimit, trailers: transfer.head.trailers)
            transfer.deliver(.success(transfer.response(body: body, metrics: metrics)))
        case .failure(let error):
            transfer.deliver(.failure(error))
        }
    }

    /// Called from callbacks: the transfer is about to stand still because of its reader or producer.
    func noteHeld(_ transfer: Transfer) {
        if !transfer.isHeld { gauges.paused += 1 }
    }

    /// The transfer goes on, or is over.
    func noteReleased(_ transfer: Transfer) {
        if transfer.isHeld { gauges.paused -= 1 }
        if transfer.isReceivePaused { holdConnection(of: transfer, false) }
        transfer.isReceivePaused = false
        transfer.isSendPaused = false
    }

    /// Called from callbacks: the head goes to the caller when libcurl has returned.
    func noteHead(of transfer: Transfer) {
        dueHeads.append(transfer)
    }

    /// Called from callbacks: observers hear of it when libcurl has returned.
    func note(_ event: ExchangeEvent, of transfer: Transfer) {
        dueEvents.append((transfer, event))
    }

    func recordEvents() {
        guard !dueEvents.isEmpty else { return }
        let events = dueEvents
        dueEvents = []
        for (transfer, event) in events { transfer.context.record(event) }
    }

    /// Called from callbacks: libcurl has to look again at a request that needs no more of its body.
    func noteRefusal(of transfer: Transfer) {
        refused.append(transfer)
    }

    func releaseRefused() {
        guard !refused.isEmpty else { return }
        let transfers = refused
        refused = []
        for transfer in transfers where transfer.isRefusedEarly { resumeNow(transfer) }
    }

    func handOverHeads() {
        guard !dueHeads.isEmpty else { return }
        for transfer in dueHeads {
            if let easy = transfer.easy { handOverHead(of: transfer, metrics: measured(transfer, easy)) }
        }
        dueHeads.removeAll(keepingCapacity: true)
    }

    /// Called from callbacks: a reader waits for what has come of the body, and gets it when libcurl has returned.
    func noteBody(of transfer: Transfer) {
        if !transfer.isBodyDue { dueBodies.append(transfer) }
        transfer.isBodyDue = true
    }

    func handOverBodies() {
        guard !dueBodies.isEmpty else { return }
        for transfer in dueBodies {
            transfer.isBodyDue = false
            transfer.pipe?.release()
        }
        dueBodies.removeAll(keepingCapacity: true)
    }

    private func handOverHead(of transfer: Transfer, metrics: ExchangeMetrics) {
        guard let pipe = transfer.pipe, transfer.isAwaited else { return }
        let body = ResponseBody(
            pipe, limit: transfer.bodyLimit, length: transfer.declaredLength)
        transfer.deliver(.success(transfer.response(body: body, metrics: metrics)))
    }
}
#endif
