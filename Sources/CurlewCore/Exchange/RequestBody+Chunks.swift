// SPDX-License-Identifier: MIT

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension RequestBody {
    /// The bytes to send, one chunk after the other, for transports of one's own.
    ///
    /// Each call follows the recipe anew: ask `canReplay` before the second one. Nothing is opened or asked for before
    /// its turn comes; files are read in chunks of 64 KiB, on the thread that asks.
    ///
    /// Throws `NetworkError`, here or while the chunks are read: `.invalidRequest` for a file that cannot be opened or
    /// read, `.encoding` for a stream that cannot be made and for fewer or more bytes than promised. What a stream throws
    /// passes through.
    public func chunks() throws(NetworkError) -> Chunks {
        switch kind {
        case .empty: return Chunks { { nil } }
        case .parts(let parts): return Self.reading(parts.map(PieceReader.Piece.init))
        case .file(let path): return Self.reading([.file(path: path, offset: 0, length: nil)])
        case .stream(let length, _, let make):
            do {
                let chunks = try make()
                return Chunks { Self.counted(chunks.makeNext(), length) }
            } catch {
                throw NetworkError(.encoding, detail: "The body stream could not be made: \(error)", underlying: error)
            }
        }
    }

    private static func reading(_ pieces: [PieceReader.Piece]) -> Chunks {
        Chunks {
            let reader = PieceReader(pieces)
            return { try reader.next() }
        }
    }

    /// The chunks of `next`, which have to be as many bytes as `length` says.
    private static func counted(_ next: @escaping ChunkPull, _ length: Int64?) -> ChunkPull {
        guard let length else { return next }
        var count: Int64 = 0
        return {
            let chunk = try await next()
            count += Int64(chunk?.count ?? 0)
            guard count <= length, chunk != nil || count == length else {
                throw NetworkError(
                    .encoding, detail: "The stream gave another number of bytes than its length of \(length) says.")
            }
            return chunk
        }
    }
}

extension RequestBody.Chunks: AsyncSequence {
    /// A chunk; a stream may give empty ones.
    public typealias Element = Data

    /// Begins at the first chunk. Once only for the chunks of a stream.
    public func makeAsyncIterator() -> Iterator {
        Iterator(pull: makeNext())
    }

    /// Gives the chunks in order. Not for use by two tasks at once.
    public struct Iterator: AsyncIteratorProtocol {
        let pull: ChunkPull

        /// The next chunk, or nil at the end of the body.
        public mutating func next() async throws -> Data? {
            try await pull()
        }
    }
}

/// Reads pieces one after the other. Used by one task at a time.
private final class PieceReader {
    enum Piece: Sendable {
        case bytes(Data)
        /// Without a length, up to the end of the file.
        case file(path: String, offset: Int64, length: Int64?)

        init(_ part: RequestBody.Part) {
            self =
                switch part {
                case .bytes(let data): .bytes(data)
                case .file(let path, let offset, let length): .file(path: path, offset: offset, length: length)
                }
        }
    }

    private static let chunkSize = 64 << 10

    private var pieces: ArraySlice<Piece>
    /// The open file of the first piece; -1 when it is none.
    private var file: Int32 = -1

    init(_ pieces: [Piece]) {
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
                let rest = length.map { $0 - Int64(chunk.count) }
                pieces = [.file(path: path, offset: offset + Int64(chunk.count), length: rest)] + pieces
                return chunk
            }
        }
        return nil
    }

    /// The next bytes of a file; nil at its end, and then it is closed.
    private func read(_ path: String, _ offset: Int64, _ length: Int64?) throws(NetworkError) -> Data? {
        if file < 0 { file = open(path, O_RDONLY | O_CLOEXEC) }
        guard file >= 0 else {
            throw NetworkError(.invalidRequest, detail: "The file \(path) cannot be opened (errno \(errno)).")
        }
        var buffer = [UInt8](repeating: 0, count: Int(min(Int64(Self.chunkSize), length ?? .max)))
        let count = buffer.isEmpty ? 0 : pread(file, &buffer, buffer.count, off_t(offset))
        guard count >= 0 else {
            throw NetworkError(.invalidRequest, detail: "The file \(path) cannot be read (errno \(errno)).")
        }
        guard count == 0 else { return Data(buffer[..<count]) }
        close(file)
        file = -1
        if let length, length > 0 {
            throw NetworkError(.encoding, detail: "The file \(path) became shorter while it was sent.")
        }
        return nil
    }
}
