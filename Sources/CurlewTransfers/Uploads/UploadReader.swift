// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation

/// Reads the chunks of a source.
struct UploadReader {
    private enum Kind {
        case file(UploadFile)
        case data(Data)
    }

    private let kind: Kind
    let length: Int64
    let fingerprint: Upload.Fingerprint

    init(_ source: Upload.Source) throws(NetworkError) {
        switch source.kind {
        case .file(let path):
            let file = try UploadFile(path)
            (kind, length, fingerprint) = (.file(file), file.length, file.fingerprint)
        case .data(let data):
            (kind, length) = (.data(data), Int64(data.count))
            fingerprint = Upload.Fingerprint(digest: MessageDigest.sha256(data).hexText)
        case .refused(let problem): throw problem
        }
    }

    /// Returns at most `limit` bytes at `offset`, and their number. Throws `.encoding` if a file has changed.
    func read(at offset: Int64, limit: Int64) throws(NetworkError) -> (RequestBody, count: Int64) {
        let count = min(limit, max(0, length - offset))
        switch kind {
        case .data(let data):
            let start = data.startIndex + Int(offset)
            return (.bytes(data[start..<start + Int(count)]), count)
        case .file(let file):
            try file.check()
            return (.parts([.file(path: file.path, offset: offset, length: count)]), count)
        }
    }

    /// Throws `.encoding` if a file has changed since the upload began.
    func check() throws(NetworkError) {
        if case .file(let file) = kind { try file.check() }
    }
}

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
