// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import Foundation

/// The background transfers of a session, independent of URLSession: the ledger of those that the app has not
/// acknowledged, in the order of their starts, and their files.
///
///     running ──▶ finished ──▶ (acknowledged: removed)
///        └──▶ lost: the system no longer knows the transfer, and no outcome has arrived
///
/// The ledger is written after each change. The delegate of a session reports events on one thread at a time, perhaps
/// twice and in any order: the first outcome of a transfer is kept.
///
/// Without a ledger at launch, because it is damaged, cannot be read or was removed, the tasks of the system become
/// transfers again (`adopt`), so that their outcomes are not lost.
final class BackgroundStore: Sendable {
    /// The maximum number of transfers. Beyond it, the oldest transfer that is not running is removed, or the oldest
    /// transfer if all are running.
    static let capacity = 1000
    /// The maximum size in bytes of a response body that is stored beside the ledger.
    static let maximumResponse: Int64 = 1 << 20
    private static let suffix = ".answer"

    private struct State {
        var transfers: [BackgroundTransfer] = []
        /// The errors of transfers whose files could not be stored.
        var failures: [UUID: NetworkError] = [:]
        /// The transfers that the ledger contained at launch; nil if none was read.
        var earlier: Set<UUID>?
        /// The transfers that were started or adopted without a ledger. None of them is adopted again.
        var seen: Set<UUID> = []
        /// Whether the ledger exists and could not be read, so that it must not be replaced.
        var isClosed = true
        var problem: NetworkError?
    }

    private let folder: String
    /// The beginning of the name of each file. Several sessions may share a folder.
    private let prefix: String
    private let capacity: Int
    private let ledger: BackgroundLedger
    private let state = Locked(State())
    /// Held while the ledger is read or written, so that an older version never replaces a newer one.
    private let writing = Locked(NoValue())
    private let report: @Sendable (BackgroundTransfer) -> Void

    /// Loads the ledger. If this fails, `problem` says why.
    ///
    /// - `report`: receives each transfer that has ended or is lost, at once those of earlier launches.
    init(
        folder: String, identifier: String, capacity: Int = capacity,
        report: @escaping @Sendable (BackgroundTransfer) -> Void
    ) {
        (self.folder, prefix, self.capacity, self.report) = (folder, identifier + ".", capacity, report)
        ledger = BackgroundLedger(path: "\(folder)/\(prefix)ledger.json")
        load()
    }

    var transfers: [BackgroundTransfer] { state.withLock { $0.transfers } }

    /// Why the ledger could not be read; nil if it was read, or did not exist.
    var problem: NetworkError? { state.withLock { $0.problem } }

    /// Reads the ledger, unless that has succeeded before. A file may be unreadable for a while, as on a device that
    /// was not unlocked since its start.
    private func load() {
        let found = writing.withLock { _ -> [BackgroundTransfer] in
            guard state.withLock({ $0.isClosed }) else { return [] }
            let content = ledger.read()
            return state.withLock { state in
                switch content {
                case .closed(let problem):
                    state.problem = problem
                    return []
                case .none(let problem):
                    (state.isClosed, state.problem) = (false, problem)
                    return []
                case .transfers(let kept):
                    let known = Dictionary(state.transfers.map { ($0.id, $0) }) { first, _ in first }
                    let merged = kept.map { transfer in
                        var transfer = transfer
                        transfer.state = known[transfer.id]?.state ?? transfer.state
                        return transfer
                    }
                    let ids = Set(kept.map(\.id))
                    state.transfers = merged + state.transfers.filter { !ids.contains($0.id) }
                    (state.isClosed, state.problem, state.earlier) = (false, nil, ids)
                    return merged.filter { known[$0.id] == nil }
                }
            }
        }
        for transfer in found where transfer.state != .running { report(transfer) }
    }

