// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation

/// A file that is sent, with the facts by which a change is noticed.
struct UploadFile: Sendable {
    private struct Facts: Hashable {
        var length: Int64
        var seconds: Int64
        var nanoseconds: Int64
    }

    let path: String
    private let facts: Facts

    /// Reads the facts of the file. Throws `.invalidRequest` unless it is a regular file that can be read.
    init(_ path: String) throws(NetworkError) {
        self.path = path
        facts = try Self.facts(path)
    }

    var length: Int64 { facts.length }

    /// What identifies the content.
    var fingerprint: Upload.Fingerprint {
        Upload.Fingerprint(seconds: facts.seconds, nanoseconds: facts.nanoseconds)
    }

    /// Throws `.encoding` if the file has changed.
    func check() throws(NetworkError) {
        guard try Self.facts(path) == facts else {
            throw NetworkError(
                .encoding, detail: "The file \(path) changed while it was uploaded.",
                hint: "Upload a copy that is not written to. The next upload of this file begins anew.")
        }
    }

    /// Returns bytes of the file. Throws `.encoding` if there are fewer.
    func bytes(at offset: Int64, count: Int) throws(NetworkError) -> Data {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw Self.failure(path) }
        defer { close(file) }
        var data = Data(count: count)
        var done = 0
        while done < count {
            let position = done
            let read = data.withUnsafeMutableBytes { buffer in
                pread(
                    file, buffer.baseAddress?.advanced(by: position), count - position, off_t(offset) + off_t(position))
            }
            if read < 0, errno == EINTR { continue }
            guard read > 0 else {
                throw NetworkError(.encoding, detail: "The file \(path) became shorter while it was uploaded.")
            }
            done += read
        }
        return data
    }

    private static func facts(_ path: String) throws(NetworkError) -> Facts {
        var facts = stat()
        guard stat(path, &facts) == 0, access(path, R_OK) == 0 else { throw failure(path) }
        guard facts.st_mode & S_IFMT == S_IFREG else {
            throw NetworkError(.invalidRequest, detail: "The file \(path) cannot be sent: it is not a regular file.")
        }
        #if canImport(Glibc) || canImport(Musl)
        let time = facts.st_mtim
        #else
        let time = facts.st_mtimespec
        #endif
        return Facts(length: Int64(facts.st_size), seconds: Int64(time.tv_sec), nanoseconds: Int64(time.tv_nsec))
    }

    private static func failure(_ path: String) -> NetworkError {
        NetworkError(.invalidRequest, detail: "The file \(path) cannot be sent: \(String(cString: strerror(errno))).")
    }
}
