// SPDX-License-Identifier: MIT

import CurlewCaching
import CurlewCore
import CurlewFoundation

/// The folder of large bodies. It contains one file for each body, named after the number of its entry.
///
/// An open file stays readable after its name is removed, so a body that is being read outlives its entry, even if
/// another process removes the entry. The writer of a file holds a lock on it until the entry is committed. A file with
/// neither a lock nor an entry was left behind by a process that has ended. The exception is an empty file: its process
/// may have just created it, and not have locked it yet.
///
/// In the container of an app group, iOS terminates an app that is suspended while it holds such a lock (`0xdead10cc`):
/// see `HTTPCache.SQLiteStore`.
struct BodyFolder: Sendable {
    let path: String

    /// The age in seconds from which an empty file counts as left behind.
    private static let lockTime = 60

    /// Creates the folder, readable for its owner only. Throws `.storage` if an existing folder does not belong to this
    /// user, because its owner could read or replace the bodies.
    func prepare() throws {
        if mkdir(path, 0o700) == 0 { return }
        guard errno == EEXIST else { throw Self.failure("made", path) }
        var status = stat()
        guard lstat(path, &status) == 0 else { throw Self.failure("used", path) }
        guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid() else {
            throw NetworkError(
                .storage, detail: "\(path) is not a folder of this user, so no bodies are stored there.",
                hint: "Remove it, or use another path for the store.")
        }
        guard status.st_mode & 0o077 == 0 || chmod(path, 0o700) == 0 else { throw Self.failure("protected", path) }
    }

    /// Creates the missing parent folders of a file, accessible to their owner only: a user who can write to a parent
    /// folder could replace the store's file. Existing folders do not change.
    static func makeParents(of path: String) {
        guard let end = path.utf8.lastIndex(of: UInt8(ascii: "/")), end > path.startIndex else { return }
        let parent = String(path[..<end])
        guard access(parent, F_OK) != 0 else { return }
        makeParents(of: parent)
        mkdir(parent, 0o700)
    }

    func path(of id: HTTPCache.Entry.ID) -> String { "\(path)/\(id.number)" }

    func create(_ id: HTTPCache.Entry.ID) throws -> BodyFile {
        let file = path(of: id)
        var descriptor = openFile(file, O_RDWR | O_CREAT | O_EXCL)
        if descriptor < 0, errno == ENOENT {
            // The system may remove caches folders while apps run.
            try prepare()
            descriptor = openFile(file, O_RDWR | O_CREAT | O_EXCL)
        }
        guard descriptor >= 0 else { throw Self.failure("made", file) }
        let body = BodyFile(descriptor)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw Self.failure("locked", file) }
        return body
    }

    /// Opens the file of an entry; nil if there is none, or if it does not have `length` bytes.
    func open(_ id: HTTPCache.Entry.ID, length: Int64) -> BodyFile? {
        let descriptor = openFile(path(of: id), O_RDONLY)
        guard descriptor >= 0 else { return nil }
        let body = BodyFile(descriptor)
        return body.length == length ? body : nil
    }

    func remove(_ id: HTTPCache.Entry.ID) {
        unlink(path(of: id))
    }

    /// Removes the files that were left behind. `isKept` returns whether a file belongs to an entry. Checks at most
    /// `maximum` files, chosen at random, so that every file of a large folder is checked eventually.
    func sweep(maximum: Int = 10_000, isKept: (HTTPCache.Entry.ID) throws -> Bool) rethrows {
        for number in sample(maximum) {
            let name = "\(number)"
            let descriptor = openFile("\(path)/\(name)", O_RDONLY)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            // A lock on this file, even a brief one, could keep the process that has just created it from locking it.
            if Self.mayBeLockedNext(descriptor) { continue }
            // With the lock, the result of `isKept` is final: the previous holder has committed the entry, or never
            // will.
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { continue }
            if try !isKept(HTTPCache.Entry.ID(number)) { unlink("\(path)/\(name)") }
        }
    }

    /// Returns the numbers of at most `maximum` files of the folder, chosen with equal probability.
    private func sample(_ maximum: Int) -> [Int64] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var (numbers, count) = ([Int64](), 0)
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let number = Int64(name) else { continue }
            count += 1
            if numbers.count < maximum {
                numbers.append(number)
            } else {
                let index = Int.random(in: 0..<count)
                if index < maximum { numbers[index] = number }
            }
        }
        return numbers
    }

    private static func mayBeLockedNext(_ descriptor: Int32) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_size == 0 else { return false }
        #if canImport(Darwin)
        return time(nil) - status.st_mtimespec.tv_sec < lockTime
        #else
        return time(nil) - status.st_mtim.tv_sec < lockTime
        #endif
    }

    static func failure(_ action: String, _ path: String, _ code: Int32 = errno) -> NetworkError {
        NetworkError(
            .storage, detail: "\(path) cannot be \(action): \(String(cString: strerror(code))).",
            hint: code == ENOSPC ? "The disk is full. Until there is space, calls go to the network." : nil)
    }
}

/// Opens a file for this process only. It is not a member of a type, because `open` would then be another function.
func openFile(_ path: String, _ flags: Int32) -> Int32 { open(path, flags | O_CLOEXEC, S_IRUSR | S_IWUSR) }

/// An open file with the body of an entry. Deallocation closes the file.
final class BodyFile: Sendable {
    private let descriptor: Int32

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    var length: Int64 {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : -1
    }

    func append(_ data: Data, at offset: Int64) throws {
        var written = 0
        while written < data.count {
            let count = data.withUnsafeBytes { bytes in
                pwrite(
                    descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written,
                    off_t(offset + Int64(written)))
            }
            if count < 0, errno != EINTR { throw BodyFolder.failure("written", "The body of an entry") }
            written += max(0, count)
        }
    }

    /// Synchronizes the contents, so that they survive a power failure.
    func synchronize() throws {
        guard DiskSync.keep(descriptor) else { throw BodyFolder.failure("written", "The body of an entry") }
    }

    /// Reads `count` bytes from `offset`; fewer only at the end of the file.
    func read(from offset: Int64, upTo count: Int) throws -> Data {
        var data = Data(count: count)
        var filled = 0
        while filled < count {
            let got = data.withUnsafeMutableBytes { bytes in
                pread(
                    descriptor, bytes.baseAddress.map { $0 + filled }, count - filled, off_t(offset + Int64(filled)))
            }
            if got < 0, errno != EINTR { throw BodyFolder.failure("read", "The body of an entry") }
            if got == 0 { break }
            filled += max(0, got)
        }
        data.removeLast(count - filled)
        return data
    }

    /// Returns `sum` with `count` bytes from `offset` added; nil if the file ends before them. The bytes go through a
    /// buffer that stays in the cache of the processor, which is several times as fast as `read(from:upTo:)`.
    func adding(_ offset: Int64, _ count: Int64, to sum: Checksum) throws -> Checksum? {
        try withUnsafeTemporaryAllocation(byteCount: 64 * 1024, alignment: 16) { buffer in
            var (sum, done) = (sum, Int64(0))
            while done < count {
                let wanted = Int(min(count - done, Int64(buffer.count)))
                let got = pread(descriptor, buffer.baseAddress, wanted, off_t(offset + done))
                if got < 0, errno != EINTR { throw BodyFolder.failure("read", "The body of an entry") }
                if got == 0 { return nil }
                sum.add(UnsafeRawBufferPointer(rebasing: buffer[..<max(0, got)]))
                done += Int64(max(0, got))
            }
            return sum
        }
    }
}
