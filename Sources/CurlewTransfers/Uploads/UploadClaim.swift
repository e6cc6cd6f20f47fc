// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation

/// The uploads that a call transfers, so that two calls never transfer the same one: by their URLs in this process, and
/// by a lock on the file of their descriptor in all processes.
final class UploadClaim: Sendable {
    private static let all = Locked<Set<String>>([])
    private let mine = Locked<Set<String>>([])
    private let lock = Locked<FileLock?>(nil)

    deinit { release() }

    /// Claims an upload by its URL. Throws `.refused(by: .uploadInProgress)` if another call has it.
    func add(_ url: String) throws(NetworkError) {
        guard take(url) else { throw Self.refused("Another call of this process transfers the same upload.") }
    }

    /// Claims an upload by the file of its descriptor, with a lock beside it (`<file>.lock`). Throws `.storage` if no
    /// lock is possible, and `.refused(by: .uploadInProgress)` if another call or another process has it.
    func add(file: String) throws(NetworkError) {
        if lock.withLock({ $0 != nil }) { return }
        let found: FileLock?
        do throws(PrivateFile.Failure) {
            found = try FileLock.attempt(file + ".lock")
        } catch {
            throw NetworkError(
                .storage, detail: error.description,
                hint: "Check the folder and its permissions, or use another options.storage.")
        }
        guard let found else {
            throw Self.refused("Another call or process transfers the same upload: it has locked \(file).")
        }
        lock.withLock { $0 = found }
    }

    /// Ends all claims. Further calls have no effect.
    func release() {
        let keys = mine.withLock { keys in
            defer { keys = [] }
            return keys
        }
        Self.all.withLock { $0.subtract(keys) }
        lock.withLock { lock in
            lock?.release()
            lock = nil
        }
    }

    /// Claims an upload that the server has just created. Returns whether this call has it: only servers of tests give
    /// the URL of another call.
    @discardableResult
    func take(_ key: String) -> Bool {
        if mine.withLock({ $0.contains(key) }) { return true }
        guard Self.all.withLock({ $0.insert(key).inserted }) else { return false }
        mine.withLock { _ = $0.insert(key) }
        return true
    }

    private static func refused(_ detail: String) -> NetworkError {
        NetworkError(
            .refused(by: .uploadInProgress), detail: detail, hint: "Wait until it has ended, or cancel it first.")
    }
}

/// Stores the descriptor of one upload where the options specify.
struct UploadStore: Sendable {
    private static let maximumBytes = 256 << 10

    /// The file of the descriptor; nil if no file has it.
    let file: String?

    init(file: String?) { self.file = file }

    /// The file beside the source at `path`.
    init(besideFile path: String) { file = path + ".curlew-upload" }

    init(_ storage: Upload.Options.Storage, path: String?) throws(NetworkError) {
        switch storage {
        case .none: self.init(file: nil)
        case .file(let path): self.init(file: path)
        case .besideSource:
            guard let path else {
                throw NetworkError(
                    .invalidRequest, detail: "The storage .besideSource needs a file as the source.",
                    hint: "Use the storage .file(path) instead.")
            }
            self.init(besideFile: path)
        }
    }

    /// Returns the descriptor of an earlier call; nil if there is none, or if it cannot be decoded.
    func load() throws(NetworkError) -> Upload.Descriptor? {
        guard let file else { return nil }
        do {
            // A descriptor of another user could send the content elsewhere.
            let data = try PrivateFile.read(file, limit: Self.maximumBytes, trusting: .ownerAlone)
            var descriptor = try? JSONDecoder().decode(Upload.Descriptor.self, from: data)
            guard descriptor?.isValid == true else { return nil }
            descriptor?.file = file
            return descriptor
        } catch {
            if error.isMissing { return nil }
            throw NetworkError(.storage, detail: error.description, hint: error.hint)
        }
    }

    func save(_ descriptor: Upload.Descriptor) throws(NetworkError) {
        guard let file else { return }
        do {
            try PrivateFile.replace(file, with: try JSONEncoder().encode(descriptor), isDurable: true, isAlone: true)
        } catch {
            throw NetworkError(
                .storage, detail: "The descriptor of the upload cannot be kept: \(error)",
                hint: "Check the folder and its permissions, or use another options.storage.")
        }
    }

    /// Removes the descriptor, and the draft that a killed process may have left.
    func remove() {
        guard let file else { return }
        try? PrivateFile.remove(PrivateFile.draft(of: file))
        try? PrivateFile.remove(file)
    }
}
