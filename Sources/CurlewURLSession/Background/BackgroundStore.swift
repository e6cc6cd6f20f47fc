// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import Foundation

/// The background transfers of a session: the ledger on the disk, the files, and the calls that wait for outcomes.
///
/// It is independent of URLSession. The delegate of a session reports events, on one thread at a time.
final class BackgroundStore: Sendable {
    private struct State {
        var ledger: BackgroundLedger
        /// The errors of transfers whose files could not be stored.
        var failures: [UUID: NetworkError] = [:]
        /// The results for which calls wait.
        var waiting: [UUID: SharedResult<BackgroundLedger.Entry>] = [:]
        /// The identifiers that running calls use.
        var inUse: Set<String> = []
    }

    let files: BackgroundFiles
    /// The transfers that the ledger contained at launch.
    private let earlier: Set<UUID>
    private let state: Locked<State>
    /// Held while the ledger is written, so that an older version never replaces a newer one.
    private let writing = Locked(NoValue())
    private let report: @Sendable (BackgroundLedger.Entry) -> Void

    /// - `report`: receives each transfer that has ended or is lost, except those of calls.
    init(_ files: BackgroundFiles, report: @escaping @Sendable (BackgroundLedger.Entry) -> Void) {
        self.files = files
        self.report = report
        let ledger = BackgroundLedger(file: files.ledger)
        earlier = Set(ledger.entries.map(\.transfer.id))
        state = Locked(State(ledger: ledger))
    }

    var entries: [BackgroundLedger.Entry] { state.withLock { $0.ledger.entries } }

    private func change(_ change: (inout BackgroundLedger) -> Void) throws(NetworkError) {
        state.withLock { change(&$0.ledger) }
        let failure = writing.withLock { _ -> NetworkError? in
            let ledger = state.withLock { $0.ledger }
            do throws(NetworkError) { try ledger.save(to: files.ledger) } catch { return error }
            return nil
        }
        if let failure { throw failure }
    }

    /// Records a transfer in the ledger. Throws if the ledger cannot be written.
    func start(_ transfer: BackgroundTransfer) throws(NetworkError) {
        do throws(NetworkError) {
            try change { $0.start(transfer) }
        } catch {
            state.withLock { $0.ledger.remove(transfer.id) }
            throw error
        }
    }

    /// Removes a transfer that was not handed to the system.
    func forget(_ id: UUID) {
        try? change { $0.remove(id) }
        files.remove(id)
    }

    /// Removes a transfer whose outcome was processed. A running transfer is not affected.
    func acknowledge(_ id: UUID) throws(NetworkError) {
        try change { $0.acknowledge(id) }
        if state.withLock({ $0.ledger[id] }) == nil { files.remove(id) }
    }

    /// Reports the transfers that have ended in earlier launches.
    func reportEarlier() {
        for entry in entries where entry.state != .running { publish(entry.transfer.id) }
    }

    /// Compares the ledger with the transfers that the system has, after a launch.
    func reattach(_ known: [BackgroundTransfer]) {
        var lost: [BackgroundTransfer] = []
        try? change { lost = $0.reattach(known, candidates: earlier) }
        files.sweep(keeping: Set(entries.map(\.transfer.id)))
        for transfer in lost { publish(transfer.id) }
    }

    private func publish(_ id: UUID) {
        let (entry, waiting) = state.withLock { state in
            (state.ledger[id], state.waiting.removeValue(forKey: id))
        }
        guard let entry else { return }
        waiting?.finish(.success(entry))
        if entry.transfer.callIdentifier == nil { report(entry) }
    }

    /// Stores the file of a download before the system removes it.
    func take(_ file: String, of transfer: BackgroundTransfer, status: Int?) {
        do throws(NetworkError) {
            try files.take(file, of: transfer, status: status)
        } catch {
            state.withLock { $0.failures[transfer.id] = error }
        }
    }

    /// Stores a piece of the response to an upload. Returns false if the transfer must be cancelled.
    func append(_ data: Data, of transfer: BackgroundTransfer) -> Bool {
        do throws(NetworkError) {
            try files.append(data, to: transfer.id)
            return true
        } catch {
            state.withLock { $0.failures[transfer.id] = error }
            return false
        }
    }

    /// Records the end of a transfer.
    func finish(_ transfer: BackgroundTransfer, _ response: HTTPResponse?, _ error: NetworkError?) {
        let problem = state.withLock { $0.failures.removeValue(forKey: transfer.id) }
        let outcome = files.outcome(of: transfer, response, problem ?? error)
        try? change { $0.finish(transfer, outcome) }
        publish(transfer.id)
    }
}

// MARK: Calls

extension BackgroundStore {
    /// Marks an identifier as used by a call. Returns false if another call uses it.
    func begin(call identifier: String) -> Bool {
        state.withLock { $0.inUse.insert(identifier).inserted }
    }

    func end(call identifier: String) {
        state.withLock { _ = $0.inUse.remove(identifier) }
    }

    /// Returns the entry of the transfer that a call with this identifier has started, in this launch or an earlier one.
    func entry(ofCall identifier: String) -> BackgroundLedger.Entry? {
        entries.last { $0.transfer.callIdentifier == identifier }
    }

    /// Waits until the transfer is no longer running.
    func ended(_ id: UUID, until deadline: Deadline, on time: any TimeSource) async throws -> BackgroundLedger.Entry? {
        let result = state.withLock { state -> SharedResult<BackgroundLedger.Entry>? in
            guard let entry = state.ledger[id] else { return nil }
            guard entry.state == .running else {
                let result = SharedResult<BackgroundLedger.Entry>()
                result.finish(.success(entry))
                return result
            }
            if let result = state.waiting[id] { return result }
            let result = SharedResult<BackgroundLedger.Entry>()
            state.waiting[id] = result
            return result
        }
        return try await result?.wait(until: deadline, on: time)
    }
}
