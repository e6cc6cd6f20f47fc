// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewFoundation
import CurlewHTTP

/// The records of one iteration, which the iterator decodes: opens the response and splits its chunks. The connection
/// is closed when the iteration ends, or when the iterator is released.
///
/// This type is not generic, and the iterator is compiled where the type of the records is known: a generic function
/// that does not know its type would spend more time on each record than the splitter does.
@usableFromInline
final class RecordSource {
    private enum Phase {
        case idle
        case open
        /// The body has ended, the last record may be left.
        case last
        case ended
    }

    @usableFromInline private(set) var codec: any ContentCodec = Codecs.json.primary
    private let opening: RecordOpening
    private let skipped: Locked<Int>
    private var phase = Phase.idle
    private var call: OpenResponse?
    private var chunks: ResponseBody.Iterator?
    private var splitter = RecordSplitter()
    private var number = 0
    /// Whether the codec receives copies of the bytes, which begin at index zero, as codecs of an app may expect.
    private var copiesBytes = false

    init(_ opening: RecordOpening, skipped: Locked<Int>) {
        self.opening = opening
        self.skipped = skipped
    }

    deinit { call?.response.body.cancel() }

    /// Returns the bytes of the next record that has arrived, or nil if more bytes are needed.
    @usableFromInline
    func record() throws(NetworkError) -> Data? {
        guard phase == .open || phase == .last else { return nil }
        guard !Task.isCancelled else { throw end(NetworkError(.cancelled)) }
        guard let record = try split() else { return nil }
        number = record.number
        return copiesBytes ? Data(record.data) : record.data
    }

    /// Opens the response, or waits for the next chunk. Returns false at the end.
    @usableFromInline
    func receive() async throws(NetworkError) -> Bool {
        switch phase {
        case .idle:
            do throws(NetworkError) {
                if try await open() { return true }
            } catch {
                throw end(error)
            }
        case .open:
            do {
                if let chunk = try await chunks?.next() {
                    splitter.push(chunk)
                    return true
                }
            } catch {
                throw end(error)
            }
            // A body that is a sequence of the app may end when its task is cancelled.
            guard !Task.isCancelled else { throw end(NetworkError(.cancelled)) }
            phase = .last
            return true
        case .last, .ended: break
        }
        end()
        return false
    }

    /// Skips the current record, whose bytes could not be decoded as `type`. Throws if bad records are not skipped.
    @usableFromInline
    func reject(_ data: Data, _ error: any Error, _ type: Any.Type) throws(NetworkError) {
        guard !opening.options.skipsBadRecords else { return skipped.withLock { $0 += 1 } }
        throw end(call?.undecodable(data, "Line \(number) of the response is not \(type).", error) ?? error)
    }

    private func split() throws(NetworkError) -> RecordSplitter.Record? {
        do throws(RecordSplitter.Failure) {
            if let record = try splitter.next() { return record }
            return phase == .last ? try splitter.finish() : nil
        } catch {
            throw end(
                NetworkError(
                    .limitExceeded(.responseBody),
                    detail: "Line \(error.number) of the response has more than \(error.limit) bytes.",
                    hint: "Raise RecordStreamOptions.maximumRecordSize."))
        }
    }

    private func open() async throws(NetworkError) -> Bool {
        guard let call = try await opening.open() else { return false }
        self.call = call
        chunks = call.response.body.makeAsyncIterator()
        splitter = RecordSplitter(limit: opening.options.maximumRecordSize)
        codec = call.context.codecs.jsonCodec
        copiesBytes = !(codec is any SliceCodec)
        phase = .open
        return true
    }

    /// Closes the connection. Returns `error` with the names of the request and the route.
    private func end(_ error: any Error) -> NetworkError {
        var failure = call?.named(error) ?? NetworkError(error)
        if Task.isCancelled, !failure.isCancelled {
            failure = NetworkError(.cancelled)
            failure = call?.named(failure) ?? failure
        }
        end()
        return failure
    }

    private func end() {
        phase = .ended
        chunks = nil
        call?.response.body.cancel()
        call = nil
        splitter = RecordSplitter()
    }
}

/// Divides bytes that arrive in chunks into the JSON texts of JSON Lines (NDJSON): one per line. A line ends with LF or
/// CR LF, the last one also with the end of the bytes.
///
///     splitter.push(chunk)
///     while let record = try splitter.next() { … }
///     if let last = try splitter.finish() { … }
///
/// The records do not depend on how the bytes are divided into chunks. Lines of white space alone are skipped, and so
/// is a byte order mark at the beginning. The texts are not validated.
struct RecordSplitter: Sendable {
    /// The bytes of one JSON text, perhaps with white space around it.
    struct Record: Hashable, Sendable {
        var data: Data
        /// The number of the line. The first one has the number 1.
        var number: Int
    }

    typealias Failure = LineSplitter.Failure

    private var lines: LineSplitter
    private var isFirst = true

    /// - `limit`: the maximum size of a record in bytes, without its line feed. Default 1 MiB.
    init(limit: Int = 1 << 20) {
        lines = LineSplitter(limit: limit)
    }

    /// Adds a chunk. Call `next()` until it returns nil before adding another one; otherwise the rest is copied.
    mutating func push(_ bytes: Data) {
        lines.push(bytes)
    }

    /// Returns the next record, or nil if more bytes are needed. Throws when a record exceeds the limit, and then
    /// always.
    mutating func next() throws(Failure) -> Record? {
        while let line = try lines.next() {
            if let record = record(line) { return record }
        }
        return nil
    }

    /// Returns the last record if its end has not arrived, otherwise nil. Call it once, at the end of the bytes, when
    /// `next()` has returned nil.
    mutating func finish() throws(Failure) -> Record? {
        try lines.finish().flatMap { record($0) }
    }

    private mutating func record(_ line: Data) -> Record? {
        let data = content(line)
        return data.isWhiteSpace ? nil : Record(data: data, number: lines.count)
    }

    /// Returns the bytes without a CR at their end, and without a byte order mark at the beginning of the stream.
    private mutating func content(_ bytes: Data) -> Data {
        var data = bytes
        if data.last == 0x0D { data = data.dropLast() }
        guard isFirst else { return data }
        isFirst = false
        return data.withoutByteOrderMark
    }
}

extension Data {
    /// Whether there are no other bytes than the white space of JSON (RFC 8259 §2).
    fileprivate var isWhiteSpace: Bool {
        guard let first else { return true }
        return first <= 0x20 && allSatisfy { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }
    }
}
