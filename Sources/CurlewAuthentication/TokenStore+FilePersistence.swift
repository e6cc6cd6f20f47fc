// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewFoundation

extension TokenStore {
    /// A token storage in a file that only its owner can read and write (mode 0600). Create it with `.file(path)`.
    ///
    /// A save replaces the file atomically. When it returns, the file and its directory entry are on disk. A crash
    /// leaves either the old tokens or the new tokens.
    ///
    /// Several processes may share the file. One process refreshes the tokens; the others wait and use the result, so
    /// that each set of tokens is sent to the server for a refresh only once. The locks are the files `<path>.lock` and
    /// `<path>.renewal`, which are removed on release. The system releases a lock when the process that holds it ends,
    /// even if that process crashes or is killed. If the folder is not writable, or the file system has no locks, the
    /// processes refresh without coordination.
    ///
    /// The file belongs to the store. The store accepts only a regular file that belongs to this user and that no other
    /// user can read or change. The table shows what happens to any other file. `.storage` means that the operation
    /// throws this error and does not change the file:
    ///
    /// | existing file | loading | signing in | signing out |
    /// |---|---|---|---|
    /// | another user's file, a symbolic link, a pipe, a folder | `.storage` | `.storage` | `.storage` |
    /// | a file that others can read or change | `.storage` | replaces it | removes it |
    /// | damaged, or of a newer version | `.storage` | replaces it | removes it |
    /// | never contained tokens | `.storage` | renames it, `<path>.damaged-<milliseconds>` | removes it |
    ///
    /// The tokens are not encrypted; use `.keychain` where it is available.
    public struct FilePersistence: TokenStore.Persistence {
        /// The path of the file. Its folder must exist.
        public let path: String

        /// The maximum size of a token file, 1 MiB. A larger file is not read.
        static let limit = 1 << 20
        /// The maximum wait for the write lock. A process that is suspended while it writes may hold the lock forever.
        static let lockTimeout: Duration = .seconds(10)

        /// Creates a token storage in the file at `path`. The first save creates the file.
        public init(_ path: String) {
            self.path = path
        }

        /// Returns the stored tokens; nil if there is no file. Never changes the file. Throws `.storage` if the file
        /// cannot be read or is not accepted.
        public func load() async throws(NetworkError) -> Tokens? {
            do throws(StoredTokens.Problem) { return try contents() } catch { throw Self.error(error, path) }
        }

        /// Replaces the stored tokens with `tokens`; nil removes the file. Throws `.storage` if that fails, or another
        /// process writes for more than 10 s, and `.cancelled`; the old tokens then remain stored.
        public func save(_ tokens: Tokens?) async throws(NetworkError) {
            let lock = try await lockForWriting()
            defer { lock?.release() }
            try write(tokens, isAlone: lock != nil)
        }

        private func contents() throws(StoredTokens.Problem) -> Tokens? {
            let data: Data
            do {
                data = try PrivateFile.read(path, limit: Self.limit, trusting: .ownerAlone)
            } catch {
                if error.isMissing { return nil }
                throw .unreadable(error)
            }
            return try StoredTokens.decode(data)
        }

        private func write(_ tokens: Tokens?, isAlone: Bool) throws(NetworkError) {
            do throws(PrivateFile.Failure) {
                try PrivateFile.check(path)
            } catch {
                throw Self.error(.unreadable(error), path)
            }
            let data = try tokens.map { tokens throws(NetworkError) in try StoredTokens.encode(tokens) }
            do throws(PrivateFile.Failure) {
                guard let data else {
                    // Removes the draft that a process left when it was killed during a write.
                    if isAlone { try PrivateFile.remove(PrivateFile.draft(of: path)) }
                    return try PrivateFile.remove(path)
                }
                try setAsideIfForeign()
                try PrivateFile.replace(path, with: data, isDurable: true, isAlone: isAlone)
            } catch {
                throw NetworkError(
                    .storage, detail: "\(error). The tokens are used until the process ends.",
                    hint: error.hint ?? "Check the folder and its permissions.")
            }
        }

        /// Renames an existing file that never contained tokens, so that a wrong path does not destroy a user's file. A
        /// file that once contained tokens is not renamed, because its secrets must be removed.
        private func setAsideIfForeign() throws(PrivateFile.Failure) {
            do throws(PrivateFile.Failure) {
                let old = try PrivateFile.read(path, limit: Self.limit, trusting: .owner)
                if (try? StoredTokens.decode(old)) != nil || StoredTokens.mayBeTokens(old) { return }
            } catch {
                if error.isMissing { return }
            }
            try PrivateFile.move(path, to: "\(path).damaged-\(Int64(Date().timeIntervalSince1970 * 1000))")
        }

        private static func error(_ problem: StoredTokens.Problem, _ path: String) -> NetworkError {
            let replaced = "Sign in again to replace it, or sign out to remove it."
            return switch problem {
            case .damaged:
                NetworkError(.storage, detail: "\(path) is damaged: it contains no tokens.", hint: replaced)
            case .newer(let version):
                NetworkError(
                    .storage, detail: "\(path) has version \(version); this package supports \(StoredTokens.version).",
                    hint: replaced)
            case .unreadable(let failure):
                NetworkError(
                    .storage, detail: "\(failure).", hint: failure.hint ?? "Check the file and its permissions.")
            }
        }
    }
}

extension TokenStore.FilePersistence: SharedTokens {
    func lockForRenewal(until deadline: SystemTime.Deadline, on time: any TimeSource) async throws -> FileLock? {
        try await lock("\(path).renewal", until: deadline, on: time)
    }

    func replace(_ old: Tokens?, with new: Tokens?) async throws(NetworkError) -> StoredTokens.Replacement {
        let lock = try await lockForWriting()
        defer { lock?.release() }
        do throws(StoredTokens.Problem) {
            let kept = try contents()
            if let kept, !kept.isSame(as: old) { return .other(kept) }
            if kept == nil, old != nil { return .other(nil) }
        } catch {
            // A file that cannot be read does not contain newer tokens from another process.
        }
        try write(new, isAlone: lock != nil)
        return .replaced
    }

    private func lockForWriting() async throws(NetworkError) -> FileLock? {
        let time = SystemTime()
        do {
            return try await lock(
                "\(path).lock", until: SystemTime.Deadline(Self.lockTimeout, after: time.now), on: time)
        } catch is DeadlinePassed {
            throw NetworkError(
                .storage, detail: "Another process has held \(path).lock for \(Self.lockTimeout.brief).",
                hint: "Check whether a process stopped while it was writing.")
        } catch {
            throw NetworkError(error)
        }
    }

    /// Waits until the lock file is free, and locks it. Returns nil if locks are not available: the processes then work
    /// without coordination.
    private func lock(_ name: String, until deadline: SystemTime.Deadline, on time: any TimeSource) async throws
        -> FileLock?
    {
        do {
            return try await FileLock.wait(for: name, until: deadline, on: time)
        } catch is PrivateFile.Failure {
            return nil
        }
    }
}

extension TokenStore.FilePersistence: CustomStringConvertible {
    /// `TokenStore.FilePersistence`, with the path of the file.
    public var description: String { "TokenStore.FilePersistence(\(path))" }
}

extension TokenStore.Persistence where Self == TokenStore.FilePersistence {
    /// Stores tokens in a file that only its owner can read and write. See `TokenStore.FilePersistence`.
    public static func file(_ path: String) -> TokenStore.FilePersistence { TokenStore.FilePersistence(path) }
}
