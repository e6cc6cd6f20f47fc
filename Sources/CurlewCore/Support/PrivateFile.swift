// SPDX-License-Identifier: MIT

package import CurlewFoundation
import CurlewHTTP

/// Reads and writes small files that are private to the user. A file is replaced atomically, so a crash leaves either
/// the old or the new content.
package enum PrivateFile {
    /// The error of a file operation. Its description becomes the detail of a `NetworkError`.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
        package let isMissing: Bool
        /// The advice for the user; nil if there is none.
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

    /// The requirements that a file must meet before it is read or replaced.
    package enum Trust {
        /// No requirement: files of any user.
        case anyUser
        /// Regular files that belong to the user of this process.
        case owner
        /// Regular files that belong to the user of this process, and that no other user may read or change.
        case ownerAlone
    }

    /// Returns the bytes of a file. Throws if the file cannot be read, has more than `limit` bytes, or is not trusted.
    /// Never blocks, even if the path is a named pipe.
    package static func read(
        _ path: String, limit: Int, trusting trust: Trust = .anyUser
    ) throws(Failure) -> Data {
        if trust != .anyUser { try check(path, trust) }
        // The path may by now refer to a different file from the one checked, so the open file is checked again.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | (trust == .anyUser ? 0 : O_NOFOLLOW))
        guard file >= 0 else { throw Failure("read", path) }
        defer { close(file) }
        if trust != .anyUser {
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

    /// Throws if the file exists and does not meet the requirements of `trust`, or cannot be examined. A symbolic link
    /// does not meet them, because its creator would choose the file that is read or replaced.
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

    /// Creates an empty file that, from the start, only its owner can read and write. An existing file is kept.
    package static func create(_ path: String) throws(Failure) {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR)
        guard file >= 0 else {
            guard errno == EEXIST else { throw Failure("written", path) }
            return
        }
        close(file)
    }

    /// Replaces the content of the file with `data`. The content is written to a draft, which only its owner can read.
    /// The draft reaches the disk before it is renamed to `path`. After an error, the file is unchanged.
    ///
    /// - `isDurable`: whether the rename is also on the disk on return, so that a power failure cannot restore the old
    ///   file.
    /// - `isAlone`: whether there is no other writer. The draft is then `draft(of: path)`. If the process is killed,
    ///   the draft is left behind and the next call replaces it. Otherwise each draft has a unique name, and no call
    ///   removes it.
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

    /// Forces the entries of the folder to the disk. Errors are ignored: a file system that does not support this does
    /// not need it.
    package static func synchronizeFolder(of path: String) {
        let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[...$0] } ?? "."
        let descriptor = open(String(folder), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        _ = DiskSync.keep(descriptor)
        close(descriptor)
    }

    /// Renames a file and replaces an existing file of that name. On failure, a draft (a name with the suffix `.new`)
    /// is removed.
    package static func move(_ path: String, to other: String) throws(Failure) {
        guard rename(path, other) == 0 else {
            let failure = Failure("moved", path)
            if path.ends(with: ".new") { unlink(path) }
            throw failure
        }
    }

    private static func read(_ file: Int32, into buffer: inout [UInt8]) -> Int {
        while true {
            let count = readBytes(file, &buffer)
            if count >= 0 || errno != EINTR { return count }
        }
    }

    /// Writes all of `bytes` to the file. Returns false on failure; `errno` then has the reason.
    package static func write(_ bytes: UnsafeRawBufferPointer, to file: Int32) -> Bool {
        var remainder = bytes[...]
        while !remainder.isEmpty {
            let piece = UnsafeRawBufferPointer(rebasing: remainder)
            let count = writeBytes(file, piece)
            if count < 0, errno != EINTR { return false }
            remainder = remainder.dropFirst(max(0, count))
        }
        return true
    }
}

// Inside the type, its members hide these functions of the C library.
private func readBytes(_ file: Int32, _ buffer: inout [UInt8]) -> Int { read(file, &buffer, buffer.count) }
private func writeBytes(_ file: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(file, bytes.baseAddress, bytes.count)
}

/// Forces the content of files to the disk.
///
/// On Apple platforms, `fsync` only transfers the data to the disk, which may reorder writes and loses its cache in a
/// power failure. Two `fcntl` commands give stronger guarantees; `fsync` is used on file systems without them.
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
