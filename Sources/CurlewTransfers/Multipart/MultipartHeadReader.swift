// SPDX-License-Identifier: MIT

import CurlewHTTP

/// Reads the rest of the line of a delimiter and the head of the part that follows, up to its empty line.
struct MultipartHeadReader: Sendable {
    private let limits: MultipartParser.Limits
    private(set) var fields = HTTPHeaders()
    private(set) var isComplete = false
    private var isAfterDelimiter = true
    /// The bytes of the line so far.
    private var line: [UInt8] = []
    /// The line before, which the next one may continue.
    private var pending: [UInt8] = []
    private var count = 0

    init(_ limits: MultipartParser.Limits) {
        self.limits = limits
    }

    mutating func begin() {
        self = MultipartHeadReader(limits)
    }

    /// Reads complete lines from `start`, until the head is complete or `bytes` end. Returns the position after them.
    mutating func read(_ bytes: UnsafeRawBufferPointer, from start: Int) throws(MultipartParseError) -> Int {
        var position = start
        while position < bytes.count, !isComplete {
            let byte = bytes[position]
            position += 1
            count += 1
            guard count <= limits.headBytes else { throw .headTooLarge }
            line.append(byte)
            if byte == 0x0A { try endLine() } else if isAfterDelimiter { try checkPadding() }
        }
        return position
    }

    /// Throws as soon as a byte arrives that cannot follow a delimiter.
    private func checkPadding() throws(MultipartParseError) {
        guard let last = line.last, ASCII.isBlank(last) || last == 0x0D, line.dropLast().last != 0x0D
        else { throw .badDelimiter }
    }

    private mutating func endLine() throws(MultipartParseError) {
        guard line.dropLast().last == 0x0D else {
            throw isAfterDelimiter ? .badDelimiter : .badField(.bareLineFeed)
        }
        let text = line.dropLast(2)
        defer { line.removeAll(keepingCapacity: true) }
        if isAfterDelimiter {
            isAfterDelimiter = false
        } else if let first = text.first, ASCII.isBlank(first) {
            guard !pending.isEmpty else { throw .badField(.foldedField) }
            pending.append(0x20)
            pending += text.drop(while: ASCII.isBlank)
        } else {
            try endField()
            pending = Array(text)
            isComplete = text.isEmpty
        }
    }

    private mutating func endField() throws(MultipartParseError) {
        guard !pending.isEmpty else { return }
        guard fields.count < limits.fields else { throw .tooManyFields }
        do throws(HTTP1ParseError) {
            try HTTP1FieldLine.append(pending[...], to: &fields)
        } catch {
            throw .badField(error)
        }
    }
}

/// A search for the delimiter of a multipart body, CRLF `--` boundary, in content that arrives in chunks.
///
/// A chunk may end within a delimiter. The search then stores the number of matching bytes, not the bytes, which are
/// known. CR occurs in a delimiter only as its first byte, so after a mismatch no earlier position can match. The time
/// is therefore proportional to the content, whatever the content is.
struct BoundarySearch: Sendable {
    struct Outcome {
        /// Bytes of earlier chunks that turned out to be content. If there are any, nothing else has been searched yet.
        var held: ArraySlice<UInt8> = []
        let content: Range<Int>
        /// The position after the content, or after the delimiter.
        let next: Int
        let isFound: Bool
    }

    private static let lineEnd: UInt8 = 0x0D
    private let delimiter: [UInt8]
    /// The number of bytes of the delimiter that have matched.
    private var matched = 0
    /// The number of these that never were in the input: the CRLF before a delimiter that starts the content.
    private var implied = 0

    init(boundary: String) {
        delimiter = Array("\r\n--\(boundary)".utf8)
        beginLine()
    }

    /// Starts at the beginning of a line, where a delimiter needs no CRLF before it.
    mutating func beginLine() {
        matched = 2
        implied = 2
    }

    /// Searches `bytes` from `start`. Call it again from `next` until that is the end of the chunk.
    mutating func advance(over bytes: UnsafeRawBufferPointer, from start: Int) -> Outcome {
        if matched > 0 {
            let wanted = min(delimiter.count - matched, bytes.count - start)
            let equal = (0..<wanted).prefix { bytes[start + $0] == delimiter[matched + $0] }.count
            if equal == wanted { return accept(equal, content: start..<start) }
            let held = delimiter[implied..<max(implied, matched)]
            (matched, implied) = (0, 0)
            if !held.isEmpty { return Outcome(held: held, content: start..<start, next: start, isFound: false) }
        }
        var candidate = bytes.index(ofByte: Self.lineEnd, from: start)
        while candidate < bytes.count {
            let wanted = min(delimiter.count, bytes.count - candidate)
            if isDelimiter(bytes, candidate, wanted) { return accept(wanted, content: start..<candidate) }
            candidate = bytes.index(ofByte: Self.lineEnd, from: candidate + 1)
        }
        return Outcome(content: start..<bytes.count, next: bytes.count, isFound: false)
    }

    /// Takes the bytes after `content` as the next bytes of the delimiter.
    private mutating func accept(_ equal: Int, content: Range<Int>) -> Outcome {
        matched += equal
        let isFound = matched == delimiter.count
        if isFound { (matched, implied) = (0, 0) }
        return Outcome(content: content, next: content.upperBound + equal, isFound: isFound)
    }

    private func isDelimiter(_ bytes: UnsafeRawBufferPointer, _ position: Int, _ wanted: Int) -> Bool {
        if wanted > 1, bytes[position + 1] != delimiter[1] { return false }
        return (1..<max(1, wanted)).allSatisfy { bytes[position + $0] == delimiter[$0] }
    }
}
