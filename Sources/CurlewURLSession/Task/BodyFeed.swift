// SPDX-License-Identifier: MIT

import CurlewCore
import Foundation

/// A destination for the bytes of a streamed request body. On Apple platforms, the output stream of a bound pair.
protocol UploadSink: Sendable {
    /// Waits for room and writes as many bytes of `data` as fit. Returns the number of bytes written, at least one, or
    /// nil if the reader has stopped reading.
    func write(_ data: Data) async -> Int?
    /// Closes the sink, which the reader takes as the end of the body. Resumes a waiting `write`.
    func close()
}

/// Writes a request body to a sink, one chunk at a time. At most one chunk and the sink's buffer are ahead of the
/// network.
///
///     feeding ──▶ complete: closed immediately
///        │
///        └──────▶ broken ──▶ released: closed when URLSession has ended the task
///
/// Closing the sink ends the body: URLSession would send the last chunk of a chunked body, and the server would take
/// the part that it has received for the complete body. The sink of an incomplete body therefore stays open until the
/// task has ended.
final class BodyFeed: Sendable {
    private enum Phase {
        case feeding, broken, closed
    }

    private let sink: any UploadSink
    private let phase = Locked(Phase.feeding)
    private let work = Locked<Task<Void, Never>?>(nil)

    init(_ sink: any UploadSink) {
        self.sink = sink
    }

    /// Starts to produce the body. Calls `fail` if the producer throws, or if the body is longer or shorter than
    /// `length`.
    func start(
        length: Int64?, _ pull: @escaping @Sendable () -> ChunkPull, _ fail: @escaping @Sendable (NetworkError) -> Void
    ) {
        let task = Task {
            do {
                if try await produce(length: length, pull()) { close(from: .feeding) } else { stop() }
            } catch {
                // If the feed was stopped, no caller waits for the error.
                if stop() { fail(NetworkError(error)) }
            }
        }
        work.withLock { $0 = task }
        // The feed may already be stopped or complete.
        if phase.withLock({ $0 != .feeding }) { task.cancel() }
    }

    /// Stops producing because the exchange has ended. The sink stays open. Returns false if the feed was already
    /// stopped or complete.
    @discardableResult
    func stop() -> Bool {
        guard leave(.feeding, to: .broken) else { return false }
        work.withLock { $0 }?.cancel()
        return true
    }

    /// Closes the sink because URLSession has ended the task. Bytes that are still in the sink are not sent.
    func release() {
        stop()
        close(from: .broken)
    }

    private func close(from old: Phase) {
        if leave(old, to: .closed) { sink.close() }
    }

    /// Enters the phase `new`. Returns false if the feed is not in the phase `old`.
    private func leave(_ old: Phase, to new: Phase) -> Bool {
        phase.withLock { phase in
            guard phase == old else { return false }
            phase = new
            return true
        }
    }

    /// Writes the body to the sink. Returns false if the reader stopped reading before the end.
    private func produce(length: Int64?, _ next: ChunkPull) async throws -> Bool {
        var sent: Int64 = 0
        while let chunk = try await UploadPlan.chunk(next) {
            try Task.checkCancellation()
            sent += Int64(chunk.count)
            if let length, sent > length { throw UploadPlan.wrongLength("more", than: length) }
            var remainder = chunk
            while !remainder.isEmpty {
                guard let count = await sink.write(remainder) else { return false }
                remainder = remainder.dropFirst(count)
            }
        }
        try Task.checkCancellation()
        if let length, sent < length { throw UploadPlan.wrongLength("fewer", than: length) }
        return true
    }
}

/// The feeds of one exchange: the current feed, and the feeds of earlier body streams that URLSession has replaced.
final class BodyFeeds: Sendable {
    private let state = Locked((feeds: [BodyFeed](), isStopped: false))

    /// Makes `feed` the current feed, and stops the earlier feeds, which URLSession no longer reads.
    func adopt(_ feed: BodyFeed) {
        let unused = state.withLock { state in
            defer { state.feeds.append(feed) }
            return state.isStopped ? state.feeds + [feed] : state.feeds
        }
        for each in unused { each.stop() }
    }

    /// Stops all feeds because the exchange has ended.
    func stop() {
        let feeds = state.withLock { state in
            state.isStopped = true
            return state.feeds
        }
        for feed in feeds { feed.stop() }
    }

    /// Releases all feeds because URLSession has ended the task.
    func release() {
        let feeds = state.withLock { state in
            state.isStopped = true
            defer { state.feeds = [] }
            return state.feeds
        }
        for feed in feeds { feed.release() }
    }
}
