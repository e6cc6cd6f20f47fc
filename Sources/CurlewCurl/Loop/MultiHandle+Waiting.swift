// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP

/// Transfers that libcurl does not have while they wait: for the addresses of a name, or for a descriptor.
extension MultiHandle {
    /// Suspends a transfer whose name libcurl was about to look up. libcurl has ended the transfer instead, and the
    /// loop looks up the name once for all waiting transfers.
    func wait(_ transfer: Transfer, _ easy: EasyHandle, for name: String) {
        curl_multi_remove_handle(pointer, easy.pointer)
        let isFirst = !active.values.contains { $0.state.waits(for: name) }
        transfer.state.take(.resolve(at: loop.now))
        // Names such as `app.localhost` are loopback names by definition (RFC 6761 §6.3), but not every libcurl
        // resolves them as such. The DNS is not queried for them: it could return another machine, which would receive
        // data intended for this machine only.
        if let known = Origin(scheme: "http", host: name, port: 80)?.loopbackAddresses {
            return found(name, .addresses(known))
        }
        if let known = foundNow[name] { return found(name, known) }
        transfer.plan.context.record(.connecting(.resolving(name: name)))
        guard isFirst else { return }
        loop.names.resolve(name) { [weak loop] outcome in loop?.send(.found(name, outcome)) }
    }

    /// Resumes or ends the transfers that wait for this name.
    func found(_ name: String, _ outcome: NameLookup.Outcome) {
        foundNow[name] = outcome
        for transfer in transfers(where: { $0.waits(for: name) }) {
            guard let easy = transfer.easy, transfer.state.isResolving else { continue }
            transfer.connection.lookupTime = transfer.lookupTime(at: TimeoutTracker.now())
            switch outcome {
            case .addresses(let list): easy.setAddresses(list, for: transfer)
            case .unwritable: break
            case .failed(let reason):
                complete(transfer, easy, .failure(CurlFailure.lookup(of: name, reason, easy, transfer)))
                continue
            }
            beginAgain(transfer, easy)
        }
    }

    /// Returns a transfer to libcurl after it has waited.
    private func beginAgain(_ transfer: Transfer, _ easy: EasyHandle) {
        transfer.state.take(.beginAgain)
        do throws(NetworkError) {
            try attach(easy)
            begun += 1
        } catch {
            complete(transfer, easy, .failure(error))
        }
    }

    /// Suspends a transfer that failed because the process has no descriptor for its connection. When another transfer
    /// ends, its connection or descriptor is free. Returns false if there is no other one, or if a part of the request
    /// was sent, which libcurl would forget.
    func awaitDescriptor(_ transfer: Transfer, _ easy: EasyHandle) -> Bool {
        guard transfer.connection.lacksDescriptor, transfer.sent.attempts == 0,
            active.values.count(where: \.state.lacksDescriptor) + 1 < active.count,
            transfer.state.take(.lackDescriptor)
        else { return false }
        curl_multi_remove_handle(pointer, easy.pointer)
        mayLackDescriptors = true
        return true
    }

    /// Begins the oldest transfer that waits for a descriptor.
    func endLackOfDescriptors() {
        let next = transfers(where: \.lacksDescriptor).first
        mayLackDescriptors = next != nil
        if let next, let easy = next.easy { beginAgain(next, easy) }
    }
}

/// The deadlines of the active transfers.
extension MultiHandle {
    /// Ends late transfers if the next check is due.
    func endLate() {
        guard loop.now >= nextCheck else { return }
        let now = TimeoutTracker.now()
        nextCheck = .max
        // Other transfers that use connections to these origins may keep a transfer waiting for one of them. If the
        // transfer is connecting, libcurl enforces the timeout.
        lazy var connected = Set(
            active.values.filter(\.clock.isConnected).compactMap { $0.queue.map(ObjectIdentifier.init) })
        var late: [(Transfer, NetworkError)] = []
        for transfer in active.values {
            var check = transfer.clock.check(at: now)
            if check.expired == .connect, !transfer.state.isResolving, let queue = transfer.queue,
                connected.contains(ObjectIdentifier(queue))
            {
                transfer.clock.connectLater(from: now)
                check = transfer.clock.check(at: now)
            }
            if let phase = check.expired {
                let error =
                    transfer.state.isDraining
                    ? NetworkError(.cancelled) : CurlFailure.timeout(phase, transfer: transfer)
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

    /// Shuts down the connection of a late transfer if nothing arrives on the connection.
    private func giveUpConnection(of transfer: Transfer, at now: Int64) {
        // While the transfer waits for its reader or its producer, a delay indicates nothing about the server.
        guard !transfer.isHeld, let socket = transfer.connection.socket else { return }
        poller.giveUp(
            socket, lateSince: transfer.clock.lastActivity,
            isAlone: active.values.allSatisfy { $0 === transfer || $0.queue !== transfer.queue }, at: now)
    }

    func noteDeadline(of transfer: Transfer) {
        nextCheck = min(nextCheck, transfer.clock.check(at: loop.now).next)
    }
}

extension TransferState {
    fileprivate func waits(for name: String) -> Bool {
        if case .curl(_, .resolving(name, _)) = self { true } else { false }
    }
}
#endif
