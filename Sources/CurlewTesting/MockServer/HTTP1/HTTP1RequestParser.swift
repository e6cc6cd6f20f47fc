// SPDX-License-Identifier: MIT

import CurlewFoundation
import CurlewHTTP

/// An incremental parser for HTTP/1.x requests, without I/O (RFC 9112).
///
///     parser.receive(bytes)
///     while let event = try parser.next() { ... }
///
/// Every request produces `.head`, then any number of `.body`, `.trailers` if there are any, and `.end`. Bytes of the
/// next request are kept for the calls after `.end`. How the input is split affects only the sizes of the `.body`
/// events. After an error, every call of `next()` throws the same error.
///
/// Input that two servers may interpret differently is rejected, including bare LF and folded fields. Invalid UTF-8 in
/// a field value is replaced.
///
/// The parser stores received bytes until they are consumed. Call `next()` until it returns `nil` before receiving
/// more.
struct HTTP1RequestParser: Sendable {
    enum Event: Equatable, Sendable {
        case head(HTTP1RequestHead)
        case body(Data)
        case trailers(HTTPHeaders)
        case end
    }

    struct Limits: Sendable {
        /// The maximum size of the request line and fields together, and of the trailers, in bytes. Default: 64 KiB.
        var headBytes = 65_536
        /// The maximum number of fields in a head, and in trailers. Default: 256.
        var fields = 256
        /// The maximum size of the content of a request, in bytes. Default: 64 MiB.
        var bodyBytes = 67_108_864
        /// The maximum size of the line before a chunk, with its extensions, in bytes. Default: 4 KiB.
        var chunkLineBytes = 4096
    }

    private let limits: Limits
    private var buffer = HTTP1Buffer()
    private var state = State.requestLine
    private var headers = HTTPHeaders()
    private var headRemaining: Int
    private var bodyRemaining: Int

    init(limits: Limits = Limits()) {
        self.limits = limits
        headRemaining = limits.headBytes
        bodyRemaining = limits.bodyBytes
    }

    mutating func receive(_ bytes: UnsafeRawBufferPointer) {
        if case .failed = state { return }
        buffer.append(bytes)
    }

    /// Returns the next event, or `nil` if more bytes are needed.
    mutating func next() throws(HTTP1ParseError) -> Event? {
        do throws(HTTP1ParseError) {
            while true {
                switch try step() {
                case .event(let event): return event
                case .again: continue
                case .starved: return nil
                }
            }
        } catch {
            state = .failed(error)
            throw error
        }
    }

    /// Whether the parser is between two requests and no bytes of the next one have been received, so that the
    /// connection can be closed without truncating a request.
    var isIdle: Bool {
        if case .requestLine = state { return buffer.count == 0 }
        return false
    }

    /// Removes and returns the bytes that have been received and not consumed. Used after a request that switches to
    /// another protocol.
    mutating func takeRemainder() -> Data {
        buffer.take(upTo: buffer.count) ?? Data()
    }

    private enum State {
        case requestLine
        case fields(HTTPMethod, String, HTTPVersion)
        case body(Int)
        case chunkSize
        case chunk(Int)
        case chunkEnd
        case trailers
        case finished
        case failed(HTTP1ParseError)
    }

    private enum Step {
        case event(Event)
        /// The state changed without an event; the parser continues.
        case again
        case starved
    }

    private mutating func step() throws(HTTP1ParseError) -> Step {
        switch state {
        case .requestLine:
            guard let line = try headLine() else { return .starved }
            // Empty lines before a request are skipped (RFC 9112 §2.2). They count towards the limit of the head.
            if line.isEmpty { return .again }
            let (method, target, version) = try HTTP1Grammar.requestLine(line)
            state = .fields(method, target, version)
            return .again
        case .fields(let method, let target, let version):
            guard let line = try headLine() else { return .starved }
            if line.isEmpty { return .event(.head(try head(method, target, version))) }
            try addField(line)
            return .again
        case .body(let remaining): return body(remaining, next: .finished) { .body($0) }
        case .chunkSize: return try chunkSize()
        case .chunk(let remaining): return body(remaining, next: .chunkEnd) { .chunk($0) }
        case .chunkEnd:
            guard let isEnd = buffer.takeLineEnd() else { return .starved }
            guard isEnd else { throw .badChunk }
            state = .chunkSize
            return .again
        case .trailers:
            guard let line = try headLine() else { return .starved }
            guard line.isEmpty else {
                try addField(line)
                return .again
            }
            state = .finished
            return headers.isEmpty ? .again : .event(.trailers(headers))
        case .finished:
            state = .requestLine
            startFields()
            return .event(.end)
        case .failed(let error): throw error
        }
    }
}

extension HTTP1RequestParser {
    private mutating func headLine() throws(HTTP1ParseError) -> ArraySlice<UInt8>? {
        guard let line = try buffer.line(limit: headRemaining, tooLong: .headTooLarge) else { return nil }
        headRemaining -= line.count + 2
        return line
    }

    private mutating func addField(_ line: ArraySlice<UInt8>) throws(HTTP1ParseError) {
        guard headers.count < limits.fields else { throw .tooManyFields }
        if let first = line.first, ASCII.isBlank(first) { throw .foldedField }
        guard let colon = line.firstIndex(of: 0x3A) else { throw .badFieldName }
        let name = HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self))
        guard name.isValid else { throw .badFieldName }
        let value = line[(colon + 1)...]
        guard value.allSatisfy({ !ASCII.isControl($0) || $0 == 0x09 }) else { throw .badFieldValue }
        headers.append(name, String(decoding: value, as: UTF8.self))
    }

    private mutating func head(
        _ method: HTTPMethod, _ target: String, _ version: HTTPVersion
    ) throws(HTTP1ParseError) -> HTTP1RequestHead {
        let hosts = headers[values: .host].count
        guard hosts == 1 || (hosts == 0 && version < .http1_1) else { throw .badHost }
        let framing = try HTTP1Grammar.framing(headers, version)
        switch framing {
        case .length(let length):
            guard length <= limits.bodyBytes else { throw .bodyTooLarge }
            state = .body(length)
        case .chunked:
            bodyRemaining = limits.bodyBytes
            state = .chunkSize
        }
        let head = HTTP1RequestHead(
            method: method, target: target, version: version, headers: headers, framing: framing)
        startFields()
        return head
    }

    private mutating func startFields() {
        headers = HTTPHeaders()
        headRemaining = limits.headBytes
    }

    private mutating func chunkSize() throws(HTTP1ParseError) -> Step {
        guard let line = try buffer.line(limit: limits.chunkLineBytes, tooLong: .badChunk) else { return .starved }
        let size = try HTTP1Grammar.chunkSize(line)
        guard size <= bodyRemaining else { throw .bodyTooLarge }
        bodyRemaining -= size
        state = size == 0 ? .trailers : .chunk(size)
        return .again
    }

    /// Returns the buffered part of the `remaining` bytes of content, and changes the state to `next` when none remain.
    private mutating func body(_ remaining: Int, next: State, remainder: (Int) -> State) -> Step {
        guard remaining > 0 else {
            state = next
            return .again
        }
        guard let data = buffer.take(upTo: remaining) else { return .starved }
        state = remainder(remaining - data.count)
        return .event(.body(data))
    }
}
