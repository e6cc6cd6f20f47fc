// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation

/// The hash key for the credentials in the keys of a store's entries: 32 random bytes in a file next to the database,
/// readable for its owner only. All processes that use the store share the file.
///
/// A file that other users can read, or that belongs to another user, is not used: a new file replaces it, and entries
/// stored under the old secret are never found again.
enum StoreKey {
    static let length = 32

    /// Returns the secret in the file at `path`, creating the file if it does not exist; nil if the file cannot be
    /// created or read.
    static func at(_ path: String) -> Data? {
        // Another process may create or replace the file at the same time, so it is read again after it has been
        // created.
        for _ in 0..<3 {
            if let key = read(path) { return key }
            make(path)
        }
        return nil
    }

    private static func read(_ path: String) -> Data? {
        guard let key = try? PrivateFile.read(path, limit: length, trusting: .ownerAlone) else { return nil }
        return key.count == length ? key : nil
    }

    /// Creates the file with a new secret atomically. A valid file that another process has created in the meantime is
    /// kept.
    private static func make(_ path: String) {
        let draft = "\(path).\(getpid()).\(UInt32.random(in: .min ... .max)).new"
        let file = openFile(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
        guard file >= 0 else { return }
        defer { unlink(draft) }
        let secret = (0..<length).map { _ in UInt8.random(in: .min ... .max) }
        let isWritten = secret.withUnsafeBytes { PrivateFile.write($0, to: file) } && fsync(file) == 0
        guard close(file) == 0, isWritten else { return }
        if link(draft, path) == 0 || errno != EEXIST || read(path) != nil { return }
        // The existing file does not contain a valid secret.
        _ = rename(draft, path)
    }
}
