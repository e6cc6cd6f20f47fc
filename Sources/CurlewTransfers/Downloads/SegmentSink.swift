// SPDX-License-Identifier: MIT

import CurlewCore

/// Writes a body to a segment of a partial file. Ends the transfer behind the last byte that belongs there.
final class SegmentSink: BodySink {
    private let file: PartialFile
    private let index: Int
    private let meter: ProgressMeter?
    private let state: Locked<(room: Int64, hasOverflown: Bool)>

    /// - `limit`: the maximum number of bytes, in addition to the limit that the end of the segment is.
    init(_ file: PartialFile, _ index: Int, limit: Int64, _ meter: ProgressMeter?) {
        self.file = file
        self.index = index
        self.meter = meter
        state = Locked((limit, false))
    }

    /// Whether the body had more bytes than belong there.
    var hasOverflown: Bool { state.withLock { $0.hasOverflown } }

    func write(_ bytes: UnsafeRawBufferPointer) throws(NetworkError) {
        let room = state.withLock { $0.room }
        let most = UnsafeRawBufferPointer(rebasing: bytes[..<Int(min(Int64(bytes.count), room))])
        let count = try file.write(most, toSegment: index)
        meter?.add(Int64(count))
        state.withLock { $0.room -= Int64(count) }
        guard count < bytes.count else { return }
        state.withLock { $0.hasOverflown = true }
        throw NetworkError(.badResponse, detail: "The response has more bytes than the requested part.")
    }
}
