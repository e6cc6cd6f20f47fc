// SPDX-License-Identifier: MIT

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A file that is written beside its place, under a name of its own, and takes the place when it is complete. Until
/// then, and if that never happens, what was there stays.
final class DraftFile: BodySink {
    private enum State {
        case open
        /// Without a name, and open as long as somebody may write to it.
        case discarded
        case closed
    }

    let path: String
    private let draft: String
    private let descriptor: Int32
    private let state = Locked(State.open)

    /// Makes the draft, with the permissions of the file that it will replace, or of any new file. Throws `.storage`.
    init(for path: String) throws(NetworkError) {
        self.path = path
        draft = "\(path).\(getpid()).\(UInt32.random(in: .min ... .max)).part"
        var status = stat()
        let isThere = stat(path, &status) == 0
        if isThere, status.st_mode & S_IFMT != S_IFREG {
            throw NetworkError(.storage, detail: "\(path) is there and is no regular file.", hint: "Name a file.")
        }
        // Nobody reads a part of what replaces a private file.
        let mode: mode_t = isThere ? 0o600 & status.st_mode : 0o666
        descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
        guard descriptor >= 0 else { throw Self.failure("written", path) }
        if isThere { fchmod(descriptor, status.st_mode & 0o777) }
    }

    /// What was given up stays open until here, when nobody can write to it any more: another file would get its number.
    deinit {
        discard()
        if state.withLock({ $0 }) != .closed { close(descriptor) }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(NetworkError) {
        guard PrivateFile.write(bytes, to: descriptor) else { throw Self.failure("written", path) }
    }

    /// Puts the file in its place. Nobody writes any more. Throws `.storage`, and nothing has changed then.
    func finish() throws(NetworkError) {
        state.withLock { $0 = .closed }
        // Some file systems tell only now that there was no room.
        guard close(descriptor) == 0, rename(draft, path) == 0 else {
            let failure = Self.failure("written", path)
            unlink(draft)
            throw failure
        }
    }

    /// Nothing comes of it, if it is not finished.
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
            hint: code == ENOSPC || code == EDQUOT ? "Make room on the disk." : "Check the path and its permissions.")
    }
}
