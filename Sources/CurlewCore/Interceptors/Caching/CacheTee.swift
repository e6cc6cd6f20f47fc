// SPDX-License-Identifier: MIT

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A body that is written to a store while it is read, chunk by chunk and no faster than the reader asks.
struct CacheTee: AsyncSequence, Sendable {
    typealias Element = Data

    private let body: ResponseBody
    private let sink: CacheSink

    init(_ body: ResponseBody, _ sink: CacheSink) {
        self.body = body
        self.sink = sink
    }

    func makeAsyncIterator() -> Iterator {
        Iterator(base: body.makeAsyncIterator(), sink: sink)
    }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate var base: ResponseBody.Iterator
        fileprivate let sink: CacheSink

        mutating func next() async throws -> Data? {
            do {
                guard let chunk = try await base.next() else {
                    // Some sequences just end when their reader is cancelled, wherever they are.
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

/// Where the chunks of one body go. Whatever goes wrong here ends the writing and nothing else.
///
/// One that goes away before `finish` leaves nothing behind: its writer abandons the entry.
final class CacheSink: Sendable {
    /// Stored bytes that go before and behind the new ones.
    struct Surroundings: Sendable {
        let body: any CacheBody
        let combination: CacheCombination

        init(_ body: any CacheBody, _ combination: CacheCombination) {
            self.body = body
            self.combination = combination
        }
    }

    private struct Progress: Sendable {
        var count: Int64 = 0
        var hasBegun = false
        var isOver = false
    }

    private let writer: any CacheWriter
    private let limit: Int64
    private let expected: Int64?
    private let surroundings: Surroundings?
    private let flight: CacheTraffic.Flight
    private let replaced: [CacheEntryID]
    private let report: @Sendable (any Error) -> Void
    private let progress = Locked(Progress())

    init(
        _ writer: any CacheWriter, limit: Int64, expecting expected: Int64?, within surroundings: Surroundings?,
        flight: CacheTraffic.Flight, replacing replaced: [CacheEntryID], report: @escaping @Sendable (any Error) -> Void
    ) {
        self.writer = writer
        self.limit = limit
        self.expected = expected
        self.surroundings = surroundings
        self.flight = flight
        self.replaced = replaced
        self.report = report
    }

    deinit {
        surroundings?.body.close()
        writer.abandon()
    }

    /// Writes a chunk. One that is too much ends the writing.
    func take(_ chunk: Data) async {
        guard await begin(), count(chunk) else { return }
        await write(chunk)
    }

    /// Makes the entry visible, if all that was expected has come and nothing has overtaken it.
    func finish() async -> Bool {
        guard await begin() else { return false }
        let count = progress.withLock { $0.count }
        guard expected ?? count == count, !flight.isDoomed else {
            abandon()
            return false
        }
        if let surroundings, await !copy(surroundings.combination.behind, of: surroundings.body) { return false }
        guard !progress.withLock({ $0.isOver }) else { return false }
        progress.withLock { $0.isOver = true }
        do {
            return try await writer.commit(replacing: replaced)
        } catch {
            report(error)
            return false
        }
    }

    /// Forgets what was written.
    func abandon() {
        progress.withLock { $0.isOver = true }
        surroundings?.body.close()
        writer.abandon()
    }

    /// Writes what goes before, once. False when the writing is over.
    private func begin() async -> Bool {
        let isFirst = progress.withLock { progress in
            defer { progress.hasBegun = true }
            return !progress.hasBegun
        }
        if isFirst, let surroundings {
            guard await copy(surroundings.combination.before, of: surroundings.body) else { return false }
        }
        return !progress.withLock { $0.isOver }
    }

    private func count(_ chunk: Data) -> Bool {
        let isWithin = progress.withLock { progress in
            progress.count += Int64(chunk.count)
            return progress.count <= limit
        }
        if !isWithin { abandon() }
        return isWithin
    }

    private func copy(_ range: Range<Int64>, of body: any CacheBody) async -> Bool {
        do {
            var position = range.lowerBound
            while position < range.upperBound {
                let chunk = try await body.read(from: position, upTo: Int(min(64 << 10, range.upperBound - position)))
                guard !chunk.isEmpty else { break }
                await write(chunk)
                position += Int64(chunk.count)
            }
            if position == range.upperBound { return !progress.withLock { $0.isOver } }
        } catch {
            report(error)
        }
        abandon()
        return false
    }

    private func write(_ chunk: Data) async {
        do {
            if try await !writer.append(chunk) { abandon() }
        } catch {
            report(error)
            abandon()
        }
    }
}
