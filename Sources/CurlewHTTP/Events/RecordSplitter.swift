// SPDX-License-Identifier: MIT

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Divides bytes that arrive in chunks into JSON texts: JSON Lines (NDJSON), or a JSON text sequence (RFC 7464).
///
///     splitter.push(chunk)
///     while let record = try splitter.next() { … }
///     if let last = try splitter.finish() { … }
///
/// The records do not depend on how the bytes are divided into chunks. Records of white space alone are skipped, and so
/// is a byte order mark at the beginning. The texts are not validated.
package struct RecordSplitter: Sendable {
    package enum Format: Hashable, Sendable {
        /// One JSON text per line. A line ends with LF or CR LF, the last one also with the end of the bytes.
        case lines
        /// RFC 7464: each JSON text follows a record separator and ends with a line feed.
        case sequence
    }

    /// The bytes of one JSON text, perhaps with white space around it.
    package struct Record: Hashable, Sendable {
        package var data: Data
        /// The number of the line, or of the record in a sequence. The first one has the number 1.
        package var number: Int
        /// The reason why the record must not be used; nil if it can be decoded.
        package var problem: Problem?

        package init(data: Data, number: Int, problem: Problem? = nil) {
            self.data = data
            self.number = number
            self.problem = problem
        }
    }

    package enum Problem: Hashable, Sendable {
        /// A number, `true`, `false` or `null` without white space after it, which may be incomplete (RFC 7464 §2.4).
        case truncated
        /// Bytes that do not follow a record separator.
        case unseparated
    }

    package typealias Failure = LineSplitter.Failure

    private let format: Format
    private var lines: LineSplitter
    private var sequence: SequenceSplitter
    private var isFirst = true

    /// - `limit`: the maximum size of a record in bytes, without its line feed. Default 1 MiB.
    package init(_ format: Format, limit: Int = 1 << 20) {
        self.format = format
        lines = LineSplitter(limit: limit)
        sequence = SequenceSplitter(limit: limit)
    }

    /// Adds a chunk. Call `next()` until it returns nil before adding another one; otherwise the rest is copied.
    package mutating func push(_ bytes: Data) {
        switch format {
        case .lines: lines.push(bytes)
        case .sequence: sequence.push(bytes)
        }
    }

    /// Returns the next record, or nil if more bytes are needed. Throws when a record exceeds the limit, and then
    /// always.
    package mutating func next() throws(Failure) -> Record? {
        switch format {
        case .lines:
            while let line = try lines.next() {
                if let record = record(line) { return record }
            }
        case .sequence:
            while let text = try sequence.next() {
                if let record = record(text) { return record }
            }
        }
        return nil
    }

    /// Returns the last record if its end has not arrived, otherwise nil. Call it once, at the end of the bytes, when
    /// `next()` has returned nil.
    package mutating func finish() throws(Failure) -> Record? {
        switch format {
        case .lines: try lines.finish().flatMap { record($0) }
        case .sequence: try sequence.finish().flatMap { record($0) }
        }
    }

    private mutating func record(_ line: Data) -> Record? {
        let data = content(line)
        return data.isWhiteSpace ? nil : Record(data: data, number: lines.count)
    }

    private mutating func record(_ text: SequenceSplitter.Text) -> Record? {
        let data = content(text.data)
        guard !data.isWhiteSpace else {
            sequence.discount()
            return nil
        }
        let problem: Problem? = text.isSeparated ? text.isTruncated ? .truncated : nil : .unseparated
        return Record(data: data, number: sequence.count, problem: problem)
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
    /// The bytes without a byte order mark of UTF-8 at their beginning.
    package var withoutByteOrderMark: Data {
        starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self
    }

    /// Whether there are no other bytes than the white space of JSON (RFC 8259 §2).
    fileprivate var isWhiteSpace: Bool {
        guard let first else { return true }
        return first <= 0x20 && allSatisfy { $0.isJSONWhiteSpace }
    }
}

extension UInt8 {
    /// Whether this is a space, tab, line feed or carriage return (RFC 8259 §2).
    var isJSONWhiteSpace: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }
}
