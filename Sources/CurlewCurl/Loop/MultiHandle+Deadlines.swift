// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCore

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
            if check.expired == .connect, !transfer.isResolving, let queue = transfer.queue,
                connected.contains(ObjectIdentifier(queue))
            {
                transfer.clock.connectingSince = now
                check = transfer.clock.check(at: now)
            }
            if let phase = check.expired {
                let error =
                    transfer.ending.isDraining
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
        guard !transfer.isHeld, let connection = transfer.easy.flatMap(ConnectionName.init(of:)) else { return }
        poller.giveUp(
            connection, lateSince: transfer.clock.lastActivity,
            isAlone: active.values.allSatisfy { $0 === transfer || $0.queue !== transfer.queue }, at: now)
    }

    func noteDeadline(of transfer: Transfer) {
        nextCheck = min(nextCheck, transfer.clock.check(at: loop.now).next)
    }
}
#endif