    private func change(_ change: (inout [BackgroundTransfer]) -> Void) throws(NetworkError) {
        load()
        state.withLock { change(&$0.transfers) }
        let result = writing.withLock { _ -> Result<Void, NetworkError> in
            let (transfers, problem) = state.withLock { ($0.transfers, $0.isClosed ? $0.problem : nil) }
            if let problem { return .failure(problem) }
            return Self.storing(ledger.path) { _ in try ledger.write(transfers) }
        }
        try result.get()
    }

    /// Makes a task of the system a running transfer again, if no ledger was read at launch and the transfer is
    /// unknown. The target of a download is then unknown: its body is stored beside the ledger, like that of an error.
    func adopt(_ task: BackgroundTask) {
        load()
        let isNew = state.withLock { state in
            state.earlier == nil && !state.transfers.contains { $0.id == task.id } && !state.seen.contains(task.id)
        }
        guard isNew else { return }
        let kind = task.isDownload ? BackgroundTransfer.Kind.download(to: responsePath(task.id)) : .upload(from: "")
        // An error leaves the transfer in memory, and its outcome is reported nevertheless.
        try? add(BackgroundTransfer(task.id, kind, line: task.line))
    }

    private func add(_ transfer: BackgroundTransfer) throws(NetworkError) {
        state.withLock { state in
            if state.earlier == nil { state.seen.insert(transfer.id) }
        }
        try change { transfers in
            transfers.append(transfer)
            let oldest = transfers.firstIndex { $0.state != .running } ?? 0
            if transfers.count > capacity { transfers.remove(at: oldest) }
        }
    }

    /// Adds a running transfer, before its task is created. Throws if the ledger cannot be written.
    func start(_ transfer: BackgroundTransfer) throws(NetworkError) {
        do throws(NetworkError) {
            try add(transfer)
        } catch {
            state.withLock { $0.transfers.removeAll { $0.id == transfer.id } }
            throw error
        }
    }

    /// Removes a transfer whose outcome was processed, and its response body. A running transfer is not affected.
    func acknowledge(_ id: UUID) throws(NetworkError) {
        try change { $0.removeAll { $0.id == id && $0.state != .running } }
        if self[id] == nil { forget(id) }
    }

    private subscript(id: UUID) -> BackgroundTransfer? { transfers.first { $0.id == id } }

    /// Compares the ledger with the system's tasks, after a launch. A lost transfer with a task is running. A transfer
    /// of an earlier launch without a task is lost; later ones are not, because the list of tasks may have been made
    /// before they were started.
    func reattach(_ tasks: [BackgroundTask]) {
        for task in tasks { adopt(task) }
        let known = Set(tasks.map(\.id))
        let earlier = state.withLock { $0.earlier ?? [] }
        var lost: [BackgroundTransfer] = []
        try? change { transfers in
            for index in transfers.indices {
                let isKnown = known.contains(transfers[index].id)
                switch transfers[index].state {
                case .lost where isKnown: transfers[index].state = .running
                case .running where !isKnown && earlier.contains(transfers[index].id):
                    transfers[index].state = .lost
                    lost.append(transfers[index])
                default: break
                }
            }
        }
        removeUnknownResponses()
        for transfer in lost { report(transfer) }
    }

    /// Records the end of a transfer, with `error` or with `response`.
    func finish(_ id: UUID, _ response: HTTPResponse?, _ error: NetworkError?) {
        load()
        guard let transfer = self[id] else { return forget(id) }
        if case .finished = transfer.state { return }
        let failure = state.withLock { $0.failures.removeValue(forKey: id) } ?? error
        let outcome: BackgroundOutcome
        if failure == nil, var response {
            var path = responsePath(id)
            if transfer.kind == .upload(from: "") || transfer.kind == .download(to: path) {
                // The declarations of an adopted transfer are unknown.
                response.headers = HTTPHeaders(response.headers.filter { $0.name == .contentType })
            }
            response.headers.declare(secret: Set(transfer.withheld.map { HTTPField.Name($0) }), harmless: [])
            if case .download(let target) = transfer.kind, response.status.isSuccess { path = target }
            outcome = BackgroundOutcome(response, file: FileManager.default.fileExists(atPath: path) ? path : nil)
        } else {
            forget(id)  // An incomplete response.
            outcome = BackgroundOutcome(failure ?? NetworkError(.badResponse, detail: "There was no response."))
        }
        try? change { transfers in
            if let index = transfers.firstIndex(where: { $0.id == id }) { transfers[index].state = .finished(outcome) }
        }
        if let transfer = self[id] { report(transfer) }
    }

