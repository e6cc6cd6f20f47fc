// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCore

/// Which transfers are late: looked at when the next of them may be. On the agent's thread only.
extension CurlAgent {
    private static let waitingHint =
        "It waited for a connection to its host all the time. Start fewer calls at a time, give urgent ones a higher "
        + "RequestOptions.priority, or raise ConnectionPool.perHost."

    /// The transfer has come into another phase, which may end sooner than the one before.
    func noteDeadline(of transfer: Transfer) {
        nextCheck = min(nextCheck, transfer.clock.check(at: turnStart).next)
    }

    /// Ends what is late, if the moment to look has come.
    func endLate() {
        guard nextCheck != .max else { return }
        let now = ExchangeClock.now()
        guard now >= nextCheck else { return }
        if now >= stopAt { isStopping = true }
        var next = stopAt
        var late: [(Transfer, NetworkError)] = []
        for transfer in transfers.values {
            let check = transfer.clock.check(at: now)
            if let phase = check.expired {
                late.append((transfer, CurlFailure.timeout(phase, transfer: transfer)))
            } else {
                next = min(next, check.next)
            }
        }
        next = min(next, endLateWaiting(at: now))
        nextCheck = next
        for (transfer, error) in late {
            giveUpConnection(of: transfer, at: now)
            end(transfer, with: error)
        }
    }

    /// Ends those whose time is over in the line. When to look again.
    private func endLateWaiting(at now: Int64) -> Int64 {
        guard lines.count > 0 else { return .max }
        var next = Int64.max
        for place in originLines.values where place.shared.count > 0 {
            let found = place.shared.late(of: self, at: now)
            next = min(next, found.next)
            for transfer in found.late {
                guard case .left = place.shared.leave(transfer) else { continue }
                var error = CurlFailure.timeout(.queue, transfer: transfer)
                error.hint = Self.waitingHint
                endWaiting(transfer, with: error)
            }
        }
        return next
    }
}
#endif
