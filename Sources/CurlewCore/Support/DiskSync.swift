// SPDX-License-Identifier: MIT

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What has been written to a file is brought to the disk.
///
/// On Apple's systems `fsync` only hands it to the disk, which writes in an order of its own, and whose memory a power cut
/// empties. There are two further commands, which not every file system knows; one without them gets `fsync`.
package enum DiskSync {
    /// A command of the system; zero for success, otherwise `errno` says why not.
    typealias Command = (Int32) -> Int32

    /// It is there on return, and not even a power cut takes it away. Costs up to tens of milliseconds. When false,
    /// `errno` says why.
    package static func keep(_ file: Int32) -> Bool {
        #if canImport(Glibc) || canImport(Musl)
        run(nil, else: fsync, on: file)
        #else
        run({ fcntl($0, F_FULLFSYNC) }, else: fsync, on: file)
        #endif
    }

    /// The same for the content of a file, without what else the system knows of it.
    package static func keepContent(_ file: Int32) -> Bool {
        #if canImport(Glibc) || canImport(Musl)
        run(nil, else: fdatasync, on: file)
        #else
        keep(file)
        #endif
    }

    /// It is on the disk before whatever is written afterwards, such as a new name of the file.
    static func order(_ file: Int32) -> Bool {
        #if canImport(Glibc) || canImport(Musl)
        keep(file)
        #else
        run({ fcntl($0, F_BARRIERFSYNC) }, else: fsync, on: file)
        #endif
    }

    /// Runs `strong`, and `plain` if the file system does not know that. An error of the disk is final: another command
    /// need not hear of it again.
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
