// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewHTTP

/// A content coding that the transport decodes (RFC 9110 §8.4.1).
enum ContentCoding: Int32, CaseIterable, Sendable {
    // The order of `curlew_coding`.
    case gzip, deflate, brotli, zstd

    init?(_ name: some StringProtocol) {
        switch name.lowercased() {
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        case "br": self = .brotli
        case "zstd": self = .zstd
        default: return nil
        }
    }

    /// The value of `Accept-Encoding`: the codings that the system's libraries decode. Empty if there are none.
    static let offer = allCases.filter(\.isAvailable).map(\.name).joined(separator: ", ")

    var isAvailable: Bool { curlew_can_decode(rawValue) != 0 }

    var name: String { self == .brotli ? "br" : "\(self)" }
}

/// A decoder for the content codings of one body. It decodes piece by piece in bounded memory: a coding produces more
/// output only when there is room for it. Used only on the event loop's thread.
final class ContentDecoder {
    private struct Stage {
        let decoder: OpaquePointer
        /// The output that the next stage has not consumed.
        let buffer: UnsafeMutablePointer<UInt8>
        var start = 0
        var end = 0
        /// Whether the last step filled the buffer, so that there may be more output without more input.
        var mayHaveMore = false
    }

    /// The maximum size of a piece in bytes.
    static let pieceSize = 32 << 10

    /// The number of encoded bytes that have been consumed so far.
    private(set) var coded: Int64 = 0
    /// The number of decoded bytes that have been produced so far.
    private(set) var decoded: Int64 = 0
    /// The number of bytes that the outer codings have produced so far. A body may grow between two codings and still
    /// decode to a small size.
    private(set) var between: Int64 = 0
    /// Whether the last call of `decode` ended because it needs more input.
    private(set) var needsInput = true
    private var budget: Int64 = 0
    /// The maximum output of the outer codings in one call of `decode`, in bytes.
    private static let stepSize: Int64 = 1 << 20
    /// The number of decoded bytes that libcurl will deliver again, because it was paused within them.
    var ahead = 0
    /// The stages, the outermost coding first. The buffer of the last stage contains the pieces.
    private var stages: [Stage] = []

    /// Creates a decoder for `codings`, in the order in which they were applied. Returns nil if memory is exhausted.
    init?(_ codings: [ContentCoding]) {
        for coding in codings.reversed() {
            guard let decoder = curlew_decoder_create(coding.rawValue) else { return nil }
            stages.append(Stage(decoder: decoder, buffer: .allocate(capacity: Self.pieceSize)))
        }
    }

    deinit {
        for stage in stages {
            curlew_decoder_destroy(stage.decoder)
            stage.buffer.deallocate()
        }
    }

    /// Whether all codings have reached their end. Also true for an empty body.
    var isComplete: Bool {
        coded == 0 || stages.allSatisfy { curlew_decoder_is_complete($0.decoder) != 0 && $0.start == $0.end }
    }

    /// Decodes `bytes`. Returns the next piece, valid until the next call, and the number of input bytes that were
    /// consumed. The piece is empty if more input is needed (`needsInput`), or if the outer codings reach their step
    /// limit. Returns nil if the bytes are invalid for their coding.
    func decode(_ bytes: UnsafeRawBufferPointer) -> (piece: UnsafeRawBufferPointer, taken: Int)? {
        var taken = 0
        let last = stages.count - 1
        budget = Self.stepSize
        needsInput = false
        guard last >= 0, fill(last, bytes, &taken) else { return nil }
        coded += Int64(taken)
        let piece = UnsafeRawBufferPointer(start: stages[last].buffer, count: stages[last].end)
        decoded += Int64(piece.count)
        // The caller has the piece, so the buffer counts as empty.
        stages[last].end = 0
        return (piece, taken)
    }

    /// Fills the empty buffer of a stage with the output of one step. Returns false if the input is invalid.
    private func fill(_ index: Int, _ bytes: UnsafeRawBufferPointer, _ taken: inout Int) -> Bool {
        stages[index].start = 0
        stages[index].end = 0
        while budget > 0 {
            let input: UnsafeRawBufferPointer
            if index == 0 {
                input = UnsafeRawBufferPointer(rebasing: bytes[taken...])
            } else {
                let outer = stages[index - 1]
                input = UnsafeRawBufferPointer(start: outer.buffer + outer.start, count: outer.end - outer.start)
            }
            // Some libraries count runs without input, and fail if there are too many.
            if !input.isEmpty || stages[index].mayHaveMore {
                guard let (used, given) = run(index, input) else { return false }
                if index == 0 { taken += used } else { stages[index - 1].start += used }
                if given > 0 { return true }
                if used > 0 { continue }
            }
            // The stage needs more input than is available.
            guard index > 0, stages[index - 1].start == stages[index - 1].end else {
                needsInput = true
                return true
            }
            guard fill(index - 1, bytes, &taken) else { return false }
            if stages[index - 1].end == 0 { return true }
        }
        return true
    }

    /// Runs the decoder of a stage once. Returns the numbers of bytes consumed and produced, or nil if the input is
    /// invalid.
    private func run(_ index: Int, _ input: UnsafeRawBufferPointer) -> (used: Int, given: Int)? {
        var (used, given) = (0, 0)
        let isSound = curlew_decoder_run(
            stages[index].decoder, input.baseAddress?.assumingMemoryBound(to: UInt8.self), input.count, &used,
            stages[index].buffer, Self.pieceSize, &given)
        guard isSound != 0 else { return nil }
        stages[index].end = given
        stages[index].mayHaveMore = given == Self.pieceSize
        if index < stages.count - 1 {
            between += Int64(given)
            budget -= Int64(given)
        }
        return (used, given)
    }
}
#endif
