// SPDX-License-Identifier: MIT

package import CurlewFoundation

/// Divides bytes that arrive in chunks into lines, which end with a line feed.
///
///     splitter.push(chunk)
///     while let line = try splitter.next() { … }
///     if let last = try splitter.finish() { … }
///
/// The lines do not depend on how the bytes are divided into chunks. A line inside one chunk shares the memory of the
/// chunk. Each byte is searched once.
package struct LineSplitter: Sendable {
    /// The error for a line that exceeds the limit. The splitter throws it again at every later call.
    package struct Failure: Error, Hashable, Sendable {
        /// The number of the line, or of the record in a sequence; the first one has the number 1.
        package let number: Int
        package let limit: Int
    }

    /// The number of lines that were returned.
    package private(set) var count = 0
    private let limit: Int
    private var chunk = Data()
    /// The offset of the next byte in the chunk.
    private var position = 0
    /// The beginning of a line whose end has not arrived.
    private var partial = Data()
    private var failure: Failure?

    /// - `limit`: the maximum size of a line in bytes, without its line feed.
    package init(limit: Int) {
        self.limit = limit
    }

    /// Adds a chunk. Before adding another one, call `next()` until it returns nil; otherwise unread bytes are copied.
    package mutating func push(_ bytes: Data) {
        chunk = position < chunk.count ? chunk.dropFirst(position) + bytes : bytes
        position = 0
    }

    /// Returns the next line without its line feed, or nil if more bytes are needed. Throws when a line exceeds the
    /// limit, and at every later call.
    package mutating func next() throws(Failure) -> Data? {
        if let failure { throw failure }
        let size = chunk.count
        guard position < size else { return nil }
        let end = chunk.withUnsafeBytes { $0.index(ofByte: 0x0A, from: position) }
        guard partial.count + (end - position) <= limit else { throw fail() }
        let start = chunk.startIndex
        let part = chunk[(start + position)..<(start + end)]
        guard end < size else {
            partial.append(part)
            chunk = Data()
            position = 0
            return nil
        }
        position = end + 1
        count += 1
        return joined(part)
    }

    /// Returns the last line if it has no line feed, otherwise nil. Throws only what `next()` threw before. Call this
    /// method once, at the end of the bytes, when `next()` has returned nil.
    package mutating func finish() throws(Failure) -> Data? {
        if let failure { throw failure }
        guard !partial.isEmpty else { return nil }
        count += 1
        return joined(Data())
    }

    private mutating func joined(_ part: Data) -> Data {
        guard !partial.isEmpty else { return part }
        var line = Data()
        swap(&line, &partial)
        line.append(part)
        return line
    }

    private mutating func fail() -> Failure {
        let failure = Failure(number: count + 1, limit: limit)
        self.failure = failure
        (chunk, partial, position) = (Data(), Data(), 0)
        return failure
    }
}

extension UnsafeRawBufferPointer {
    /// Returns the offset of the first occurrence of `byte` at or after `start`; `count` if there is none.
    package func index(ofByte byte: UInt8, from start: Int) -> Int {
        guard let base = baseAddress, start < count,
            let found = memchr(base + start, Int32(byte), count - start)
        else { return count }
        return base.distance(to: UnsafeRawPointer(found))
    }
}

extension Data {
    /// The bytes without a byte order mark of UTF-8 at their beginning.
    package var withoutByteOrderMark: Data {
        starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self
    }
}
