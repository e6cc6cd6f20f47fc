// SPDX-License-Identifier: MIT

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Synchronizes the content of a file to the disk.
///
/// On Apple platforms `fsync` only transfers the data to the disk, which may reorder writes and loses its cache on a
/// power failure. There are two stronger commands, which not every file system supports; others use `fsync`.
package enum DiskSync {
    /// A system command. Returns zero on success, otherwise `errno` has the reason.
    typealias Command = (Int32) -> Int32

    /// Synchronizes the file so that it survives a power failure. Takes up to tens of milliseconds. If the result is
    /// false, `errno` has the reason.
    package static func keep(_ file: Int32) -> Bool {
        #if canImport(Glibc) || canImport(Musl)
        run(nil, else: fsync, on: file)
        #else
        run({ fcntl($0, F_FULLFSYNC) }, else: fsync, on: file)
        #endif
    }

    /// Synchronizes the content of a file without its metadata.
    package static func keepContent(_ file: Int32) -> Bool {
        #if canImport(Glibc) || canImport(Musl)
        run(nil, else: fdatasync, on: file)
        #else
        keep(file)
        #endif
    }

    /// Guarantees that the file is on the disk before later writes, such as a new name of the file.
    static func order(_ file: Int32) -> Bool {
        #if canImport(Glibc) || canImport(Musl)
        keep(file)
        #else
        run({ fcntl($0, F_BARRIERFSYNC) }, else: fsync, on: file)
        #endif
    }

    /// Runs `strong`, or `plain` if the file system does not support it. A disk error is final: the other command is
    /// then not run.
    static func run(_ strong: Command?, else plain: Command, on file: Int32) -> Bool {
        if let strong {
            if repeated(strong, file) == 0 { return true }
            if errno == EIO || errno == ENOSPC { return false }
        }
        return repeated(plain, file) == 0
    }

    private static func repeated(_ command: Command, _ file: Int32) -> Int32 {
        while true {
            let result = command(file)
            if result == 0 || errno != EINTR { return result }
        }
    }
}
