// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// A file that is being downloaded: `<name>.part` in the folder of its target, with a record beside it
/// (`<name>.part.state`) from which a later download continues, and a lock (`<name>.part.lock`).
///
/// The target is unchanged until `name(_:_:)` gives the complete file its name.
final class PartialFile: Sendable {
    private struct State {
        /// Nil while the version of the file is unknown, and for one that cannot be continued.
        var record: DownloadRecord?
        /// The number of bytes of the complete file; nil if the server does not declare it.
        var length: Int64?
        /// The first byte that is not written.
        var position: Int64 = 0
        /// The position in the record on the disk.
        var stored: Int64 = 0
        var isOpen = true
    }

    /// The bytes after which the position is stored. A process that is killed loses at most these.
    private static let step: Int64 = 256 << 10

    private let path: String
    private let key: String
    private let file: Int32
    private let inode: UInt64
    private let recordFile: Int32
    private let lock: FileLock
    private let state: Locked<State>

    private var recordPath: String { path + ".state" }

    /// Opens or creates the partial file at `path`, with the permissions of the file that it may replace.
    ///
    /// - `target`: the path of the complete file, if it is known.
    /// - `key`: what is downloaded. A partial file of something else is discarded.
    /// - `resumes`: whether the content of an earlier download is kept.
    ///
    /// Throws `.storage`.
    init(at path: String, target: String?, key: String, resumes: Bool) throws(NetworkError) {
        self.path = path
        self.key = key
        lock = try Self.acquire(path + ".lock")
        var facts = stat()
        let replaces = target.map { stat($0, &facts) == 0 } ?? false
        // The partial file of a private file must not be readable by others.
        let mode: mode_t = replaces ? 0o600 & facts.st_mode | 0o200 : 0o666
        let (part, own) = try Self.opened(path, mode)
        let (record, kept): (Int32, stat)
        do throws(NetworkError) {
            (record, kept) = try Self.opened(path + ".state", 0o600)
        } catch {
            close(part)
            throw error
        }
        (file, inode, recordFile) = (part, UInt64(own.st_ino), record)
        var state = State()
        // A record that others can change is not obeyed.
        fchmod(record, 0o600)
        if resumes, kept.st_mode & 0o022 == 0, let found = Self.readRecord(record)?.withoutLastByte,
            found.key == key, found.inode == inode, own.st_size >= found.position
        {
            state.record = found
            state.length = found.length
            (state.position, state.stored) = (found.position, found.position)
        }
        self.state = Locked(state)
        if replaces { fchmod(file, facts.st_mode & 0o777) }
        if state.record == nil {
            try reset()
        } else if ftruncate(file, off_t(state.position)) != 0 {
            throw Self.failure("written", path)
        }
    }

    /// Opens or creates a regular file of this user that has no other name. Throws `.storage`.
    private static func opened(_ path: String, _ mode: mode_t) throws(NetworkError) -> (Int32, stat) {
        removeSecondName(path)
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, mode)
        guard file >= 0 else { throw failure("written", path) }
        var facts = stat()
        guard fstat(file, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_uid == geteuid(),
            facts.st_nlink == 1
        else {
            close(file)
            throw NetworkError(
                .storage, detail: "\(path) is not a regular file of this user, or has several names.",
                hint: "Remove it, or choose another path.")
        }
        return (file, facts)
    }

    /// Removes a name that is another file's name too. Either another program has linked it, or a process was killed
    /// while it gave the complete file its name; that file must not be written any more.
    private static func removeSecondName(_ path: String) {
        var facts = stat()
        guard lstat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_nlink > 1 else { return }
        unlink(path)
    }

    private static func acquire(_ path: String) throws(NetworkError) -> FileLock {
        let lock: FileLock?
        do throws(PrivateFile.Failure) {
            lock = try FileLock.attempt(path)
        } catch {
            throw NetworkError(.storage, detail: "\(error)", hint: "Check the folder and its permissions.")
        }
        guard let lock else {
            throw NetworkError(
                .storage, detail: "Another download has locked \(path).",
                hint: "Wait until it has ended, or download to another path.")
        }
        return lock
    }

    deinit {
        close(file)
        close(recordFile)
        lock.release()
    }

    /// The record of the file that is being downloaded; nil while nothing can be continued.
    var record: DownloadRecord? { state.withLock { $0.record } }

    /// The first byte that is not written, which is the number of bytes that are.
    var position: Int64 { state.withLock { $0.position } }

    func reset() throws(NetworkError) {
        guard ftruncate(file, 0) == 0, ftruncate(recordFile, 0) == 0 else { throw Self.failure("written", path) }
        state.withLock { state in
            state.record = nil
            state.length = nil
            (state.position, state.stored) = (0, 0)
        }
    }

    /// Begins to write a version of the file, which replaces earlier content. Throws `.storage` if there is no room.
    ///
    /// - `length`: the number of bytes of the file; nil if the server does not declare it.
    func begin(_ version: Representation, name: String?) throws(NetworkError) {
        try reset()
        if let length = version.length { try checkSpace(for: length) }
        let record = DownloadRecord(key: key, file: version, inode: inode, name: name)
        state.withLock { $0.length = version.length }
        // Without a record the download cannot be continued but succeeds.
        guard let record, let bytes = record.bytes else { return }
        guard Self.write(bytes, to: recordFile, at: 0) else { throw Self.failure("written", recordPath) }
        state.withLock { $0.record = record }
    }

