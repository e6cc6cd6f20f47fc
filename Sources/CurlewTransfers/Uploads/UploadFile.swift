// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation

/// A file that is sent, with the attributes that show a change.
struct UploadFile: Hashable, Sendable {
    let path: String
    let length: Int64
    let fingerprint: Upload.Fingerprint

    /// Reads the facts of the file. Throws `.invalidRequest` unless it is a regular file that can be read.
    init(_ path: String) throws(NetworkError) {
        var facts = stat()
        guard stat(path, &facts) == 0, access(path, R_OK) == 0 else {
            throw NetworkError(
                .invalidRequest, detail: "The file \(path) cannot be sent: \(String(cString: strerror(errno))).")
        }
        guard facts.st_mode & S_IFMT == S_IFREG else {
            throw NetworkError(.invalidRequest, detail: "The file \(path) cannot be sent: it is not a regular file.")
        }
        #if canImport(Darwin)
        let time = facts.st_mtimespec
        #else
        let time = facts.st_mtim
        #endif
        self.path = path
        length = Int64(facts.st_size)
        fingerprint = Upload.Fingerprint(seconds: Int64(time.tv_sec), nanoseconds: Int64(time.tv_nsec))
    }

    /// Throws `.encoding` if the file has changed.
    func check() throws(NetworkError) {
        guard try UploadFile(path) == self else {
            throw NetworkError(
                .encoding, detail: "The file \(path) changed while it was uploaded.",
                hint: "Upload a copy that is not written to. The next upload of this file starts from the beginning.")
        }
    }
}
