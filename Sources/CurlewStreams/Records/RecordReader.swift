// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The course of one iteration: it opens the response, divides its chunks into records, and decodes them.
struct RecordReader<Element: Decodable & Sendable> {
    private let opening: RecordOpening
    private let skipped: Locked<Int>
    private var state = State.idle

    private enum State {
        case idle
        case open(Parts)
        case ended
    }

    /// The parts of an open response.
    private final class Parts {
        let connection: RecordConnection
        let codec: any ContentCodec
        var chunks: ResponseBody.Iterator
        var splitter: RecordSplitter
        var hasEnded = false

        init(_ connection: RecordConnection, limit: Int) {
            self.connection = connection
            codec = connection.call.context.codecs.jsonCodec
            chunks = connection.call.response.body.makeAsyncIterator()
            splitter = RecordSplitter(connection.format == .lines ? .lines : .sequence, limit: limit)
        }
    }

    init(_ opening: RecordOpening, skipped: Locked<Int>) {
        self.opening = opening
        self.skipped = skipped
    }

    mutating func next() async throws(NetworkError) -> Element? {
        do throws(NetworkError) {
            if let element = try await advance() { return element }
            state = .ended
            return nil
        } catch {
            state = .ended
            throw Task.isCancelled && !error.isCancelled ? NetworkError(.cancelled) : error
        }
    }

    private mutating func advance() async throws(NetworkError) -> Element? {
        let parts: Parts
        switch state {
        case .ended: return nil
        case .open(let open): parts = open
        case .idle:
            guard let connection = try await opening.open() else { return nil }
            parts = Parts(connection, limit: opening.options.maximumRecordSize)
            state = .open(parts)
        }
        guard !Task.isCancelled else { throw parts.connection.call.named(NetworkError(.cancelled)) }
        while true {
            if let element = try decoded(parts) { return element }
            guard !parts.hasEnded else { return nil }
            do {
                if let chunk = try await parts.chunks.next() {
                    parts.splitter.push(chunk)
                    continue
                }
            } catch {
                throw parts.connection.call.named(error)
            }
            // A sequence of another package may end when its task is cancelled.
            guard !Task.isCancelled else { throw parts.connection.call.named(NetworkError(.cancelled)) }
            parts.hasEnded = true
        }
    }

    /// Decodes the next record of the bytes that have arrived. Skips bad records if the options say so.
    private func decoded(_ parts: Parts) throws(NetworkError) -> Element? {
        while let record = try nextRecord(parts) {
            do throws(NetworkError) {
                return try decoded(record, parts)
            } catch {
                guard opening.options.skipsBadRecords else { throw error }
                skipped.withLock { $0 += 1 }
            }
        }
        return nil
    }

    private func nextRecord(_ parts: Parts) throws(NetworkError) -> RecordSplitter.Record? {
        do throws(RecordSplitter.Failure) {
            if let record = try parts.splitter.next() { return record }
            return parts.hasEnded ? try parts.splitter.finish() : nil
        } catch {
            throw parts.connection.call.named(
                NetworkError(
                    .limitExceeded(.responseBody),
                    detail: "\(parts.connection.place(error.number)) has more than \(error.limit) bytes.",
                    hint: "Raise RecordStreamOptions.maximumRecordSize."))
        }
    }

    private func decoded(_ record: RecordSplitter.Record, _ parts: Parts) throws(NetworkError) -> Element {
        switch record.problem {
        case nil:
            do {
                // A copy that begins at index zero, as codecs of an app expect.
                return try parts.codec.decode(Element.self, from: Data(record.data))
            } catch {
                throw parts.connection.failure(
                    record, "is not \(Element.self). \(NetworkError(error).detail)", underlying: error)
            }
        case .truncated:
            throw parts.connection.failure(
                record, "may be truncated: no white space follows it (RFC 7464 §2.4).")
        case .unseparated:
            throw parts.connection.failure(record, "does not follow a record separator (RFC 7464 §2.1).")
        }
    }
}
