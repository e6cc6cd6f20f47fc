// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import Foundation

/// Stores the files of background transfers: downloads and response bodies.
///
/// A download is moved to the path that the app chose. Other response bodies, such as the response to an upload or the
/// body of a 404, are stored next to the ledger until the app acknowledges the transfer. No state is kept in memory,
/// because a transfer may start in one launch of the app and end in another.
struct BackgroundFiles: Sendable {
    /// The maximum size in bytes of a stored response body.
    static let maximumResponse = 1 << 20

    let folder: String
    /// The identifier of the session, which is part of each file name because several sessions may share a folder.
    let identifier: String

    /// The path of the ledger file.
    var ledger: String { "\(folder)/\(identifier).ledger.json" }

    /// Returns the path at which the response body of a transfer is stored.
    func responsePath(_ id: UUID) -> String { "\(folder)/\(prefix)\(id.uuidString)\(Self.suffix)" }

    /// Returns the path of the response body of a call.
    func downloadPath(_ id: UUID) -> String { "\(folder)/\(prefix)\(id.uuidString)\(Self.downloadSuffix)" }

    /// Returns the path of the request body of a call, if it was in memory.
    private func bodyPath(_ id: UUID) -> String { "\(folder)/\(prefix)\(id.uuidString)\(Self.bodySuffix)" }

    private var prefix: String { identifier + "." }
    private static let suffix = ".answer"
    private static let downloadSuffix = ".download"
    private static let bodySuffix = ".body"

    /// Writes the request body of a call to a file that only the owner can read. Returns its path.
    func keepBody(_ data: Data, of id: UUID) throws(NetworkError) -> String {
        let path = bodyPath(id)
        do {
            try PrivateFile.replace(path, with: data)
            return path
        } catch {
            throw NetworkError(
                .storage, detail: "The request body cannot be written to \(path): \(error)", underlying: error)
        }
    }

    /// Moves the file of a finished download before the system removes it.
    ///
    /// With a success status, the file atomically replaces the file at the path that the app chose. With any other
    /// status, that file is unchanged, and the response body is stored for the outcome if it has at most 1 MiB.
    func take(_ file: String, of transfer: BackgroundTransfer, status: Int?) throws(NetworkError) {
        guard case .download(let target) = transfer.kind else { return }
        let isWanted = status.map { HTTPStatus($0).isSuccess } ?? false
        if isWanted {
            // The body of a call is private until the call has read it. A file that the app chose keeps its permissions.
            try replace(target, with: file, mode: transfer.callIdentifier == nil ? nil : 0o600)
        } else {
            guard size(of: file) <= UInt64(Self.maximumResponse) else { return }
            // Response bodies are readable only by the app.
            try replace(responsePath(transfer.id), with: file, mode: 0o600)
        }
    }

    /// Appends a piece of a response body to its file, which an earlier launch of the app may have begun. Throws if the
    /// body exceeds 1 MiB.
    func append(_ data: Data, to id: UUID) throws(NetworkError) {
        let path = responsePath(id)
        do {
            try PrivateFile.create(path)
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            defer { try? handle.close() }
            let size = try handle.seekToEnd()
            guard size + UInt64(data.count) <= UInt64(Self.maximumResponse) else {
                throw NetworkError(
                    .limitExceeded(.responseBody), detail: "The response to the upload is longer than 1 MiB.")
            }
            try handle.write(contentsOf: data)
        } catch let error as NetworkError {
            throw error
        } catch {
            throw NetworkError(
                .storage, detail: "The response cannot be written to \(path): \(error)", underlying: error)
        }
    }

    /// Returns the outcome of a transfer that ended with `error` or with `response`.
    func outcome(of transfer: BackgroundTransfer, _ response: HTTPResponse?, _ error: NetworkError?)
        -> BackgroundOutcome
    {
        guard error == nil, var response else {
            // An incomplete response is discarded.
            forget(transfer.id)
            return BackgroundOutcome(error ?? NetworkError(.badResponse, detail: "There was no response."))
        }
        response.headers.declare(secret: Set((transfer.withheld ?? []).map { HTTPField.Name($0) }), harmless: [])
        let path: String
        if case .download(let target) = transfer.kind, response.status.isSuccess {
            path = target
        } else {
            path = responsePath(transfer.id)
        }
        return BackgroundOutcome(response, file: FileManager.default.fileExists(atPath: path) ? path : nil)
    }

    /// Removes the stored response body of a transfer. A downloaded file is kept.
    func forget(_ id: UUID) {
        try? FileManager.default.removeItem(atPath: responsePath(id))
    }

    /// Removes the stored bodies of a transfer. A file that the app chose is kept.
    func remove(_ id: UUID) {
        for path in [responsePath(id), downloadPath(id), bodyPath(id)] {
            try? FileManager.default.removeItem(atPath: path)
        }
    }

    /// Removes the stored response bodies of transfers that are no longer in the ledger.
    func sweep(keeping known: Set<UUID>) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
            let suffix = [Self.suffix, Self.downloadSuffix, Self.bodySuffix].first { name.ends(with: $0) }
            guard name.begins(with: prefix), let suffix,
                let id = UUID(uuidString: String(name.dropFirst(prefix.count).dropLast(suffix.count))),
                !known.contains(id)
            else { continue }
            remove(id)
        }
    }

    private func size(of path: String) -> UInt64 {
        let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber
        return size?.uint64Value ?? .max
    }

    /// Atomically replaces the file at `target` with `file`.
    ///
    /// - `mode`: the permissions of the new file; nil keeps the current permissions of `file`.
    private func replace(_ target: String, with file: String, mode: Int? = nil) throws(NetworkError) {
        // A file on another volume cannot be renamed atomically. A copy of it next to the target can.
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
                .storage, detail: "The file cannot be moved to \(target): \(error)",
                hint: "Create its folder before the transfer starts, and use a name that no folder has.",
                underlying: error)
        }
    }
}
