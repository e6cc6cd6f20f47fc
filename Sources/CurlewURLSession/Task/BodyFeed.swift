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
    private enum State {
        case feeding(Task<Void, Never>?)
        case broken
        case closed
    }

    private let sink: any UploadSink
    private let state = Locked(State.feeding(nil))

    init(_ sink: any UploadSink) {
        self.sink = sink
    }

    /// Starts to produce the body. Calls `fail` if the producer throws, or if the body is longer or shorter than
    /// `length`.
    func start(
        length: Int64?, _ pull: @escaping @Sendable () -> ChunkPull, _ fail: @escaping @Sendable (NetworkError) -> Void
    ) {
        let work = Task {
            do {
                if try await produce(length: length, pull()) { complete() } else { stop() }
            } catch {
                // If the feed was stopped, no caller waits for the error.
                if stop() { fail(NetworkError(error)) }
            }
        }
        // The task may already have stopped or completed the feed.
        let isOver = state.withLock { state in
            guard case .feeding = state else { return true }
            state = .feeding(work)
            return false
        }
        if isOver { work.cancel() }
    }

    /// Stops producing because the exchange has ended. The sink stays open. Returns false if the feed was already
    /// stopped or complete.
    @discardableResult
    func stop() -> Bool {
        let (work, isFirst) = state.withLock { state -> (Task<Void, Never>?, Bool) in
            guard case .feeding(let work) = state else { return (nil, false) }
            state = .broken
            return (work, true)
        }
        work?.cancel()
        return isFirst
    }

    /// Closes the sink because URLSession has ended the task. Bytes that are still in the sink are not sent.
    func release() {
        stop()
        close(from: { if case .broken = $0 { true } else { false } })
    }

    private func complete() {
        close(from: { if case .feeding = $0 { true } else { false } })
    }

    private func close(from isRight: (State) -> Bool) {
        let isFirst = state.withLock { state in
            guard isRight(state) else { return false }
            state = .closed
            return true
        }
        if isFirst { sink.close() }
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
        let (earlier, isStopped) = state.withLock { state in
            defer { state.feeds.append(feed) }
            return (state.feeds, state.isStopped)
        }
        for each in earlier { each.stop() }
        if isStopped { feed.stop() }
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
