// SPDX-License-Identifier: MIT

import CurlewFoundation
import CurlewHTTP

/// A parser of event streams (WHATWG HTML §9.2) whose bytes arrive in chunks.
///
///     parser.push(chunk)
///     while let event = try parser.next() { … }
///
/// The events do not depend on how the bytes are divided into chunks. An event that is incomplete at the end of the
/// stream is discarded with the parser. Invalid UTF-8 becomes U+FFFD.
///
/// Unlike the standard, the last event ID is an argument of a new parser, so an event without an ID does not reset the
/// ID of the stream after a reconnection.
struct EventStreamParser: Sendable {
    /// An event. `retry` is the reconnection time that the server sent with it, in milliseconds.
    struct Event: Hashable, Sendable {
        var name: String
        var data: String
        var id: String
        var retry: Int64?
    }

    /// What exceeded the limit. The parser cannot continue after it.
    enum Failure: String, Error {
        case line = "A line"
        case event = "The data of an event"
    }

    /// The last event ID of the stream: that of the last complete event or, until there is one, the initial one.
    private(set) var lastEventID: String
    /// The last reconnection time that the server sent, in milliseconds.
    private(set) var retry: Int64?

    /// The maximum size in bytes of the data of an event, and of a line without its field name.
    private let limit: Int
    private var failure: Failure?

    // The current chunk, the position in it, and the next line ends from there: each is searched for only once.
    private var chunk = Data()
    private var position = 0
    private var nextFeed = -1
    private var nextReturn = -1
    /// The beginning of a line whose end has not arrived.
    private var partialLine: [UInt8] = []
    private var isFirstLine = true
    private var skipsFeed = false

    // The event that is being received.
    private var data: [UInt8] = []
    private var hasData = false
    private var name = ""
    private var id: String
    private var eventRetry: Int64?

    init(lastEventID: String = "", limit: Int = .max) {
        self.lastEventID = lastEventID
        id = lastEventID
        self.limit = limit
    }

    /// Adds a chunk. Call `next()` until it returns nil before adding another one; otherwise the rest is copied.
    mutating func push(_ bytes: Data) {
        chunk = position < chunk.count ? chunk.dropFirst(position) + bytes : bytes
        (position, nextFeed, nextReturn) = (0, -1, -1)
    }

    /// Returns the next event, or nil if more bytes are needed. Throws when a limit is exceeded, and then always.
    mutating func next() throws(Failure) -> Event? {
        if let failure { throw failure }
        guard position < chunk.count else { return nil }
        // The copy keeps the bytes alive, while the parser changes itself.
        let bytes = chunk
        let event = bytes.withUnsafeBytes { scan($0) }
        if let failure { throw failure }
        if position >= chunk.count { chunk = Data() }
        return event
    }
}

extension EventStreamParser {
    private static let feed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")
    /// The capacity that a buffer keeps for the next line or event.
    private static let keptCapacity = 64 << 10

    private mutating func scan(_ bytes: UnsafeRawBufferPointer) -> Event? {
        while position < bytes.count {
            if skipsFeed {
                skipsFeed = false
                if bytes[position] == Self.feed {
                    position += 1
                    continue
                }
            }
            if nextFeed < position { nextFeed = bytes.index(ofByte: Self.feed, from: position) }
            if nextReturn < position { nextReturn = bytes.index(ofByte: Self.carriageReturn, from: position) }
            let end = min(nextFeed, nextReturn)
            let part = UnsafeRawBufferPointer(rebasing: bytes[position..<end])
            position = end
            guard partialLine.count + part.count - "data: ".utf8.count <= limit else {
                failure = .line
                return nil
            }
            guard end < bytes.count else {
                partialLine.append(contentsOf: part)
                return nil
            }
            skipsFeed = nextReturn == end
            position += 1
            if let event = endLine(part) { return event }
            if failure != nil { return nil }
        }
        return nil
    }

    private mutating func endLine(_ part: UnsafeRawBufferPointer) -> Event? {
        guard !partialLine.isEmpty else { return process(part) }
        var line: [UInt8] = []
        swap(&line, &partialLine)
        line.append(contentsOf: part)
        let event = line.withUnsafeBytes { process($0) }
        line.removeAll(keepingCapacity: line.capacity <= Self.keptCapacity)
        partialLine = line
        return event
    }

    private mutating func process(_ line: UnsafeRawBufferPointer) -> Event? {
        var line = line
        if isFirstLine {
            isFirstLine = false
            if line.starts(with: [0xEF, 0xBB, 0xBF]) { line = UnsafeRawBufferPointer(rebasing: line[3...]) }
        }
        guard !line.isEmpty else { return endEvent() }
        let colon = line.index(ofByte: UInt8(ascii: ":"), from: 0)
        // A comment.
        if colon == 0 { return nil }
        let field = UnsafeRawBufferPointer(rebasing: line[..<colon])
        let value = Self.value(in: line, after: colon)
        if field.elementsEqual("data".utf8) {
            append(value)
        } else if field.elementsEqual("event".utf8) {
            name = Self.text(value)
        } else if field.elementsEqual("id".utf8) {
            if !value.contains(0) { id = Self.text(value) }
        } else if field.elementsEqual("retry".utf8), let time = Self.number(value) {
            retry = time
            eventRetry = time
        }
        return nil
    }

    private mutating func append(_ value: UnsafeRawBufferPointer) {
        guard data.count + (hasData ? 1 : 0) + value.count <= limit else {
            failure = .event
            return
        }
        if hasData { data.append(Self.feed) }
        hasData = true
        data.append(contentsOf: value)
    }

    private mutating func endEvent() -> Event? {
        lastEventID = id
        defer {
            name = ""
            eventRetry = nil
        }
        guard hasData else { return nil }
        hasData = false
        let text = String(decoding: data, as: UTF8.self)
        data.removeAll(keepingCapacity: data.capacity <= Self.keptCapacity)
        return Event(name: name.isEmpty ? "message" : name, data: text, id: id, retry: eventRetry)
    }

    /// Returns the bytes after the colon, without one space at their beginning.
    private static func value(in line: UnsafeRawBufferPointer, after colon: Int) -> UnsafeRawBufferPointer {
        guard colon < line.count else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        let start = colon + 1
        let hasSpace = start < line.count && line[start] == UInt8(ascii: " ")
        return UnsafeRawBufferPointer(rebasing: line[(hasSpace ? start + 1 : start)...])
    }

    private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
        String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the number that consists of these ASCII digits, at most `Int64.max`; nil for other text.
    private static func number(_ digits: UnsafeRawBufferPointer) -> Int64? {
        guard !digits.isEmpty else { return nil }
        var number: Int64 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            let (product, isTooLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, overflow) = product.addingReportingOverflow(Int64(digit - UInt8(ascii: "0")))
            number = isTooLarge || overflow ? .max : sum
        }
        return number
    }
}
