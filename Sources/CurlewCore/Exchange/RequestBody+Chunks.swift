// SPDX-License-Identifier: MIT

public import CurlewFoundation

extension RequestBody {
    /// Returns the bytes to send as a sequence of chunks, for custom transports.
    ///
    /// Each call produces the body again: check `canReplay` before a second call. A stream is created by this call.
    /// Files are opened only when the iterator reaches them, and are read in chunks of 64 KiB on the calling thread.
    ///
    /// Throws `NetworkError`, here or while the chunks are read: `.invalidRequest` for a file that cannot be opened or
    /// read, `.encoding` for a stream that cannot be created and for a byte count that differs from the declared
    /// length. An error that a stream throws is rethrown unchanged.
    public func chunks() throws(NetworkError) -> Chunks {
        switch kind {
        case .empty: return Chunks { { nil } }
        case .parts(let parts): return Self.reading(parts)
        case .file(let path): return Self.reading([.file(path: path, offset: 0, length: -1)])
        case .stream(let length, _, let make):
            do {
                let chunks = try make()
                return Chunks { Self.counted(chunks.makeNext(), length) }
            } catch {
                throw NetworkError(
                    .encoding, detail: "The body stream could not be created: \(error)", underlying: error)
            }
        }
    }

    /// The number of bytes that will be sent; nil for a stream without a declared length, and for a path that is not a
    /// regular file. Reads the size of a file from the file system.
    package var lengthToSend: Int64? {
        guard case .file(let path) = kind else { return length }
        var facts = stat()
        guard stat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int64(facts.st_size)
    }

    /// Returns a body whose chunks `change` derives from those of this body. It can be produced again if this body can,
    /// and has the same trailers.
    ///
    /// - `length`: the exact number of bytes of the result; nil if it is unknown.
    package func changingChunks(
        length: Int64?, _ change: @escaping @Sendable (@escaping ChunkPull) -> ChunkPull
    ) -> RequestBody {
        var body = RequestBody.stream(length: length, replay: canReplay ? .always : .never) {
            let chunks = try chunks()
            return Chunks { change(chunks.makeNext()) }
        }
        body.trailers = trailers
        return body
    }

    private static func reading(_ pieces: [Part]) -> Chunks {
        Chunks {
            let reader = PieceReader(pieces)
            return { try reader.next() }
        }
    }

    /// Returns a function that returns the chunks of `next`, and throws if their total size differs from `length`.
    private static func counted(_ next: @escaping ChunkPull, _ length: Int64?) -> ChunkPull {
        guard let length else { return next }
        var count: Int64 = 0
        return {
            let chunk = try await next()
            count += Int64(chunk?.count ?? 0)
            guard count <= length, chunk != nil || count == length else {
                throw NetworkError(
                    .encoding,
                    detail: "The stream produced more or fewer bytes than its declared length of \(length).")
            }
            return chunk
        }
    }
}

extension RequestBody.Chunks: AsyncSequence {
    /// Creates an iterator that starts at the first chunk. The chunks of a stream can be iterated only once.
    public func makeAsyncIterator() -> Iterator {
        Iterator(pull: makeNext())
    }

    /// An iterator over the chunks, in order. Two tasks must not use it concurrently.
    public struct Iterator: AsyncIteratorProtocol {
        let pull: ChunkPull

        /// Returns the next chunk, or nil at the end of the body. Throws the errors of `RequestBody.chunks()`.
        public mutating func next() async throws -> Data? {
            try await pull()
        }
    }
}

/// Reads pieces in chunks, one piece after the other. Used by one task at a time.
private final class PieceReader {
    private static let chunkSize: Int64 = 64 << 10

    private var pieces: ArraySlice<RequestBody.Part>
    /// The open file of the first piece; -1 if none is open.
    private var file: Int32 = -1

    init(_ pieces: [RequestBody.Part]) {
        self.pieces = pieces[...]
    }

    deinit {
        if file >= 0 { close(file) }
    }

    func next() throws(NetworkError) -> Data? {
        while let piece = pieces.popFirst() {
            switch piece {
            case .bytes(let data): if !data.isEmpty { return data }
            case .file(let path, let offset, let length):
                guard let chunk = try read(path, offset, length) else { continue }
                let remainder = length < 0 ? length : length - Int64(chunk.count)
                pieces = [.file(path: path, offset: offset + Int64(chunk.count), length: remainder)] + pieces
                return chunk
            }
        }
        return nil
    }

    /// Returns the next bytes of a file. At the end of the range, closes the file and returns nil.
    private func read(_ path: String, _ offset: Int64, _ length: Int64) throws(NetworkError) -> Data? {
        if file < 0 { file = open(path, O_RDONLY | O_CLOEXEC) }
        guard file >= 0 else {
            throw NetworkError(.invalidRequest, detail: "The file \(path) cannot be opened (errno \(errno)).")
        }
        var buffer = [UInt8](repeating: 0, count: Int(length < 0 ? Self.chunkSize : min(Self.chunkSize, length)))
        let count = buffer.isEmpty ? 0 : pread(file, &buffer, buffer.count, off_t(offset))
        guard count >= 0 else {
            throw NetworkError(.invalidRequest, detail: "The file \(path) cannot be read (errno \(errno)).")
        }
        guard count == 0 else { return Data(buffer[..<count]) }
        close(file)
        file = -1
        if length > 0 {
            throw NetworkError(.encoding, detail: "The file \(path) became shorter while it was sent.")
        }
        return nil
    }
}

/// A function that returns the next chunk on each call, and nil at the end. Called by one task at a time.
package typealias ChunkPull = () async throws -> Data?

/// Returns a function that returns the chunks of `base`, one per call.
func pull<Base: AsyncSequence>(from base: Base) -> ChunkPull where Base.Element == Data {
    // The function owns the iterator and, by contract, runs in one task at a time. The checked alternative,
    // `next(isolation:)`, requires newer Apple systems than the package's minimum.
    nonisolated(unsafe) var iterator = base.makeAsyncIterator()
    return { try await iterator.next() }
}

/// A body in memory or in files, and the function that counts its bytes.
package final class CountedBody: Sendable {
    /// Receives the size of each chunk as the transport takes it, and nil when the last byte has been taken. Calls do
    /// not overlap.
    package typealias Counter = @Sendable (Int?) -> Void

    package let original: RequestBody
    /// Creates a counter. Called once each time that the body is sent.
    package let makeCounter: @Sendable () -> Counter

    init(_ original: RequestBody, _ makeCounter: @escaping @Sendable () -> Counter) {
        self.original = original
        self.makeCounter = makeCounter
    }
}

extension RequestBody {
    /// Returns a body with the same bytes and trailers, whose bytes are counted as the transport takes them.
    ///
    /// Transports that read bytes and files themselves also count them. For all others, the result is a stream, whose
    /// change of threads for each chunk costs a third of the speed of a fast upload.
    ///
    /// - `length`: the exact number of bytes; nil if it is unknown.
    /// - `makeCounter`: creates the function that counts, each time that the body is sent.
    package func counted(
        length: Int64?, by makeCounter: @escaping @Sendable () -> CountedBody.Counter
    ) -> RequestBody {
        var body = changingChunks(length: length) { pull in
            let count = makeCounter()
            return {
                let chunk = try await pull()
                count(chunk?.count)
                return chunk
            }
        }
        switch kind {
        case .parts, .file: body.counted = CountedBody(self, makeCounter)
        case .empty, .stream: break
        }
        return body
    }
}
