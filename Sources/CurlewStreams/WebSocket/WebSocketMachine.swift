// SPDX-License-Identifier: MIT

package import CurlewFoundation
package import CurlewHTTP

/// A violation of RFC 6455 by the peer, or a message that cannot be sent, with the code for the close frame.
package struct WebSocketViolation: Error, Equatable {
    package let code: WebSocketCloseCode
    package let text: String

    package init(_ code: WebSocketCloseCode, _ text: String) {
        self.code = code
        self.text = text
    }
}

/// The compression of messages (RFC 7692), for both directions of one connection.
package protocol WebSocketCompression: AnyObject, Sendable {
    func compress(_ payload: Data) throws(WebSocketViolation) -> Data
    /// Returns the decompressed payload. Throws `.messageTooBig` beyond `limit` bytes, `.invalidText` for invalid data.
    func decompress(_ payload: Data, limit: Int) throws(WebSocketViolation) -> Data
}

/// One end of a WebSocket connection after the handshake, without I/O: bytes to events, and messages to bytes.
package struct WebSocketMachine: Sendable {
    package enum Role: Sendable { case client, server }

    package struct Limits: Sendable {
        /// The maximum size of a message in bytes, after decompression.
        var message: Int
        /// The maximum size of a frame in bytes.
        var frame: Int

        package init(message: Int = 16 << 20, frame: Int = 16 << 20) {
            self.message = message
            self.frame = frame
        }
    }

    package enum Event: Equatable, Sendable {
        case message(WebSocketMessage)
        case ping(Data)
        case pong(Data)
        /// The close frame of the peer; the code is `.noStatus` if the frame has none.
        case close(WebSocketCloseCode, reason: String)
    }

    /// The message of which some frames have arrived.
    private struct Partial {
        let isText: Bool
        let isCompressed: Bool
        var payload = Data()
        var frames = 0
        var utf8 = UTF8Checker()
        /// Whether `utf8` has received the whole payload.
        var isChecked = false
    }

    let role: Role
    private let limits: Limits
    let compression: (any WebSocketCompression)?
    let mask: @Sendable () -> UInt32
    /// The bytes that belong to no complete frame, from `start`.
    private var buffer = Data()
    private var start = 0
    /// The header of the frame whose payload is incomplete.
    private var frame: WebSocketFrameHeader?
    private var partial: Partial?
    /// The number of payload bytes of the current text frame that have been checked.
    private var checked = 0
    private var isOver = false
    /// Whether `receive` stopped because of its limit, so that there may be more events without further bytes.
    private(set) var hasMore = false
    /// The violation after the events that `receive` returned last.
    private var violation: WebSocketViolation?

    /// The maximum number of frames of a message. More would let a peer send empty frames without an end.
    private static let frameLimit = 1 << 17

    package init(
        role: Role, limits: Limits = Limits(), compression: (any WebSocketCompression)? = nil,
        mask: @escaping @Sendable () -> UInt32 = { UInt32.random(in: .min ... .max) }
    ) {
        self.role = role
        self.limits = limits
        self.compression = compression
        self.mask = mask
    }

    // MARK: Receiving

    /// Processes bytes, split at any offset. Events before a violation are returned; the next call of `receive` or
    /// `throwViolation` throws it. After a close frame or a violation, further bytes are ignored.
    ///
    /// - `maximum`: the number of events after which the machine stops; less than `.max` also stops after a message of
    ///   64 KiB or more. If `hasMore` is true then, call `receive` again, with or without further bytes.
    package mutating func receive(_ bytes: Data, maximum: Int = .max) throws(WebSocketViolation) -> [Event] {
        try throwViolation()
        guard !isOver else { return [] }
        if start == buffer.count { (buffer, start) = (bytes, 0) } else { buffer.append(bytes) }
        var events: [Event] = []
        hasMore = false
        do throws(WebSocketViolation) {
            while !isOver, !hasMore, try readFrame(into: &events) {
                let isLarge = if case .message(let message) = events.last { message.count >= Self.large } else { false }
                hasMore = events.count >= maximum || (maximum != .max && isLarge)
            }
        } catch {
            violation = error
            isOver = true
        }
        if isOver { finish() } else if !hasMore { compact() }
        if events.isEmpty { try throwViolation() }
        return events
    }

    private static let large = 64 << 10

    /// Throws the violation after the events that `receive` returned last, if there was one. Throws it once.
    package mutating func throwViolation() throws(WebSocketViolation) {
        guard let violation else { return }
        self.violation = nil
        throw violation
    }

    /// The number of received bytes that the machine keeps: at most `Limits.message`, with compression the compressed
    /// size of that many bytes, and one control frame.
    var keptBytes: Int { buffer.count + (partial?.payload.count ?? 0) }

    private mutating func finish() {
        (buffer, start, partial, frame, hasMore) = (Data(), 0, nil, nil, false)
    }

    /// Removes the bytes that have been processed. Only bytes of the last call of `receive` are moved.
    private mutating func compact() {
        guard start > 0 else { return }
        buffer = start == buffer.count ? Data() : Data(buffer[(buffer.startIndex + start)...])
        start = 0
    }

    private mutating func readFrame(into events: inout [Event]) throws(WebSocketViolation) -> Bool {
        if frame == nil {
            guard let (header, size) = try WebSocketFrameHeader.read(buffer, from: start) else { return false }
            try check(header)
            start += size
            frame = header
            checked = 0
            if !header.opcode.isControl {
                if partial == nil {
                    partial = Partial(isText: header.opcode == .text, isCompressed: header.isCompressed)
                }
                partial?.frames += 1
            }
        }
        guard let header = frame else { return false }
        guard buffer.count - start >= header.length else {
            try checkArrived(header)
            return false
        }
        let first = buffer.startIndex + start
        var payload = Data(buffer[first..<(first + header.length)])
        if let mask = header.mask { WebSocketFrameHeader.apply(mask, to: &payload) }
        start += header.length
        frame = nil
        if header.opcode.isControl {
            events.append(try control(header.opcode, payload))
        } else if let message = try data(header, payload) {
            events.append(.message(message))
        }
        return true
    }

    /// Checks the rules of RFC 6455 §5.2, §5.4 and §5.5 that the header alone decides.
    private func check(_ header: WebSocketFrameHeader) throws(WebSocketViolation) {
        guard header.reserved == 0 else { throw broken("A reserved bit is set without an extension.") }
        if header.isCompressed {
            guard compression != nil else { throw broken("RSV1 is set, but compression was not negotiated.") }
            guard header.opcode == .text || header.opcode == .binary else {
                throw broken("RSV1 is set on a frame that does not begin a message.")
            }
        }
        guard (header.mask != nil) == (role == .server) else {
            throw broken(role == .server ? "A frame of the client is not masked." : "A frame of the server is masked.")
        }
        if header.opcode.isControl {
            guard header.isFinal else { throw broken("A control frame is fragmented.") }
            guard header.length <= 125 else { throw broken("A control frame has more than 125 bytes.") }
            return
        }
        if header.opcode == .continuation {
            guard let partial else { throw broken("A continuation frame does not continue a message.") }
            guard partial.frames < Self.frameLimit else { throw broken("A message has too many frames.") }
        } else {
            guard partial == nil else { throw broken("A message begins within another message.") }
        }
        let isCompressed = partial?.isCompressed ?? header.isCompressed
        guard header.length <= (isCompressed ? Self.compressedSize(of: limits.frame) : limits.frame) else {
            throw WebSocketViolation(
                .messageTooBig, "A frame has \(header.length) bytes; the limit is \(limits.frame).")
        }
        let limit = isCompressed ? Self.compressedSize(of: limits.message) : limits.message
        // A sum could overflow if the limits are those of Int.
        guard header.length <= limit - (partial?.payload.count ?? 0) else { throw tooBig }
    }

    /// Returns the maximum compressed size of this number of bytes. Data without repetitions grows by the headers of
    /// deflate's blocks: 5 bytes for up to 16 KiB.
    private static func compressedSize(of count: Int) -> Int {
        let (sum, overflows) = count.addingReportingOverflow(count >> 10 + 64)
        return overflows ? .max : sum
    }

    private var tooBig: WebSocketViolation {
        WebSocketViolation(.messageTooBig, "A message has more than \(limits.message) bytes.")
    }

    private func broken(_ text: String) -> WebSocketViolation {
        WebSocketViolation(.protocolError, text)
    }

    private static let invalidText = WebSocketViolation(.invalidText, "A text message is not valid UTF-8.")

    /// Checks the part of a text frame that has arrived, so that invalid text is refused at once.
    private mutating func checkArrived(_ header: WebSocketFrameHeader) throws(WebSocketViolation) {
        guard !header.opcode.isControl, partial?.isText == true, partial?.isCompressed == false else { return }
        let first = buffer.startIndex + start + checked
        var piece = Data(buffer[first...])
        guard !piece.isEmpty else { return }
        if let mask = header.mask { WebSocketFrameHeader.apply(mask, to: &piece, from: checked) }
        checked += piece.count
        guard partial?.utf8.receive(piece) != false else { throw Self.invalidText }
    }

    private mutating func data(
        _ header: WebSocketFrameHeader, _ payload: Data
    ) throws(WebSocketViolation) -> WebSocketMessage? {
        guard var message = partial else { return nil }
        partial = nil
        if message.isText, !message.isCompressed, !(header.isFinal && message.frames == 1 && checked == 0) {
            guard message.utf8.receive(payload.dropFirst(checked)) else { throw Self.invalidText }
            message.isChecked = true
        }
        if message.payload.isEmpty { message.payload = payload } else { message.payload.append(payload) }
        guard header.isFinal else {
            partial = message
            return nil
        }
        var content = message.payload
        if message.isCompressed, let compression {
            content = try compression.decompress(content, limit: limits.message)
        }
        guard message.isText else { return .binary(content) }
        if message.isCompressed || !message.isChecked {
            guard message.utf8.receive(content) else { throw Self.invalidText }
        }
        guard message.utf8.isComplete else { throw Self.invalidText }
        return .text(String(decoding: content, as: UTF8.self))
    }

    private mutating func control(
        _ opcode: WebSocketFrameHeader.Opcode, _ payload: Data
    ) throws(WebSocketViolation) -> Event {
        switch opcode {
        case .ping: return .ping(payload)
        case .pong: return .pong(payload)
        default: break
        }
        guard !payload.isEmpty else {
            isOver = true
            return .close(.noStatus, reason: "")
        }
        guard payload.count >= 2 else { throw broken("A close frame has a payload of one byte.") }
        let code = WebSocketCloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
        guard code.isValidOnWire else { throw broken("A close frame has the invalid code \(code).") }
        let reason = payload.dropFirst(2)
        var utf8 = UTF8Checker()
        guard utf8.receive(reason), utf8.isComplete else {
            throw WebSocketViolation(.invalidText, "The reason of a close frame is not valid UTF-8.")
        }
        isOver = true
        return .close(code, reason: String(decoding: reason, as: UTF8.self))
    }
}
