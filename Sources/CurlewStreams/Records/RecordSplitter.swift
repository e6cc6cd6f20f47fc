// SPDX-License-Identifier: MIT

import CurlewFoundation
import CurlewHTTP

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