    private func checkSpace(for length: Int64) throws(NetworkError) {
        var facts = statvfs()
        guard fstatvfs(file, &facts) == 0 else { return }
        let (free, overflow) = UInt64(facts.f_bavail).multipliedReportingOverflow(by: UInt64(facts.f_frsize))
        guard !overflow, free < UInt64(max(0, length)) else { return }
        throw NetworkError(
            .storage,
            detail: "\(path) cannot be written: the file has \(length) bytes, and the disk has room for \(free).",
            hint: "Free disk space.")
    }

    /// Appends bytes. A file whose bytes cannot all be written keeps its position, and the next bytes replace them.
    func append(_ bytes: UnsafeRawBufferPointer) throws(NetworkError) {
        let position = position
        guard Self.write(bytes, to: file, at: position) else { throw Self.failure("written", path) }
        let isDue = state.withLock { state in
            state.position = position + Int64(bytes.count)
            return state.position - state.stored >= Self.step
        }
        if isDue { storePosition() }
    }

    /// Writes the position to the record, if there is one. If that fails, a later download receives some bytes again.
    func storePosition() {
        let position = state.withLock { state -> Int64? in
            guard state.record != nil else { return nil }
            state.stored = state.position
            return state.position
        }
        guard let position else { return }
        _ = Self.write(DownloadRecord.bytes(of: position), to: recordFile, at: Int64(DownloadRecord.headLength))
    }

    /// Throws `.connectionLost` if the server has declared more bytes than are written.
    func checkLength() throws(NetworkError) {
        let (length, position) = state.withLock { ($0.length ?? 0, $0.position) }
        guard position < length else { return }
        throw NetworkError(
            .connectionLost(.requestMayHaveArrived),
            detail: "The response ended \(length - position) bytes too early.")
    }

    /// Returns whether the written bytes have all of these digests. Reads the file on the calling thread.
    func matches(_ checksums: [FileDownload.Checksum]) throws(NetworkError) -> Bool {
        for checksum in checksums {
            guard try digest(checksum.algorithm).hexText == checksum.hex else { return false }
        }
        return true
    }

    private func digest(_ algorithm: DigestField.Algorithm) throws(NetworkError) -> Data {
        try MessageDigest.sha2(algorithm == .sha256 ? 256 : 512) { (add) throws(NetworkError) in
            var buffer = [UInt8](repeating: 0, count: 1 << 20)
            var offset: off_t = 0
            while true {
                let count = pread(file, &buffer, buffer.count, offset)
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { throw Self.failure("read", path) }
                guard count > 0 else { return }
                buffer.withUnsafeBytes { add(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
                offset += off_t(count)
            }
        }
    }

    /// Synchronizes the complete file to the disk on the calling thread, and gives it the name `target`, or a numbered
    /// one beside it. Returns its path. Throws `.storage`, and the target is then unchanged.
    func name(_ target: String, _ existing: FileDownload.Existing) throws(NetworkError) -> String {
        guard DiskSync.keep(file) else { throw Self.failure("written", path) }
        let final = try FinalName.give(target, to: path, existing)
        PrivateFile.synchronizeFolder(of: final)
        unlink(recordPath)
        lock.release()
        state.withLock { $0.isOpen = false }
        return final
    }

    /// Removes the partial file, unless it is finished.
    func discard() {
        guard state.withLock({ $0.isOpen }) else { return }
        unlink(path)
        unlink(recordPath)
        lock.release()
    }

    /// Returns the record in a file; nil if there is none or it is damaged.
    private static func readRecord(_ file: Int32) -> DownloadRecord? {
        var buffer = [UInt8](repeating: 0, count: DownloadRecord.headLength + 9)
        let count = pread(file, &buffer, buffer.count, 0)
        return count > 0 ? DownloadRecord(Data(buffer[..<count])) : nil
    }

    private static func write(_ data: Data, to file: Int32, at position: Int64) -> Bool {
        data.withUnsafeBytes { write($0, to: file, at: position) }
    }

    private static func write(_ bytes: UnsafeRawBufferPointer, to file: Int32, at position: Int64) -> Bool {
        var (remainder, position) = (bytes[...], position)
        while !remainder.isEmpty {
            let piece = UnsafeRawBufferPointer(rebasing: remainder)
            let count = pwrite(file, piece.baseAddress, piece.count, off_t(position))
            if count < 0, errno != EINTR { return false }
            remainder = remainder.dropFirst(max(0, count))
            position += Int64(max(0, count))
        }
        return true
    }

    static func failure(_ action: String, _ path: String) -> NetworkError {
        let code = errno
        return NetworkError(
            .storage, detail: PrivateFile.Failure(action, path, code).description,
            hint: code == ENOSPC || code == EDQUOT ? "Free disk space." : "Check the path and its permissions.")
    }
}
