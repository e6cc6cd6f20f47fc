// SPDX-License-Identifier: MIT

import CurlewCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Keeps the descriptor of one upload where the options say.
struct UploadStore: Sendable {
    private static let mostBytes = 256 << 10

    private let storage: Upload.Options.Storage
    /// The file of the descriptor; nil if no file has it.
    let file: String?

    init(_ storage: Upload.Options.Storage, path: String?) throws(NetworkError) {
        self.storage = storage
        switch storage {
        case .none, .custom: file = nil
        case .file(let path): file = path
        case .besideSource:
            guard let path else {
                throw NetworkError(
                    .invalidRequest, detail: "Only a file has a place beside it for the descriptor of its upload.",
                    hint: "Use the storage .file(path) or .custom.")
            }
            file = Self.path(besideFile: path)
        }
    }

    static func path(besideFile path: String) -> String { path + ".curlew-upload" }

    /// Returns the descriptor of an earlier call; nil if there is none, or if it cannot be decoded.
    func load() throws(NetworkError) -> Upload.Descriptor? {
        guard let file else { return nil }
        return try Self.load(file)
    }

    static func load(_ file: String) throws(NetworkError) -> Upload.Descriptor? {
        do {
            // A descriptor of another user could send the content elsewhere.
            let data = try PrivateFile.read(file, limit: mostBytes, trusting: .ownerAlone)
            var descriptor = try? JSONDecoder().decode(Upload.Descriptor.self, from: data)
            guard descriptor?.isValid == true else { return nil }
            descriptor?.file = file
            return descriptor
        } catch {
            if error.isMissing { return nil }
            throw NetworkError(.storage, detail: error.description, hint: error.hint)
        }
    }

    /// Keeps a descriptor.
    func save(_ descriptor: Upload.Descriptor) throws(NetworkError) {
        if case .custom(let keep) = storage { return keep(descriptor) }
        guard let file else { return }
        do {
            try PrivateFile.replace(file, with: try JSONEncoder().encode(descriptor), isDurable: true, isAlone: true)
        } catch {
            throw NetworkError(
                .storage, detail: "The descriptor of the upload cannot be kept: \(error)",
                hint: "Check the folder and its permissions, or use another options.storage.")
        }
    }

    /// Removes the descriptor.
    func remove() {
        if case .custom(let keep) = storage { keep(nil) }
        if let file { Self.remove(file) }
    }

    /// Removes a descriptor, and the draft that a killed process may have left.
    static func remove(_ file: String) {
        try? PrivateFile.remove(PrivateFile.draft(of: file))
        try? PrivateFile.remove(file)
    }
}

/// The uploads that this process transfers now, so that two calls never transfer the same one.
final class UploadClaim: Sendable {
    private static let all = Locked<Set<String>>([])
    private let mine = Locked<Set<String>>([])

    /// Claims an upload, by its URL or by the file of its descriptor. Throws `.refused(by: .uploadInProgress)` if
    /// another call has it.
    func add(_ key: String) throws(NetworkError) {
        guard take(key) else {
            throw NetworkError(
                .refused(by: .uploadInProgress), detail: "Another call of this process transfers the same upload.",
                hint: "Wait for it, or cancel it first.")
        }
    }

    /// Claims an upload that the server has just created. A URL that another call has is no conflict: only servers of
    /// tests give the same one twice.
    func addCreated(_ url: String) {
        _ = take(url)
    }

    /// Returns whether this call has the upload.
    private func take(_ key: String) -> Bool {
        if mine.withLock({ $0.contains(key) }) { return true }
        guard Self.all.withLock({ $0.insert(key).inserted }) else { return false }
        mine.withLock { _ = $0.insert(key) }
        return true
    }

    deinit {
        let keys = mine.withLock { $0 }
        Self.all.withLock { $0.subtract(keys) }
    }
}
