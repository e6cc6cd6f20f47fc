// SPDX-License-Identifier: MIT

import CurlewFoundation

/// An incremental parser for HTTP/1.x responses, without I/O (RFC 9112).
///
///     parser.begin(.get)
///     loop: while true {
///         switch try parser.next(buffer, &offset, cache) {
///         case .incomplete: break loop
///         ...
///         }
///     }
///
/// Every response produces any number of `.interim`, `.head`, any number of `.content`, and `.end`. How the input is
/// split affects only the `.content` events. After an error, every call throws the same error.
///
/// The caller stores the bytes; each of them is examined once. Input that another recipient may frame differently is
/// refused. What the grammar leaves open is decided as follows:
///
/// - Empty lines before the status line are refused: only servers ignore them (RFC 9112 §2.2).
/// - A line of a head or of trailers may end with LF alone (RFC 9112 §2.2), a line of chunks may not.
/// - A field line without a token before its colon is refused, and so is a first one that begins with a blank (RFC 9112
///   §2.2, §5.1). Folded lines are joined with one space, except those of framing fields, which are refused (§5.2).
/// - Control bytes become spaces (RFC 9110 §5.5). NUL is refused, also CR in the status line and in framing fields.
/// - Transfer-Encoding overrides Content-Length, and the connection is then not used again (RFC 9112 §6.3). Any coding
///   except `chunked` alone is refused, and every one in HTTP/1.0.
/// - Content where the status allows none is the beginning of the next response, so 1xx and 204 that declare content
///   end the use of the connection (RFC 9112 §6.3, rule 1). 205 has the content that its fields declare.
/// - Extensions of chunks are ignored (RFC 9112 §7.1.1), up to 4 KiB for the line. A size has at most 15 digits.
package struct HTTP1ResponseParser: ~Copyable {
    package enum Event: Equatable, Sendable {
        /// More bytes are needed. Those before `offset` may be dropped; the others must be passed again.
        case incomplete
        /// A response with status 1xx, except 101 (RFC 9110 §15.2).
        case interim(HTTPStatus, HTTPHeaders)
        case head(HTTP1ResponseHead)
        /// The bytes of the buffer at these positions are content. Never empty.
        case content(Range<Int>)
        /// The response is complete.
        case end(trailers: HTTPHeaders)
    }

    private enum State {
        case idle, statusLine, fields
        case content(Int), untilClose
        case chunkSize, chunk(Int), chunkEnd, trailers
        case ended
        case failed(HTTP1ResponseError)
    }

    private let maximumHeadBytes: Int
    private let maximumFields: Int
    private var state = State.idle
    private var isHead = false
    private var isConnect = false
    private var status: HTTPStatus = 0
    private var version = HTTPVersion.http1_1
    private var reasonPhrase: String?
    private var headers = HTTPHeaders()
    private var declared = HTTP1DeclaredFraming()
    /// What remains of the limits.
    private var bytes = 0
    private var fields = 0
    /// The number of bytes from the offset on that contain no end of the line that begins there.
    private var scanned = 0
    private var isFolded = false
    /// Whether another request may follow on the connection, once the response has ended (RFC 9112 §9.3).
    package private(set) var keepsConnection = false

    /// Creates a parser. The limits apply to the interim responses and the head together, and again to the trailers.
    package init(maximumHeadBytes: Int, maximumFields: Int) {
        self.maximumHeadBytes = maximumHeadBytes
        self.maximumFields = maximumFields
    }

    /// Whether no response is expected: before `begin`, and after `.end`.
    package var isBetweenResponses: Bool {
        if case .idle = state { return true }
        return false
    }

    /// Expects the response to a request with this method. Has no effect unless ``isBetweenResponses`` is true.
    package mutating func begin(_ method: HTTPMethod) {
        guard case .idle = state else { return }
        state = .statusLine
        isHead = method == .head
        isConnect = method == .connect
        keepsConnection = true
        startFields()
    }

    /// Parses `buffer` from `offset` on, with `known` as a cache of fields, and advances `offset` past what has been
    /// consumed.
    package mutating func next(
        _ buffer: UnsafeRawBufferPointer, _ offset: inout Int, _ known: FieldCache?
    ) throws(HTTP1ResponseError) -> Event {
        do throws(HTTP1ResponseError) {
            return try advance(buffer, &offset, known)
        } catch {
            state = .failed(error)
            keepsConnection = false
            throw error
        }
    }

    /// Processes the end of the connection. Returns `.end` if the response is then complete. Otherwise throws
    /// `.endedEarly`, also before `begin`, or the earlier error.
    package mutating func finish() throws(HTTP1ResponseError) -> Event {
        switch state {
        case .untilClose, .ended: return end()
        case .failed(let error): throw error
        default:
            state = .failed(.endedEarly)
            keepsConnection = false
            throw .endedEarly
        }
    }

    private mutating func advance(
        _ buffer: UnsafeRawBufferPointer, _ offset: inout Int, _ known: FieldCache?
    ) throws(HTTP1ResponseError) -> Event {
        while true {
            switch state {
            case .statusLine:
                guard try readStatusLine(buffer, &offset) else { return .incomplete }
                state = .fields
            case .fields:
                guard try readFields(buffer, &offset, known) else { return .incomplete }
                return try endOfHead()
            case .content(let count):
                guard let range = content(buffer, &offset, count) else { return .incomplete }
                state = range.count < count ? .content(count - range.count) : .ended
                return .content(range)
            case .untilClose:
                guard let range = content(buffer, &offset, .max) else { return .incomplete }
                return .content(range)
            case .chunkSize:
                guard let size = try chunkSize(buffer, &offset) else { return .incomplete }
                if size == 0 { startFields() }
                state = size == 0 ? .trailers : .chunk(size)
            case .chunk(let count):
                guard let range = content(buffer, &offset, count) else { return .incomplete }
                state = range.count < count ? .chunk(count - range.count) : .chunkEnd
                return .content(range)
            case .chunkEnd:
                guard offset < buffer.count else { return .incomplete }
                guard buffer[offset] == 0x0D else { throw .badChunk }
                guard offset + 1 < buffer.count else { return .incomplete }
                guard buffer[offset + 1] == 0x0A else { throw .badChunk }
                offset += 2
                state = .chunkSize
            case .trailers:
                guard try readFields(buffer, &offset, known) else { return .incomplete }
                return end()
            case .ended: return end()
            case .idle: return .incomplete
            case .failed(let error): throw error
            }
        }
    }

    private mutating func end() -> Event {
        state = .idle
        return .end(trailers: takeHeaders())
    }
}

