// SPDX-License-Identifier: MIT

import CurlewCore
import Foundation

/// The form in which URLSession receives a request body.
///
/// Bytes and complete files are passed directly. Any other body is a stream. On Apple platforms, a stream is a bound
/// pair that is filled while URLSession reads it. On Linux, where streams cannot wait, the body is produced first and
/// then sent with its length. It is stored in memory, or in a temporary file if it is long.
struct UploadPlan: Sendable {
    enum Source: Sendable {
        case none
        case data(Data)
        case file(String)
        case stream(length: Int64?, @Sendable () -> ChunkPull)
    }

    let source: Source
    /// The temporary file of the body, which is removed with the last reference; nil if there is none.
    private let spool: SpoolFile?

    private init(_ source: Source, spool: SpoolFile? = nil) {
        self.source = source
        self.spool = spool
    }

    /// Creates a plan before the body is produced. Throws if a file is missing, unreadable or too short.
    init(_ body: RequestBody) throws {
        self.init(try Self.source(of: body))
    }

    private static func source(of body: RequestBody) throws -> Source {
        switch body.kind {
        case .empty: return .none
        case .file(let path):
            try check(path, minimum: 0)
            return .file(path)
        case .parts(let parts):
            if let data = body.data { return .data(data) }
            for case .file(let path, let offset, let length) in parts { try check(path, minimum: offset + length) }
            return .stream(length: body.length, try body.chunks().makeNext)
        case .stream(let length, _, let make):
            do {
                return .stream(length: length, try make().makeNext)
            } catch {
                throw NetworkError(
                    .encoding, detail: "The body stream could not be created: \(error)", underlying: error)
            }
        }
    }

    /// The length in bytes of a body that URLSession gets as a stream; nil for a chunked body, and for one in memory.
    var declaredLength: Int64? {
        switch source {
        case .stream(let length, _): length
        case .file(let path): BackgroundStore.size(of: path)
        case .none, .data: nil
        }
    }

    /// Returns the input stream for URLSession and the feed that fills it; a file needs none. The feed calls `fail` on
    /// errors. Returns nil on Linux, for a body in memory, and if the system creates no streams.
    func openStream(_ fail: @escaping @Sendable (NetworkError) -> Void) -> (input: InputStream, feed: BodyFeed?)? {
        #if canImport(Darwin)
        if case .file(let path) = source { return InputStream(fileAtPath: path).map { ($0, nil) } }
        guard case .stream(let length, let pull) = source, let ends = BoundStream.make() else { return nil }
        ends.feed.start(length: length, pull, fail)
        return ends
        #else
        return nil
        #endif
    }

    /// Returns a plan in which a stream has been produced. Any other plan is returned unchanged.
    ///
    /// - `memory`: the number of bytes beyond which the body is written to a temporary file.
    /// - `limit`: the maximum number of bytes. A longer body throws `.encoding`.
    /// - `isWanted`: called before each chunk. False ends the production, and the incomplete plan must not be sent.
    func produced(
        memory: Int = 1 << 20, limit: Int64 = 1 << 30, isWanted: @Sendable () -> Bool
    ) async throws -> UploadPlan {
        guard case .stream(let length, let pull) = source else { return self }
        let next = pull()
        var (data, total) = (Data(), Int64(0))
        var spool: SpoolFile?
        while isWanted(), let chunk = try await Self.chunk(next) {
            total += Int64(chunk.count)
            if let length, total > length { throw Self.wrongLength("more", than: length) }
            guard total <= limit else {
                throw NetworkError(
                    .encoding, detail: "The body stream is longer than \(limit) bytes, the limit of the spool file.",
                    hint: "On Linux, URLSession uploads a stream from a file. Use CurlTransport.")
            }
            if let spool {
                try spool.append(chunk)
                continue
            }
            data.append(chunk)
            if data.count > memory {
                let file = try SpoolFile()
                try file.append(data)
                (spool, data) = (file, Data())
            }
        }
        if let length, total < length { throw Self.wrongLength("fewer", than: length) }
        return spool.map { UploadPlan(.file($0.path), spool: $0) } ?? UploadPlan(.data(data))
    }

    /// Returns the next chunk of the body. An error that the app's stream throws becomes the underlying error of a
    /// `NetworkError` with reason `.encoding`.
    static func chunk(_ next: ChunkPull) async throws -> Data? {
        do {
            return try await next()
        } catch {
            throw NetworkError(.encoding, detail: "The body stream failed: \(error)", underlying: error)
        }
    }

    private static func check(_ path: String, minimum length: Int64) throws {
        guard FileManager.default.isReadableFile(atPath: path) else {
            throw NetworkError(
                .invalidRequest, detail: "The file to send, \(path), cannot be opened.",
                hint: "Check the path and its permissions.")
        }
        guard let size = RequestBody.file(path).lengthToSend else {
            throw NetworkError(.invalidRequest, detail: "The file to send, \(path), is not a regular file.")
        }
        guard size >= length else {
            throw NetworkError(.invalidRequest, detail: "The file to send, \(path), became shorter.")
        }
    }

    static func wrongLength(_ word: String, than length: Int64) -> NetworkError {
        NetworkError(.encoding, detail: "The body stream produced \(word) bytes than its declared length of \(length).")
    }
}
