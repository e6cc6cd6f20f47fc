// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation

extension ResponseBody {
    /// Returns a body that is written to a store while it is read, chunk by chunk and at the reader's pace.
    func written(to sink: CacheSink) -> ResponseBody {
        changingChunks { next in
            {
                do {
                    guard let chunk = try await next() else {
                        // Some sequences end without an error when their reader is cancelled, so the body may be
                        // incomplete.
                        if Task.isCancelled { sink.abandon() } else { _ = await sink.finish() }
                        return nil
                    }
                    await sink.take(chunk)
                    return chunk
                } catch {
                    sink.abandon()
                    throw error
                }
            }
        }
    }
}

/// Writes the chunks of one body to the store. A failure of the store only ends the writing. The reader of the body
/// waits at most `HTTPCache.Options.lookupTimeout` for the store to take a chunk, and at most
/// `HTTPCache.Options.commitTimeout` for the commit. A chunk that takes longer ends the writing.
///
/// A sink that is deallocated before `finish` stores nothing: it abandons its writer.
final class CacheSink: Sendable {
    enum Outcome: Sendable {
        /// The entry is committed, or the store has not finished the commit yet, and continues in the background.
        case kept
        /// The entry was removed, or a newer response was stored, before the commit.
        case refused
        case failed
    }

    private struct Progress: Sendable {
        var count: Int64 = 0
        var isOver = false
    }

    private let writer: any HTTPCache.Entry.Writer
    private let limit: Int64
    private let expected: Int64?
    private let replaced: [HTTPCache.Entry.ID]
    private let cache: CacheInterceptor
    private let context: ExchangeContext
    private let progress = Locked(Progress())

    init(
        _ writer: any HTTPCache.Entry.Writer, limit: Int64, expecting expected: Int64?,
        replacing replaced: [HTTPCache.Entry.ID],
        _ cache: CacheInterceptor, _ context: ExchangeContext
    ) {
        self.writer = writer
        self.limit = limit
        self.expected = expected
        self.replaced = replaced
        self.cache = cache
        self.context = context
    }

    deinit { writer.abandon() }

    /// Writes a complete body and commits the entry.
    func take(all bytes: Data) async -> Outcome {
        await take(bytes)
        return await finish()
    }

    /// Writes a chunk. Abandons the entry if the body exceeds the limit or if the store fails.
    func take(_ chunk: Data) async {
        guard !progress.withLock({ $0.isOver }), count(chunk) else { return }
        do {
            let isTaken = try await cache.reach(in: context) { [writer] in
                try await writer.append(chunk)
            }
            if !isTaken { abandon() }
        } catch {
            context.reportStoreFailure(error)
            abandon()
        }
    }

    /// Commits the entry. Returns `.failed` and commits nothing if expected bytes are missing or the entry has been
    /// abandoned.
    func finish() async -> Outcome {
        let (count, isOver) = progress.withLock { progress in
            defer { progress.isOver = true }
            return (progress.count, progress.isOver)
        }
        guard !isOver else { return .failed }
        guard expected ?? count == count else {
            writer.abandon()
            return .failed
        }
        do {
            return try await cache.reach(within: cache.rules.commitTimeout, in: context) { [self] in
                do {
                    guard try await writer.commit(replacing: replaced) else { return .refused }
                    if context.isObserved {
                        let count = cache.store.takeEvictionCount()
                        if count > 0 { context.record(late: HTTPCache.Event.evicted(count)) }
                    }
                    return .kept
                } catch {
                    context.reportStoreFailure(error)
                    return .failed
                }
            }
        } catch {
            return .kept
        }
    }

    /// Ends the writing. The entry does not become visible.
    func abandon() {
        progress.withLock { $0.isOver = true }
        writer.abandon()
    }

    private func count(_ chunk: Data) -> Bool {
        let isWithin = progress.withLock { progress in
            progress.count += Int64(chunk.count)
            return progress.count <= limit
        }
        if !isWithin { abandon() }
        return isWithin
    }
}
