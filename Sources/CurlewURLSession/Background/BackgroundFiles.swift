// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import Foundation

/// The files of background transfers: what was downloaded, and what servers answered.
///
/// Downloads go where the app wants them. Other bodies, the answer to an upload or the page that explains a 404, are
/// kept beside the ledger until the app acknowledges the transfer. Nothing is remembered in memory, because a transfer
/// may begin in one launch of the app and end in another.
struct BackgroundFiles: Sendable {
    /// The most bytes of an answer that are kept.
    static let maximumAnswer = 1 << 20

    let folder: String
    /// Of the session: several may use one folder.
    let identifier: String

    /// Where the ledger is.
    var ledger: String { "\(folder)/\(identifier).ledger.json" }

    /// Where the answer to a transfer is kept.
    func answer(_ id: UUID) -> String { "\(folder)/\(prefix)\(id.uuidString)\(Self.suffix)" }

    private var prefix: String { identifier + "." }
    private static let suffix = ".answer"

    /// Takes a file that the system has downloaded and is about to remove.
    ///
    /// With a status of success it replaces the file at the download's target, in one step: a reader sees the old file
    /// or the new one. With any other status the target stays as it is.
    func take(_ file: String, of transfer: BackgroundTransfer, status: Int?) throws(NetworkError) {
        guard case .download(let target) = transfer.kind else { return }
        let isWanted = status.map { HTTPStatus($0).isSuccess } ?? false
        if isWanted {
            try replace(target, with: file)
        } else {
            guard size(of: file) <= UInt64(Self.maximumAnswer) else { return }
            // What a server answers is for the app alone.
            try replace(answer(transfer.id), with: file, mode: 0o600)
        }
    }

    /// Adds a piece of an answer. It goes on where an earlier launch of the app has ended.
    func append(_ data: Data, to id: UUID) throws(NetworkError) {
        let path = answer(id)
        do {
            try PrivateFile.create(path)
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            defer { try? handle.close() }
            let size = try handle.seekToEnd()
            guard size + UInt64(data.count) <= UInt64(Self.maximumAnswer) else {
                throw NetworkError(
                    .limitExceeded(.responseBody), detail: "The answer to the upload is longer than 1 MiB.")
            }
            try handle.write(contentsOf: data)
        } catch let error as NetworkError {
            throw error
        } catch {
            throw NetworkError(.storage, detail: "The answer cannot be written to \(path): \(error)", underlying: error)
        }
    }

    /// What came of a transfer that the system has ended: by `error`, or with `response`.
    func outcome(of transfer: BackgroundTransfer, _ response: HTTPResponse?, _ error: NetworkError?)
        -> BackgroundOutcome
    {
        guard error == nil, var response else {
            // A part of an answer is none.
            forget(transfer.id)
            return BackgroundOutcome(error ?? NetworkError(.badResponse, detail: "There was no answer."))
        }
        response.headers.declare(secret: Set((transfer.withheld ?? []).map { HTTPField.Name($0) }), harmless: [])
        let path: String
        if case .download(let target) = transfer.kind, response.status.isSuccess {
            path = target
        } else {
            path = answer(transfer.id)
        }
        return BackgroundOutcome(response, file: FileManager.default.fileExists(atPath: path) ? path : nil)
    }

    /// Removes the answer to a transfer. What was downloaded is the app's.
    func forget(_ id: UUID) {
        try? FileManager.default.removeItem(atPath: answer(id))
    }

    /// Removes the answers to transfers that are not in the ledger any more.
    func sweep(keeping known: Set<UUID>) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
            guard name.begins(with: prefix), name.ends(with: Self.suffix),
                let id = UUID(uuidString: String(name.dropFirst(prefix.count).dropLast(Self.suffix.count))),
                !known.contains(id)
            else { continue }
            forget(id)
        }
    }

    private func size(of path: String) -> UInt64 {
        let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber
        return size?.uint64Value ?? .max
    }

    /// - `mode`: the permissions of the file; nil leaves those that the system gave.
    private func replace(_ target: String, with file: String, mode: Int? = nil) throws(NetworkError) {
        // A file of another volume cannot get the name in one step: a copy beside the target can.
        let draft = "\(target).\(UUID().uuidString).new"
        do {
            if let mode { try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file) }
            try FileManager.default.moveItem(atPath: file, toPath: draft)
            do {
                try PrivateFile.move(draft, to: target)
            } catch {
                try? FileManager.default.removeItem(atPath: draft)
                throw error
            }
        } catch {
            throw NetworkError(
                .storage, detail: "The file cannot be put to \(target): \(error)",
                hint: "Make its folder before the transfer starts, and keep a directory from having its name.",
                underlying: error)
        }
    }
}
