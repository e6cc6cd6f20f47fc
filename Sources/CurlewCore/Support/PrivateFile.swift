// SPDX-License-Identifier: MIT

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Small files that are private to the user. They are replaced as a whole, so a crash leaves either the old or the new
/// file.
package enum PrivateFile {
    /// The failure of a system call, for the detail of an error.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
        package let isMissing: Bool
        /// What the user can do about it.
        package let hint: String?

        package init(_ action: String, _ path: String, _ code: Int32 = errno) {
            description = "\(path) cannot be \(action): \(String(cString: strerror(code)))"
            isMissing = code == ENOENT
            hint = nil
        }

        init(_ description: String, hint: String) {
            self.description = description
            isMissing = false
            self.hint = hint
        }
    }

    /// The owners whose files are read.
    package enum Trust {
        /// Files of any user.
        case anybody
        /// Files of this user.
        case owner
        /// Files of this user that no other user may read or change.
        case ownerAlone
    }

    /// Returns the bytes of a file; nil if it does not exist, cannot be read, or has more than `limit` bytes.
    package static func contents(of path: String, limit: Int) -> Data? {
        try? read(path, limit: limit)
    }

    /// Returns the bytes of a file of at most `limit`. Never blocks, even if the path is a named pipe.
    package static func read(
        _ path: String, limit: Int, trusting trust: Trust = .anybody
    ) throws(Failure) -> Data {
        if trust != .anybody { try check(path, trust) }
        // The path may refer to another file since the check.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | (trust == .anybody ? 0 : O_NOFOLLOW))
        guard file >= 0 else { throw Failure("read", path) }
        defer { close(file) }
        if trust != .anybody {
            var information = stat()
            guard fstat(file, &information) == 0 else { throw Failure("read", path) }
            try check(information, path, trust)
        }
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = Self.read(file, into: &buffer)
            guard count >= 0 else { throw Failure("read", path) }
            if count == 0 { return data }
            data.append(contentsOf: buffer[..<count])
            guard data.count <= limit else { throw Failure("read", path, EFBIG) }
        }
    }

    /// Throws if an existing file does not have this trust. Symbolic links are not followed: their creator would choose
    /// the file that is read or replaced.
    package static func check(_ path: String, _ trust: Trust = .owner) throws(Failure) {
        var information = stat()
        guard lstat(path, &information) == 0 else {
            guard errno != ENOENT else { return }
            throw Failure("read", path)
        }
        try check(information, path, trust)
    }

    static func check(_ information: stat, _ path: String, _ trust: Trust) throws(Failure) {
        guard information.st_mode & S_IFMT == S_IFREG else {
            throw Failure(
                "\(path) is not a regular file (for example a symbolic link, a folder or a pipe)",
                hint: "Specify the file itself, or another file.")
        }
        guard information.st_uid == geteuid() else {
            throw Failure(
                "\(path) belongs to another user (\(information.st_uid), this process is \(geteuid()))",
                hint: "Specify another file, or let its owner transfer it to you: chown \(geteuid()) \(path)")
        }
        let mode = information.st_mode & 0o777
        guard trust != .ownerAlone || mode & 0o077 == 0 else {
            throw Failure(
                "\(path) can be read or changed by other users (mode 0\(String(mode, radix: 8)))",
                hint: "If no other user can have changed it: chmod 600 \(path)")
        }
    }

    /// Creates an empty file that only its owner can read and write from the start. An existing file is kept.
    package static func create(_ path: String) throws(Failure) {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR)
        guard file >= 0 else {
            guard errno == EEXIST else { throw Failure("written", path) }
            return
        }
        close(file)
    }

    /// Replaces the file with `data`: readable by its owner only, and on the disk before the file is renamed.
    ///
    /// - `isDurable`: the new name is on the disk too on return, so that a power failure cannot restore the old file.
    /// - `isAlone`: there is no other writer. A killed process then leaves `draft(of: path)`, which the next one
    ///   replaces. Otherwise each draft has a unique name and is left behind.
    package static func replace(
        _ path: String, with data: Data, isDurable: Bool = false, isAlone: Bool = false
    ) throws(Failure) {
        let draft = isAlone ? draft(of: path) : "\(path).\(getpid()).\(UInt32.random(in: .min ... .max)).new"
        if isAlone { unlink(draft) }
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR)
        guard file >= 0 else { throw Failure("written", path) }
        let isWritten =
            data.withUnsafeBytes { write($0, to: file) } && (isDurable ? DiskSync.keep(file) : DiskSync.order(file))
        let code = errno
        guard close(file) == 0, isWritten else {
            unlink(draft)
            throw Failure("written", path, code)
        }
        try move(draft, to: path)
        if isDurable { synchronizeFolder(of: path) }
    }

    package static func draft(of path: String) -> String { path + ".new" }

    /// Removes the file. A missing file is not an error.
    package static func remove(_ path: String) throws(Failure) {
        guard unlink(path) == 0 || errno == ENOENT else { throw Failure("removed", path) }
        synchronizeFolder(of: path)
    }

    /// Some file systems do not support this, and do not need it.
    private static func synchronizeFolder(of path: String) {
        let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[...$0] } ?? "."
        let descriptor = open(String(folder), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        _ = DiskSync.keep(descriptor)
        close(descriptor)
    }

    /// Renames a file. An existing file of that name is replaced.
    package static func move(_ path: String, to other: String) throws(Failure) {
        guard rename(path, other) == 0 else {
            let failure = Failure("moved", path)
            if path.utf8.reversed().starts(with: ".new".utf8.reversed()) { unlink(path) }
            throw failure
        }
    }

    private static func read(_ file: Int32, into buffer: inout [UInt8]) -> Int {
        while true {
            #if canImport(Glibc)
            let count = Glibc.read(file, &buffer, buffer.count)
            #elseif canImport(Musl)
            let count = Musl.read(file, &buffer, buffer.count)
            #elseif canImport(Darwin)
            let count = Darwin.read(file, &buffer, buffer.count)
            #endif
            if count >= 0 || errno != EINTR { return count }
        }
    }

    /// Writes all of `bytes`, also for other types. If the result is false, `errno` has the reason.
    package static func write(_ bytes: UnsafeRawBufferPointer, to file: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = UnsafeRawBufferPointer(rebasing: rest)
            #if canImport(Glibc)
            let count = Glibc.write(file, piece.baseAddress, piece.count)
            #elseif canImport(Musl)
            let count = Musl.write(file, piece.baseAddress, piece.count)
            #elseif canImport(Darwin)
            let count = Darwin.write(file, piece.baseAddress, piece.count)
            #endif
            if count < 0, errno != EINTR { return false }
            rest = rest.dropFirst(max(0, count))
        }
        return true
    }
}
