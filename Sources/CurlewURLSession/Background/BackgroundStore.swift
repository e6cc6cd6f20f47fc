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
final class BackgroundStore: Sendable {
    /// The maximum number of transfers. Beyond it, the oldest transfer that is not running is removed, or the oldest
    /// transfer if all are running.
    static let capacity = 1000
    /// The maximum size in bytes of a response body that is stored beside the ledger.
    static let maximumResponse: Int64 = 1 << 20
    private static let suffix = ".answer"

    private struct State {
        var transfers: [BackgroundTransfer]
        /// The errors of transfers whose files could not be stored.
        var failures: [UUID: NetworkError] = [:]
    }

    private let folder: String
    /// The beginning of the name of each file. Several sessions may share a folder.
    private let prefix: String
    private let capacity: Int
    /// The transfers that the ledger contained at launch.
    private let earlier: Set<UUID>
    private let state: Locked<State>
    /// Held while the ledger is written, so that an older version never replaces a newer one.
    private let writing = Locked(NoValue())
    private let report: @Sendable (BackgroundTransfer) -> Void

    /// Loads the ledger. It is empty if its file cannot be read, belongs to another user, or is a symbolic link.
    ///
    /// - `report`: receives each transfer that has ended or is lost, at once those of earlier launches.
    init(
        folder: String, identifier: String, capacity: Int = capacity,
        report: @escaping @Sendable (BackgroundTransfer) -> Void
    ) {
        (self.folder, prefix, self.capacity, self.report) = (folder, identifier + ".", capacity, report)
        let data = try? PrivateFile.read("\(folder)/\(prefix)ledger.json", limit: 64 << 20, trusting: .owner)
        let transfers = (try? JSONDecoder().decode([BackgroundTransfer].self, from: data ?? Data())) ?? []
        earlier = Set(transfers.map(\.id))
        state = Locked(State(transfers: transfers))
        for transfer in transfers where transfer.state != .running { report(transfer) }
    }

    private var ledger: String { "\(folder)/\(prefix)ledger.json" }
    var transfers: [BackgroundTransfer] { state.withLock { $0.transfers } }

    private func change(_ change: (inout [BackgroundTransfer]) -> Void) throws(NetworkError) {
        state.withLock { change(&$0.transfers) }
        let result = writing.withLock { _ in
            Self.storing(ledger) { try PrivateFile.replace($0, with: try JSONEncoder().encode(transfers)) }
        }
        try result.get()
    }

    /// Adds a running transfer, before its task is created. Throws if the ledger cannot be written.
    func start(_ transfer: BackgroundTransfer) throws(NetworkError) {
        do throws(NetworkError) {
            try change { transfers in
                transfers.append(transfer)
                let oldest = transfers.firstIndex { $0.state != .running } ?? 0
                if transfers.count > capacity { transfers.remove(at: oldest) }
            }
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

    /// Compares the ledger with the identifiers of the system's tasks, after a launch. A lost transfer with a task is
    /// running. A transfer of an earlier launch without a task is lost; later ones are not, because the list of tasks
    /// may have been made before they were started.
    func reattach(_ known: Set<UUID>) {
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
        guard let transfer = self[id] else { return forget(id) }
        if case .finished = transfer.state { return }
        let failure = state.withLock { $0.failures.removeValue(forKey: id) } ?? error
        let outcome: BackgroundOutcome
        if failure == nil, var response {
            response.headers.declare(secret: Set(transfer.withheld.map { HTTPField.Name($0) }), harmless: [])
            var path = responsePath(id)
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
        state.withLock { $0.failures[id] = error }
        return false
    }

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
