// SPDX-License-Identifier: MIT

import CurlewFoundation

/// A lock on a file (`flock`), held by one holder at a time, in this process or another one.
///
/// The system releases the lock when the process that holds it ends, even if that process crashes or is killed. The
/// file is removed on release. If a killed process left its file, the next holder reuses it.
package final class FileLock: Sendable {
    private let path: String
    private let descriptor: Locked<Int32?>

    private init(_ descriptor: Int32, _ path: String) {
        self.descriptor = Locked(descriptor)
        self.path = path
    }

    deinit { release() }

    /// Acquires the lock without waiting. Returns nil if another holder has it.
    ///
    /// Throws if the file cannot be opened or locked, or belongs to another user.
    package static func attempt(_ path: String) throws(PrivateFile.Failure) -> FileLock? {
        // Repeats if the previous holder removed the file between `open` and `flock`.
        for _ in 0..<100 {
            let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, S_IRUSR | S_IWUSR)
            guard file >= 0 else { throw PrivateFile.Failure("locked", path) }
            guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
                let code = errno
                close(file)
                guard code == EWOULDBLOCK || code == EINTR else { throw PrivateFile.Failure("locked", path, code) }
                return nil
            }
            let (isNamed, isOwn) = identity(of: file, path)
            if isNamed, isOwn { return FileLock(file, path) }
            close(file)
            // The file belongs to another user, who could hold the lock forever.
            if isNamed { throw PrivateFile.Failure("locked", path, EPERM) }
        }
        return nil
    }

    /// Waits until the lock is free, and acquires it. The file is polled at intervals of 2 ms that double up to 50 ms.
    ///
    /// Throws `DeadlinePassed` after `deadline`, `CancellationError` if the task is cancelled, and the errors that
    /// `attempt(_:)` throws.
    package static func wait(
        for path: String, until deadline: SystemTime.Deadline, on time: any TimeSource
    ) async throws -> FileLock {
        var pause = Duration.milliseconds(2)
        while true {
            if let lock = try attempt(path) { return lock }
            let now = time.now
            if deadline.hasPassed(at: now) { throw DeadlinePassed() }
            let next = now.advanced(by: pause)
            try await time.sleep(until: min(next, deadline.instant ?? next))
            pause = min(pause * 2, .milliseconds(50))
        }
    }

    /// Releases the lock and removes the file. Further calls have no effect. Deinitialization also releases the lock.
    package func release() {
        descriptor.withLock { descriptor in
            guard let file = descriptor else { return }
            // Removes the file while it is locked, so that the file of a later holder is not removed. Another process
            // may already have removed it.
            if Self.identity(of: file, path).isNamed { unlink(path) }
            close(file)
            descriptor = nil
        }
    }

    /// Returns whether the path still refers to the open file, and whether that file belongs to this user.
    private static func identity(of file: Int32, _ path: String) -> (isNamed: Bool, isOwn: Bool) {
        var (mine, named) = (stat(), stat())
        guard fstat(file, &mine) == 0, lstat(path, &named) == 0 else { return (false, false) }
        return (mine.st_ino == named.st_ino && mine.st_dev == named.st_dev, mine.st_uid == geteuid())
    }
}
