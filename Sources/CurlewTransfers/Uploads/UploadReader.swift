// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation

/// Reads the chunks of a source. Used by one task.
final class UploadReader {
    private enum Kind {
        case file(UploadFile)
        case data(Data)
        case stream(UploadStream)
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
        case .stream(let count, let make):
            (kind, length, fingerprint) = (.stream(UploadStream(length: count, make)), count, Upload.Fingerprint())
        case .refused(let problem): throw problem
        }
    }

    /// Returns at most `limit` bytes at `offset`, and their number. Throws `.encoding` if a file has changed, or if a
    /// stream is beyond `offset`.
    func read(at offset: Int64, limit: Int64) async throws(NetworkError) -> (RequestBody, count: Int64) {
        let count = min(limit, max(0, length - offset))
        switch kind {
        case .stream(let stream):
            let data = try await stream.read(at: offset, limit: limit)
            return (.bytes(data), Int64(data.count))
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

/// The window of a stream: the bytes that the server may not have.
final class UploadStream {
    private let make: @Sendable () throws -> RequestBody.Chunks
    private var next: ChunkPull?
    private let length: Int64
    private var window = Data()
    private var start: Int64 = 0
    private var hasEnded = false

    init(length: Int64, _ make: @escaping @Sendable () throws -> RequestBody.Chunks) {
        self.length = length
        self.make = make
    }

    private func begin() throws(NetworkError) -> ChunkPull {
        do {
            return try make().makeNext()
        } catch {
            throw NetworkError(.encoding, detail: "The stream could not be created: \(error)", underlying: error)
        }
    }

    /// Returns at most `limit` bytes at `offset`. Forgets the bytes before `offset`.
    func read(at offset: Int64, limit: Int64) async throws(NetworkError) -> Data {
        guard offset >= start else { throw Self.gone }
        while true {
            let count = min(offset - start, Int64(window.count))
            if count > 0 {
                window = Data(window.dropFirst(Int(count)))
                start += count
            }
            if start == offset { break }
            // A stream that was created again for an earlier upload is read up to where that upload stopped.
            guard !hasEnded else { throw Self.gone }
            try await pull()
        }
        // One byte more than the limit shows that the stream goes on.
        while !hasEnded, Int64(window.count) <= limit { try await pull() }
        return Data(window.prefix(Int(min(limit, Int64(window.count)))))
    }

    private func pull() async throws(NetworkError) {
        if next == nil { next = try begin() }
        do {
            if let chunk = try await next?() { window.append(chunk) } else { hasEnded = true }
        } catch {
            throw NetworkError(error)
        }
        let total = start + Int64(window.count)
        guard hasEnded ? total == length : total <= length else {
            throw NetworkError(
                .encoding, detail: "The stream produced more or fewer bytes than its declared length.")
        }
    }

    private static var gone: NetworkError {
        NetworkError(
            .encoding, detail: "The server needs bytes of the stream that are no longer in memory.",
            hint: "Upload a file, which can be read again.")
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
