// SPDX-License-Identifier: MIT

import CZlib
import CurlewCore
import CurlewFoundation

/// Compresses bytes as one gzip member (RFC 1952), in constant memory. Equal input gives equal output: the header has
/// no time and no name. Used by one task at a time.
final class GzipEncoder {
    enum Flush {
        /// The compressor may keep bytes until it has enough for a block.
        case whenFull
        /// The receiver can decode everything that has been added.
        case now
        /// Ends the member. Nothing may be added afterwards.
        case end

        fileprivate var mode: Int32 {
            switch self {
            case .whenFull: Int32(CURLEW_GZIP_COLLECT)
            case .now: Int32(CURLEW_GZIP_FLUSH)
            case .end: Int32(CURLEW_GZIP_FINISH)
            }
        }
    }

    /// The default level of zlib: near the size of level 9 for a third of the time.
    private static let level: Int32 = 6
    private static let room = 32 << 10

    private let stream: OpaquePointer
    private var buffer = [UInt8](repeating: 0, count: GzipEncoder.room)

    /// Throws `.encoding` if memory is exhausted.
    init() throws(NetworkError) {
        guard let stream = curlew_gzip_create(Self.level) else { throw Self.failure }
        self.stream = stream
    }

    deinit { curlew_gzip_free(stream) }

    /// Returns the compressed bytes that follow from adding `bytes`, possibly none.
    func add(_ bytes: Data, flush: Flush) throws(NetworkError) -> Data {
        var result = Data()
        var position = bytes.startIndex
        while true {
            let rest = bytes[position...]
            var (taken, written) = (0, 0)
            let outcome = rest.withUnsafeBytes { input in
                buffer.withUnsafeMutableBufferPointer { output in
                    curlew_gzip_run(
                        stream, input.bindMemory(to: UInt8.self).baseAddress, input.count, &taken,
                        output.baseAddress, output.count, &written, flush.mode)
                }
            }
            guard outcome >= 0 else { throw Self.failure }
            position += taken
            result.append(contentsOf: buffer[..<written])
            if outcome == 1 { return result }
        }
    }

    /// Returns `bytes` compressed, or nil if the result would not be smaller.
    ///
    /// Adds 256 KiB at a time, and lets other tasks run in between.
    static func compressed(_ bytes: Data) async throws -> Data? {
        let encoder = try GzipEncoder()
        var result = Data()
        var position = bytes.startIndex
        while true {
            let end = bytes.index(position, offsetBy: piece, limitedBy: bytes.endIndex) ?? bytes.endIndex
            result += try encoder.add(bytes[position..<end], flush: end == bytes.endIndex ? .end : .whenFull)
            guard result.count < bytes.count else { return nil }
            if end == bytes.endIndex { return result }
            position = end
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    /// The bytes that are compressed without a pause.
    static let piece = 256 << 10

    private static let failure = NetworkError(
        .encoding, detail: "The body could not be compressed: zlib failed, probably because memory is exhausted.")
}

extension RequestBody {
    /// Returns a body of unknown length, which compresses the bytes of this body while they are sent.
    ///
    /// The bytes of each chunk of a stream are passed on with it, so a slow stream is not delayed. Memory is bounded: a
    /// chunk is compressed in pieces.
    func compressedWhileSending(flushing: Bool) -> RequestBody {
        changingChunks(length: nil) { pull in
            let state = CompressedChunks(pull: pull, flushing: flushing)
            return { try await state.next() }
        }
    }
}

/// The compressed chunks of one pass over a body. Used by one task at a time.
private final class CompressedChunks {
    private let pull: ChunkPull
    private let flushing: Bool
    private var encoder: GzipEncoder?
    /// The rest of the last chunk.
    private var rest = Data()
    private var hasEnded = false

    init(pull: @escaping ChunkPull, flushing: Bool) {
        self.pull = pull
        self.flushing = flushing
    }

    func next() async throws -> Data? {
        while !hasEnded {
            if rest.isEmpty {
                guard let chunk = try await pull() else {
                    hasEnded = true
                    return try open().add(Data(), flush: .end)
                }
                rest = chunk
                continue
            }
            let piece = rest.prefix(GzipEncoder.piece)
            rest = rest.dropFirst(piece.count)
            let bytes = try open().add(piece, flush: flushing && rest.isEmpty ? .now : .whenFull)
            if !bytes.isEmpty { return bytes }
        }
        return nil
    }

    private func open() throws(NetworkError) -> GzipEncoder {
        if let encoder { return encoder }
        let new = try GzipEncoder()
        encoder = new
        return new
    }
}
