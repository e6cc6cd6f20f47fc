// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCore

/// What performs transfers on the thread of an event loop: libcurl (`MultiHandle`) or the transport's own connections
/// (`DirectConnections`). Used only on that thread.
protocol Carrier: AnyObject {
    /// Adds an effect, which is applied when the current step has ended.
    func add(_ effect: Effect)
    /// Updates the time of the next deadline check when a transfer has entered another phase.
    func noteDeadline(of transfer: Transfer)
    /// Records that a transfer is about to pause because of its reader or producer.
    func noteHeld(_ transfer: Transfer)
    /// Suspends receiving until the transfer is resumed.
    func suspendReceiving(of transfer: Transfer)
    /// Resumes a paused transfer. Does nothing if the transfer is not paused.
    func resume(_ transfer: Transfer)
    /// Ends a transfer that the caller has cancelled. If little of the body is missing, it is received and discarded,
    /// which costs less than a new connection.
    func cancel(_ transfer: Transfer)
    /// Ends a transfer with an error. Does nothing if the transfer has ended.
    func end(_ transfer: Transfer, with error: NetworkError)
    /// Returns the metrics of a transfer, as measured so far.
    func measure(_ transfer: Transfer) -> ExchangeMetrics
}

extension Carrier {
    /// Receives and discards the rest of a cancelled transfer if that is little, or else ends the transfer.
    func drainOrEnd(_ transfer: Transfer, at now: Int64) {
        guard transfer.mayDrain else { return end(transfer, with: NetworkError(.cancelled)) }
        transfer.state.take(.drain)
        transfer.clock.end(by: now + Transfer.drainTime)
        noteDeadline(of: transfer)
        resume(transfer)
    }

    /// Applies an effect that has been added.
    func apply(_ effect: Effect) {
        switch effect {
        case .head(let transfer): if transfer.carrier != nil { transfer.handOverHead(metrics: measure(transfer)) }
        case .body(let transfer):
            transfer.received.isDue = false
            transfer.received.pipe?.release()
        case .event(let transfer, let event): transfer.plan.context.record(event)
        case .resumeRefused(let transfer): if transfer.isRefusedEarly { resume(transfer) }
        case .endUpgrade(let transfer):
            transfer.plan.upgrade?.endSending()
            resume(transfer)
        case .end(let transfer, let error): end(transfer, with: error)
        }
    }
}
#endif
