// SPDX-License-Identifier: MIT

import CurlewCore
import Foundation

/// Where the bytes of a streamed body go: on Apple platforms one end of a pair of bound streams.
protocol UploadSink: Sendable {
    /// How many bytes of `data` there was room for, at least one; nil when nobody reads any more. Waits for room.
    func write(_ data: Data) async -> Int?
    /// No more bytes come. To whoever reads, this is the end of the body. Wakes a `write` that waits.
    func close()
}

/// Produces a body into a sink, one chunk at a time: at most one chunk and the sink's buffer are ahead of the network.
///
///     feeding ──▶ complete: closed at once
///        │
///        └──────▶ broken ──▶ released: closed, when URLSession has ended the task
///
/// The end of the stream is the end of the body: URLSession would send the last chunk of a chunked body, and the server
/// would take what came for all of it. So a body that is not complete stays open until the task is over.
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

    /// Begins to produce. `fail` hears of a producer that throws, or that makes another length than `length`.
    func start(
        length: Int64?, _ pull: @escaping @Sendable () -> ChunkPull, _ fail: @escaping @Sendable (NetworkError) -> Void
    ) {
        let work = Task {
            do {
                if try await produce(length: length, pull()) { complete() } else { stop() }
            } catch {
                // What was stopped has nobody who waits for it.
                if stop() { fail(NetworkError(error)) }
            }
        }
        // It may have been stopped, or be complete, by now.
        let isOver = state.withLock { state in
            guard case .feeding = state else { return true }
            state = .feeding(work)
            return false
        }
        if isOver { work.cancel() }
    }

    /// The exchange is over for its caller: nothing is produced any more. The sink stays open. False if it was over.
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

    /// The exchange is over for URLSession too: nothing of what the sink holds will be sent.
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

    /// True when the sink has taken the whole body.
    private func produce(length: Int64?, _ next: ChunkPull) async throws -> Bool {
        var sent: Int64 = 0
        while let chunk = try await UploadPlan.chunk(next) {
            try Task.checkCancellation()
            sent += Int64(chunk.count)
            if let length, sent > length { throw UploadPlan.wrongLength("more", than: length) }
            var rest = chunk
            while !rest.isEmpty {
                guard let count = await sink.write(rest) else { return false }
                rest = rest.dropFirst(count)
            }
        }
        try Task.checkCancellation()
        if let length, sent < length { throw UploadPlan.wrongLength("fewer", than: length) }
        return true
    }
}

/// The feeds of one exchange: the one that produces its body, and those before URLSession wanted the body anew.
final class BodyFeeds: Sendable {
    private let state = Locked((feeds: [BodyFeed](), isStopped: false))

    /// `feed` produces the body from now on. Of those before it nobody reads any more.
    func adopt(_ feed: BodyFeed) {
        let (earlier, isStopped) = state.withLock { state in
            defer { state.feeds.append(feed) }
            return (state.feeds, state.isStopped)
        }
        for each in earlier { each.stop() }
        if isStopped { feed.stop() }
    }

    /// The exchange is over for its caller.
    func stop() {
        let feeds = state.withLock { state in
            state.isStopped = true
            return state.feeds
        }
        for feed in feeds { feed.stop() }
    }

    /// The exchange is over for URLSession too.
    func release() {
        let feeds = state.withLock { state in
            state.isStopped = true
            defer { state.feeds = [] }
            return state.feeds
        }
        for feed in feeds { feed.release() }
    }
}
