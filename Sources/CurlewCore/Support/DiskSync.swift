// SPDX-License-Identifier: MIT

import CurlewFoundation

/// Forces the content of files to the disk.
///
/// On Apple platforms, `fsync` only transfers the data to the disk, which may reorder writes and loses its cache in a
/// power failure. Two `fcntl` commands give stronger guarantees. On file systems that do not support them, `fsync` is
/// used.
package enum DiskSync {
    /// A system call on a file descriptor. Returns zero on success; otherwise `errno` has the reason.
    typealias Command = (Int32) -> Int32

    /// Forces the file to the disk, so that it survives a power failure. Takes up to tens of milliseconds. Returns
    /// false on failure; `errno` then has the reason.
    package static func keep(_ file: Int32) -> Bool {
        #if canImport(Darwin)
        run({ fcntl($0, F_FULLFSYNC) }, else: fsync, on: file)
        #else
        run(nil, else: fsync, on: file)
        #endif
    }

    /// Forces the content of a file to the disk, without metadata that is not needed to read it. On Apple platforms,
    /// this is the same as `keep`.
    package static func keepContent(_ file: Int32) -> Bool {
        #if canImport(Darwin)
        keep(file)
        #else
        run(nil, else: fdatasync, on: file)
        #endif
    }

    /// Guarantees that the file reaches the disk before any later write, such as a rename of the file.
    static func order(_ file: Int32) -> Bool {
        #if canImport(Darwin)
        run({ fcntl($0, F_BARRIERFSYNC) }, else: fsync, on: file)
        #else
        keep(file)
        #endif
    }

    /// Runs `strong`, or `plain` if there is no `strong` or the file system does not support it. A disk error (EIO,
    /// ENOSPC) is final: `plain` is then not run.
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