    /// Returns the path at which the response body of a transfer is stored, readable only by the app, until the app
    /// acknowledges the transfer: the response to an upload, or the body of a 404.
    func responsePath(_ id: UUID) -> String { "\(folder)/\(prefix)\(id.uuidString)\(Self.suffix)" }

    /// Moves the file of a finished download before the system removes it.
    ///
    /// With a success status, the file atomically replaces the file at the path that the app chose. With any other
    /// status, that file is unchanged, and the response body is stored for the outcome if it has at most 1 MiB.
    func take(_ file: String, of id: UUID, status: Int?) {
        guard case .download(let target) = self[id]?.kind else { return }
        if let status, HTTPStatus(status).isSuccess {
            keep(target, of: id) { try Self.move(file, to: $0) }
        } else if let size = Self.size(of: file), size <= Self.maximumResponse {
            keep(responsePath(id), of: id) { path in
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
                try Self.move(file, to: path)
            }
        }
    }

    /// Stores a piece of the response to an upload, which an earlier launch may have begun. Returns false if the
    /// transfer must be cancelled, because the response exceeds 1 MiB or cannot be stored.
    func append(_ data: Data, of id: UUID) -> Bool {
        keep(responsePath(id), of: id) { path in
            try PrivateFile.check(path, .ownerAlone)
            guard (Self.size(of: path) ?? 0) + Int64(data.count) <= Self.maximumResponse else {
                throw NetworkError(.limitExceeded(.responseBody), detail: "The response is longer than 1 MiB.")
            }
            try PrivateFile.create(path)
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            defer { try? handle.close() }
            try handle.seekToEnd()
            try handle.write(contentsOf: data)
        }
    }

    /// Writes a file of a transfer. Returns false after an error, which becomes the outcome of the transfer.
    @discardableResult
    private func keep(_ path: String, of id: UUID, _ work: (String) throws -> Void) -> Bool {
        guard case .failure(let error) = Self.storing(path, work) else { return true }
        fail(id, error)
        return false
    }

    /// Records why the transfer is about to fail.
    func fail(_ id: UUID, _ error: NetworkError) { state.withLock { $0.failures[id] = error } }

    private func forget(_ id: UUID) { try? FileManager.default.removeItem(atPath: responsePath(id)) }

    private func removeUnknownResponses() {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        where name.begins(with: prefix) && name.ends(with: Self.suffix) {
            let id = UUID(uuidString: String(name.dropFirst(prefix.count).dropLast(Self.suffix.count)))
            if let id, self[id] == nil { forget(id) }
        }
    }

    /// Returns the size of a file; nil if it is unknown.
    static func size(of path: String) -> Int64? {
        (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber)?.int64Value
    }

    /// Atomically replaces the file at `target`. A file on another volume cannot be renamed, but a copy can.
    private static func move(_ file: String, to target: String) throws {
        let draft = "\(target).\(UUID().uuidString).new"
        try FileManager.default.moveItem(atPath: file, toPath: draft)
        try PrivateFile.move(draft, to: target)
    }

    private static func storing(_ path: String, _ work: (String) throws -> Void) -> Result<Void, NetworkError> {
        Result { try work(path) }.mapError { error in
            let hint = "Create its folder before the transfer starts, and use a name that no folder has."
            return error as? NetworkError
                ?? NetworkError(.storage, detail: "\(path) cannot be written: \(error)", hint: hint, underlying: error)
        }
    }
}