extension HTTP1ResponseParser {
    private mutating func startFields() {
        bytes = maximumHeadBytes
        fields = maximumFields
    }

    private mutating func takeHeaders() -> HTTPHeaders {
        var taken = HTTPHeaders()
        swap(&taken, &headers)
        return taken
    }

    /// Parses `HTTP/1.` digit, space, three digits, and optionally a space and a reason phrase. Returns false if the
    /// line is incomplete. Bytes that cannot be a status line are refused when they arrive.
    private mutating func readStatusLine(
        _ buffer: UnsafeRawBufferPointer, _ offset: inout Int
    ) throws(HTTP1ResponseError) -> Bool {
        let start = offset
        for index in 0..<min(buffer.count - start, bytes, 13) {
            guard Self.fits(buffer[start + index], at: index) else { throw .badStatusLine }
        }
        guard let line = try readLine(buffer, &offset, unfolds: false) else { return false }
        func digit(_ index: Int) -> Int { Int(line[index] - 0x30) }
        version = HTTPVersion(major: 1, minor: digit(7))
        status = HTTPStatus(digit(9) * 100 + digit(10) * 10 + digit(11))
        guard !line[12...].contains(where: { $0 == 0x0D || $0 == 0 }) else { throw .badStatusLine }
        reasonPhrase = HTTP1FieldLine.reasonPhrase(line[12...], for: status)
        declared = HTTP1DeclaredFraming()
        headers.reserveCapacity(12)
        return true
    }

    private static func fits(_ byte: UInt8, at index: Int) -> Bool {
        switch index {
        case 0..<7: byte == ("HTTP/1." as StaticString).utf8Start[index]
        case 8: byte == 0x20
        case 9: ASCII.isDigit(byte) && byte != 0x30
        case 12: byte == 0x20 || byte == 0x0D || byte == 0x0A
        default: ASCII.isDigit(byte)
        }
    }

    /// Parses fields up to the empty line. Returns false if this line has not arrived.
    private mutating func readFields(
        _ buffer: UnsafeRawBufferPointer, _ offset: inout Int, _ known: FieldCache?
    ) throws(HTTP1ResponseError) -> Bool {
        while true {
            // A later line that begins with a blank continues the field before it.
            if offset < buffer.count, ASCII.isBlank(buffer[offset]) { throw .badField }
            guard let line = try readLine(buffer, &offset, unfolds: true) else { return false }
            if line.isEmpty { return true }
            if isFolded {
                isFolded = false
                let unfolded = Self.unfolded(line)
                let error = unfolded.withUnsafeBytes { add($0, nil, isFolded: true) }
                if let error { throw error }
            } else if let error = add(line, known, isFolded: false) {
                throw error
            }
        }
    }

    /// Adds a field, or returns the error.
    private mutating func add(
        _ line: UnsafeRawBufferPointer, _ known: FieldCache?, isFolded: Bool
    ) -> HTTP1ResponseError? {
        guard fields > 0 else { return .tooManyFields }
        fields -= 1
        let field = known.map { $0.field(line, HTTP1FieldLine.field) } ?? HTTP1FieldLine.field(line)
        guard let field else { return .badField }
        headers.appendUnchecked(field)
        if case .fields = state { declared.note(line, isFolded: isFolded) }
        return nil
    }

