// SPDX-License-Identifier: MIT

import CurlewCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A draft that is written in the folder of its target, under a separate name, and replaces the target when it is
/// complete. Until then the target is unchanged.
final class PartialFile: BodySink {
    private enum State {
        case open
        /// The file has no name any more, and stays open while a write may still be running.
        case discarded
        case closed
    }

    let path: String
    private let draft: String
    private let descriptor: Int32
    private let state = Locked(State.open)

    /// Creates the draft, with the permissions of the file that it will replace, or of any new file. Throws `.storage`.
    init(for path: String) throws(NetworkError) {
        self.path = path
        draft = "\(path).\(getpid()).\(UInt32.random(in: .min ... .max)).part"
        var status = stat()
        let isThere = stat(path, &status) == 0
        if isThere, status.st_mode & S_IFMT != S_IFREG {
            throw NetworkError(.storage, detail: "\(path) exists and is not a regular file.", hint: "Name a file.")
        }
        // The draft of a private file must not be readable by others.
        let mode: mode_t = isThere ? 0o600 & status.st_mode : 0o666
        descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
        guard descriptor >= 0 else { throw Self.failure("written", path) }
        if isThere { fchmod(descriptor, status.st_mode & 0o777) }
    }

    /// A discarded file stays open until here, when no write can be running: another file would receive its descriptor.
    deinit {
        discard()
        if state.withLock({ $0 }) != .closed { close(descriptor) }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(NetworkError) {
        guard PrivateFile.write(bytes, to: descriptor) else { throw Self.failure("written", path) }
    }

    /// Moves the file to its target. No write may be running. Throws `.storage`, and the target is then unchanged.
    func finish() throws(NetworkError) {
        state.withLock { $0 = .closed }
        // Some file systems report a full disk only on close.
        guard close(descriptor) == 0, rename(draft, path) == 0 else {
            let failure = Self.failure("written", path)
            unlink(draft)
            throw failure
        }
    }

    /// Removes the draft, unless it is finished.
    func discard() {
        let wasOpen = state.withLock { state in
            defer { if state == .open { state = .discarded } }
            return state == .open
        }
        if wasOpen { unlink(draft) }
    }

    private static func failure(_ action: String, _ path: String) -> NetworkError {
        let code = errno
        return NetworkError(
            .storage, detail: PrivateFile.Failure(action, path, code).description,
            hint: code == ENOSPC || code == EDQUOT ? "Free disk space." : "Check the path and its permissions.")
    }
}
