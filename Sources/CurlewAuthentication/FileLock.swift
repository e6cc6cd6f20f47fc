// SPDX-License-Identifier: MIT

import CurlewCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A lock between processes, and between the stores of one process: a file that one of them has locked (`flock`).
///
/// The system releases it when its holder ends, however that happens. The file is removed on release; a file that a
/// killed process left is reused.
final class FileLock: Sendable {
    private let path: String
    private let descriptor: Locked<Int32?>

    private init(_ descriptor: Int32, _ path: String) {
        self.descriptor = Locked(descriptor)
        self.path = path
    }

    deinit { release() }

    /// Returns the lock; nil if another holder has it.
    static func attempt(_ path: String) throws(PrivateFile.Failure) -> FileLock? {
        // Repeats if the previous holder removed the file between the two steps.
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
            // The owner of the file could hold the lock forever.
            if isNamed { throw PrivateFile.Failure("locked", path, EPERM) }
        }
        return nil
    }

    /// Acquires the lock as soon as it is free, by polling at most 50 ms apart.
    ///
    /// Throws `DeadlinePassed`, `CancellationError`, and the errors of `attempt`.
    static func wait(for path: String, until deadline: Deadline, on time: any TimeSource) async throws -> FileLock {
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

    /// Releases the lock, at most once. Deinitialization also releases it.
    func release() {
        descriptor.withLock { descriptor in
            guard let file = descriptor else { return }
            // Removes the file while it is locked, so that only this file is removed; another process may have removed
            // it already.
            if Self.identity(of: file, path).isNamed { unlink(path) }
            close(file)
            descriptor = nil
        }
    }

    /// Returns whether the path still refers to the locked file, and whether the file belongs to this user.
    private static func identity(of file: Int32, _ path: String) -> (isNamed: Bool, isOwn: Bool) {
        var (mine, named) = (stat(), stat())
        guard fstat(file, &mine) == 0, lstat(path, &named) == 0 else { return (false, false) }
        return (mine.st_ino == named.st_ino && mine.st_dev == named.st_dev, mine.st_uid == geteuid())
    }
}