    /// Replaces each line break with the blanks around it by one space (RFC 9112 §5.2).
    private static func unfolded(_ lines: UnsafeRawBufferPointer) -> [UInt8] {
        var result: [UInt8] = []
        for byte in lines {
            if byte == 0x0A {
                while let last = result.last, last == 0x0D || ASCII.isBlank(last) { result.removeLast() }
                result.append(0x20)
            } else if result.last != 0x20 || !ASCII.isBlank(byte) {
                result.append(byte)
            }
        }
        return result
    }

    /// Returns the line at `offset` without its line break, and advances `offset` past it; nil if it is incomplete.
    /// With `unfolds`, the lines that continue it are part of it, so it is complete when the line after it has begun.
    private mutating func readLine(
        _ buffer: UnsafeRawBufferPointer, _ offset: inout Int, unfolds: Bool
    ) throws(HTTP1ResponseError) -> UnsafeRawBufferPointer? {
        let start = offset
        while let feed = lineFeed(buffer, start) {
            let end = feed > start && buffer[feed - 1] == 0x0D ? feed - 1 : feed
            if unfolds, end > start {
                guard feed + 1 < buffer.count else { break }
                if ASCII.isBlank(buffer[feed + 1]) {
                    isFolded = true
                    scanned += 1
                    continue
                }
            }
            guard feed - start < bytes else { throw .headTooLarge }
            bytes -= feed + 1 - start
            scanned = 0
            offset = feed + 1
            return UnsafeRawBufferPointer(rebasing: buffer[start..<end])
        }
        guard buffer.count - start <= bytes else { throw .headTooLarge }
        return nil
    }

    /// Returns the position of the next LF of the line at `start`, and notes how far the line has been searched.
    private mutating func lineFeed(_ buffer: UnsafeRawBufferPointer, _ start: Int) -> Int? {
        let position = start + scanned
        guard let base = buffer.baseAddress, position < buffer.count else { return nil }
        let found = memchr(base + position, 0x0A, buffer.count - position)
        let feed = found.map { base.distance(to: UnsafeRawPointer($0)) }
        scanned = (feed ?? buffer.count) - start
        return feed
    }

    private mutating func endOfHead() throws(HTTP1ResponseError) -> Event {
        let headers = takeHeaders()
        if declared.closes || declared.isChunked && declared.length != nil { keepsConnection = false }
        let isInterim = status.isInformational && status != 101
        if isInterim || status == .noContent, declared.hasContent { keepsConnection = false }
        if isInterim {
            state = .statusLine
            return .interim(status, headers)
        }
        if let problem = declared.problem { throw problem }
        if version < .http1_1 {
            if declared.isChunked { throw .badTransferCoding }
            if !declared.keepsAlive { keepsConnection = false }
        }
        let framing = framing
        switch framing {
        case .none: state = .ended
        case .length(let count): state = count > 0 ? .content(count) : .ended
        case .chunked: state = .chunkSize
        case .untilClose:
            keepsConnection = false
            state = .untilClose
        case .switched:
            keepsConnection = false
            state = .ended
        }
        return .head(
            HTTP1ResponseHead(
                status: status, version: version, reasonPhrase: reasonPhrase, headers: headers, framing: framing))
    }

    private var framing: HTTP1ResponseHead.Framing {
        if status == 101 || isConnect && status.isSuccess { return .switched }
        if isHead || status.forbidsContent { return .none }
        if declared.isChunked { return .chunked }
        return declared.length.map { .length($0) } ?? .untilClose
    }

    /// Returns the range of at most `count` bytes of content and advances `offset` past it; nil if there are none.
    private func content(_ buffer: UnsafeRawBufferPointer, _ offset: inout Int, _ count: Int) -> Range<Int>? {
        guard offset < buffer.count else { return nil }
        let range = offset..<offset + min(count, buffer.count - offset)
        offset = range.upperBound
        return range
    }

    /// Parses `chunk-size [ chunk-ext ] CRLF` and returns the size; nil if the line is incomplete. Blanks after the
    /// size are ignored, because some servers pad it.
    private mutating func chunkSize(
        _ buffer: UnsafeRawBufferPointer, _ offset: inout Int
    ) throws(HTTP1ResponseError) -> Int? {
        let start = offset
        if start < buffer.count, ASCII.hexValue(buffer[start]) == nil { throw .badChunk }
        let feed = lineFeed(buffer, start)
        guard scanned < Self.chunkLineBytes else { throw .badChunk }
        guard let feed else { return nil }
        scanned = 0
        offset = feed + 1
        guard buffer[feed - 1] == 0x0D else { throw .badChunk }
        var size = 0
        var index = start
        while let digit = ASCII.hexValue(buffer[index]) {
            // A number of 15 digits is below 2⁶⁰. A 32-bit `Int` cannot hold it, so the size is checked as well.
            guard index - start < 15, size <= .max >> 4 else { throw .badChunk }
            size = size << 4 | Int(digit)
            index += 1
        }
        let ext = buffer[index..<feed - 1].drop(while: ASCII.isBlank)
        guard ext.first ?? 0x3B == 0x3B, !ext.contains(where: { ASCII.isControl($0) && $0 != 0x09 }) else {
            throw .badChunk
        }
        return size
    }

    private static var chunkLineBytes: Int { 4096 }
}
