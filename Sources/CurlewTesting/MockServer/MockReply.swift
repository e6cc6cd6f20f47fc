// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// Sends one response with its faults. A head and a small body are sent with a single system call.
struct MockReply {
    let socket: Int32
    let core: MockServerCore
    /// The bytes that have been serialized but not sent.
    private var pending: [UInt8] = []
    /// The number of content bytes that may still be sent before the interruption.
    private var contentLeft = Int.max

    init(_ socket: Int32, core: MockServerCore) {
        self.socket = socket
        self.core = core
    }

    /// Sends the response. Returns `false` when the connection is to be closed.
    mutating func send(_ response: MockResponse, to request: RecordedRequest) -> Bool {
        send(response, isHead: request.method == .head, keepAlive: request.keepAlive, version: request.version)
    }

    mutating func send(_ response: MockResponse, isHead: Bool, keepAlive: Bool, version: HTTPVersion) -> Bool {
        let faults = response.faults
        if let raw = faults.raw {
            pending = Array(raw)
            let isPaced = faults.pace?.includesHead == true
            _ = pause(faults.headDelay) && (isPaced ? sendPaced(faults.pace) : flush())
            return false
        }
        let plan: MockReplyPlan
        do throws(HTTP1WriteError) {
            plan = try MockReplyPlan(response, isHead: isHead, keepAlive: keepAlive, version: version)
        } catch {
            let problem = MockResponse.problem(.internalServerError, "the mock's response cannot be sent: \(error)")
            return send(problem, isHead: isHead, keepAlive: keepAlive, version: version)
        }
        pending = plan.informational
        if faults.headDelay != nil || faults.cut != nil { guard flush() else { return false } }
        guard pause(faults.headDelay) else { return false }
        if let cut = faults.cut, cut.stage == .beforeHead || cut.stage == .beforeRequestRead {
            return end(cut.interruption)
        }

        pending += plan.head
        if let cut = faults.cut, cut.stage == .insideHead {
            pending.removeLast(plan.head.count / 2)
            return flush() && end(cut.interruption)
        }
        if faults.pace?.includesHead == true { guard sendPaced(faults.pace) else { return false } }
        if faults.bodyDelay != nil || faults.cut != nil { guard flush() else { return false } }
        guard pause(faults.bodyDelay) else { return false }
        if let cut = faults.cut, cut.stage == .afterHead { return end(cut.interruption) }

        contentLeft = faults.contentLimit ?? .max
        if let script = response.eventScript, !plan.isBare {
            guard sendEvents(script, plan, pace: faults.pace) else { return false }
        } else {
            guard sendContent(plan.content, plan, pace: faults.pace), flush() else { return false }
        }
        if let cut = faults.cut { return end(cut.interruption) }
        return plan.keepsConnection
    }

    /// Sends bytes immediately. Returns `false` if the connection is broken or the server stops.
    mutating func send(_ bytes: [UInt8]) -> Bool {
        pending += bytes
        return flush()
    }

    private mutating func sendContent(_ source: MockContent, _ plan: MockReplyPlan, pace: Faults.Pace?) -> Bool {
        var content = source
        guard send(&content, plan, pace) else { return false }
        // Truncated content must not appear complete, so no last chunk follows it.
        if content.hasFailed { return false }
        sendEnd(plan)
        return true
    }

    /// Sends a part of the content, in pieces if there is a pace.
    mutating func sendPieces(of part: Data, _ plan: MockReplyPlan, _ pace: Faults.Pace?) -> Bool {
        var content = MockContent(part)
        return send(&content, plan, pace)
    }

    private mutating func send(_ content: inout MockContent, _ plan: MockReplyPlan, _ pace: Faults.Pace?) -> Bool {
        while contentLeft > 0, var piece = content.next(upTo: min(contentLeft, pace?.bytes ?? .max)) {
            contentLeft -= piece.count
            if let line = plan.chunkLine {
                pending += "\(line)\r\n".utf8 + piece + "\r\n".utf8
            } else if plan.isChunked {
                HTTP1ResponseWriter.chunk(piece, into: &pending)
            } else if pending.isEmpty {
                swap(&pending, &piece)
            } else {
                pending += piece
            }
            if pace != nil || pending.count >= 65_536 { guard flush() else { return false } }
            guard pause(pace?.pause) else { return false }
        }
        return true
    }

    /// Whether the response is to be sent further, because it is not interrupted here.
    var hasContentLeft: Bool { contentLeft > 0 }

    /// Adds the end of complete content.
    mutating func sendEnd(_ plan: MockReplyPlan) {
        if contentLeft > 0 { pending += plan.end }
    }

