// SPDX-License-Identifier: MIT

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Divides the bytes of a JSON text sequence (RFC 7464) into texts.
///
/// A text begins after a record separator, and ends before the next one or at the first line feed at which its brackets
/// and strings are closed. Without the second rule the last text of a live stream would arrive late: a text may contain
/// line feeds, so that a line feed alone does not end it.
struct SequenceSplitter: Sendable {
    struct Text {
        /// The bytes without the final line feed.
        var data: Data
        /// Whether a record separator precedes the text.
        var isSeparated: Bool
        /// Whether the text may be the beginning of a longer one, although it is well-formed (RFC 7464 §2.4).
        var isTruncated: Bool
    }

    /// The number of texts that were returned, without those that were discounted.
    private(set) var count = 0
    private let limit: Int
    private var chunk = Data()
    /// The offset of the next byte in the chunk, and those of the next line feed and separator from there: each is
    /// searched for only once.
    private var position = 0
    private var nextFeed = -1
    private var nextSeparator = -1
    /// The beginning of a text whose end has not arrived, and its open brackets and strings.
    private var partial = Data()
    private var shape = TextShape()
    private var isSeparated = false
    private var failure: LineSplitter.Failure?

    private static let separator: UInt8 = 0x1E
    private static let feed: UInt8 = 0x0A

    init(limit: Int) {
        self.limit = limit
    }

    mutating func push(_ bytes: Data) {
        chunk = position < chunk.count ? chunk.dropFirst(position) + bytes : bytes
        (position, nextFeed, nextSeparator) = (0, -1, -1)
    }

    /// Removes the last text from the count, because it is no record.
    mutating func discount() {
        count -= 1
    }

    mutating func next() throws(LineSplitter.Failure) -> Text? {
        if let failure { throw failure }
        guard position < chunk.count else { return nil }
        // The copy keeps the bytes alive, while the splitter changes itself.
        let bytes = chunk
        if partial.isEmpty, let range = bytes.withUnsafeBytes({ simpleText($0) }) {
            guard range.count <= limit else { throw fail() }
            count += 1
            defer { isSeparated = false }
            let start = bytes.startIndex
            return Text(
                data: bytes[(start + range.lowerBound)..<(start + range.upperBound)], isSeparated: isSeparated,
                isTruncated: false)
        }
        let range = bytes.withUnsafeBytes { scan($0) }
        if let failure { throw failure }
        guard let range else {
            chunk = Data()
            position = 0
            return nil
        }
        let start = bytes.startIndex
        return try text(bytes[(start + range.lowerBound)..<(start + range.upperBound)])
    }

    mutating func finish() throws(LineSplitter.Failure) -> Text? {
        if let failure { throw failure }
        return partial.isEmpty ? nil : try text(Data())
    }

    /// Returns the range of the last bytes of the text at the position, and moves behind it. Without an end of the text,
    /// keeps the bytes and returns nil.
    private mutating func scan(_ bytes: UnsafeRawBufferPointer) -> Range<Int>? {
        let start = position
        guard start < bytes.count else { return nil }
        while position < bytes.count {
            let byte = bytes[position]
            if byte == Self.separator { return start..<position }
            position += 1
            shape.add(byte)
            if byte == Self.feed, shape.isClosed { return start..<position }
        }
        // The final line feed of a text does not count.
        guard partial.count + (bytes.count - start) - 1 <= limit else {
            fail()
            return nil
        }
        partial.append(contentsOf: bytes[start...])
        return nil
    }

    /// Moves to the next text, over separators and the white space between texts.
    private mutating func skipSpace(_ bytes: UnsafeRawBufferPointer) {
        while position < bytes.count {
            if bytes[position] == Self.separator {
                isSeparated = true
            } else if !bytes[position].isJSONWhiteSpace {
                return
            }
            position += 1
        }
    }

    /// Moves to the next text. Returns its range, without its line feed, if its first line feed is directly before the
    /// next separator: both rules then end the text there, so that its brackets need not be counted.
    private mutating func simpleText(_ bytes: UnsafeRawBufferPointer) -> Range<Int>? {
        skipSpace(bytes)
        guard position < bytes.count else { return nil }
        if nextFeed < position { nextFeed = bytes.index(ofByte: Self.feed, from: position) }
        if nextSeparator < position { nextSeparator = bytes.index(ofByte: Self.separator, from: position) }
        guard nextSeparator < bytes.count, nextSeparator == nextFeed + 1 else { return nil }
        defer { position = nextSeparator }
        return position..<nextFeed
    }

    /// Returns the text that ends with `part`.
    private mutating func text(_ part: Data) throws(LineSplitter.Failure) -> Text {
        var data = part
        if !partial.isEmpty {
            swap(&data, &partial)
            data.append(part)
            partial = Data()
        }
        let isTruncated = !(data.first.map(TextShape.delimitsItself) ?? true) && data.last?.isJSONWhiteSpace == false
        if data.last == Self.feed { data = data.dropLast() }
        guard data.count <= limit else { throw fail() }
        defer {
            shape = TextShape()
            isSeparated = false
        }
        count += 1
        return Text(data: data, isSeparated: isSeparated, isTruncated: isTruncated)
    }

    @discardableResult
    private mutating func fail() -> LineSplitter.Failure {
        let failure = LineSplitter.Failure(number: count + 1, limit: limit)
        self.failure = failure
        (chunk, partial, position) = (Data(), Data(), 0)
        return failure
    }
}

/// The open brackets and strings of a JSON text whose bytes arrive one after the other.
private struct TextShape: Sendable {
    private var depth = 0
    private var isInString = false
    private var isEscaped = false

    /// Whether no bracket and no string is open.
    var isClosed: Bool { depth <= 0 && !isInString }

    /// Returns whether the end of a text that begins with this byte can be recognised: that of an object, an array or a
    /// string.
    static func delimitsItself(_ first: UInt8) -> Bool {
        first == UInt8(ascii: "{") || first == UInt8(ascii: "[") || first == UInt8(ascii: "\"")
    }

    mutating func add(_ byte: UInt8) {
        if isInString {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isInString = false
            }
            return
        }
        switch byte {
        case UInt8(ascii: "\""): isInString = true
        case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
        default: break
        }
    }
}