    /// Sends the pending bytes in pieces, with a pause after each piece. Returns `false` when the connection is to be
    /// closed.
    private mutating func sendPaced(_ pace: Faults.Pace?) -> Bool {
        guard let pace else { return flush() }
        var remainder = pending[...]
        while !remainder.isEmpty {
            pending = Array(remainder.prefix(pace.bytes))
            remainder = remainder.dropFirst(pace.bytes)
            guard flush(), pause(pace.pause) else { return false }
        }
        return true
    }

    /// Sends the pending bytes. Returns `false` if the connection is broken or the server stops.
    mutating func flush() -> Bool {
        var sent = 0
        while sent < pending.count {
            let count = pending.withUnsafeBytes {
                LoopbackSocket.transmit(socket, UnsafeRawBufferPointer(rebasing: $0[sent...]))
            }
            guard let count else { return false }
            sent += count
            core.addSentBytes(count)
            if count == 0, core.stopSignal.wait(for: Int32(POLLOUT), on: socket, until: .never) != .ready {
                return false
            }
        }
        pending.removeAll(keepingCapacity: true)
        return true
    }

    /// Waits for `delay`. Returns `false` if the peer closes the connection or the server stops in the meantime.
    private func pause(_ delay: Duration?) -> Bool {
        guard let delay else { return true }
        return core.stopSignal.hold(socket, until: SystemTime.Deadline(delay, after: SystemTime().now))
            == .timedOut
    }

    /// Interrupts the response. Always returns `false`, because the connection is to be closed.
    func end(_ interruption: MockResponse.Interruption) -> Bool {
        switch interruption {
        case .close: break
        case .halfClose:
            LoopbackSocket.finish(socket)
            _ = core.stopSignal.hold(socket, until: .never)
        case .reset: LoopbackSocket.resetOnClose(socket)
        case .stall: _ = core.stopSignal.hold(socket, until: .never)
        }
        return false
    }
}

/// The serialized parts of a response. If the response cannot be sent, creating the plan throws before any byte has
/// been sent.
struct MockReplyPlan {
    let informational: [UInt8]
    let head: [UInt8]
    let content: MockContent
    /// The bytes after complete content: the last chunk with the trailers, or nothing.
    let end: [UInt8]
    let isChunked: Bool
    /// Whether the response consists of its head only.
    let isBare: Bool
    /// The size line of every chunk, if it is to be malformed; otherwise `nil`.
    let chunkLine: String?
    let keepsConnection: Bool

    init(_ response: MockResponse, isHead: Bool, keepAlive: Bool, version: HTTPVersion) throws(HTTP1WriteError) {
        let source = try MockContent(response.body)
        let replaced = response.faults.framing
        let framing = replaced == nil ? Self.framing(response, source, isHead: isHead, version: version) : .none
        let keeps = response.keepAlive && keepAlive && framing != .untilClose
        var headers = response.headers
        if !keeps, response.keepAlive == false || framing == .untilClose {
            if !headers.contains(.connection) { headers.append(.connection, "close") }
        } else if keeps, version < .http1_1, !headers.contains(.connection) {
            headers.append(.connection, "keep-alive")
        }

        var before: [UInt8] = []
        for head in response.informational {
            try HTTP1ResponseWriter.informational(head.status, headers: head.headers, into: &before)
        }
        var bytes: [UInt8] = []
        try HTTP1ResponseWriter.head(
            response.status, reason: response.reason, headers: headers, framing: framing, into: &bytes)
        if let replaced {
            // The framing fields belong before the empty line that ends the head.
            bytes.removeLast(2)
            for line in replaced.lines + [""] { bytes += "\(line)\r\n".utf8 }
        }
        isBare = isHead || response.status.forbidsContent
        var end: [UInt8] = []
        if framing == .chunked || replaced?.hasLastChunk == true {
            try HTTP1ResponseWriter.lastChunk(trailers: response.trailers, into: &end)
        }

        informational = before
        head = bytes
        content = isBare ? .empty : source
        self.end = isBare ? [] : end
        isChunked = framing == .chunked || replaced?.isChunked == true
        chunkLine = replaced?.chunkLine
        keepsConnection = keeps && !response.faults.closesSilently && replaced == nil
    }

    private static func framing(
        _ response: MockResponse, _ content: MockContent, isHead: Bool, version: HTTPVersion
    ) -> HTTP1ResponseWriter.Framing {
        if response.status.forbidsContent || isHead {
            // A response without content may declare the length that its content would have.
            if let length = response.headers[.contentLength].flatMap({ Int($0) }) { return .length(length) }
            if response.status.forbidsContent { return .none }
        }
        if let length = content.length, response.trailers.isEmpty { return .length(length) }
        return version < .http1_1 ? .untilClose : .chunked
    }
}
