// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// A connection from a client. Its thread reads requests and sends responses until one side closes the connection.
struct MockConnection: ~Copyable {
    private let socket: Int32
    private let index: Int
    private let core: MockServerCore
    private var parser: HTTP1RequestParser
    private var buffer = [UInt8](repeating: 0, count: 16_384)

    /// Creates a connection that owns the descriptor and closes it when the connection ends.
    init(_ socket: Int32, index: Int, core: MockServerCore) {
        self.socket = socket
        self.index = index
        self.core = core
        var limits = HTTP1RequestParser.Limits()
        limits.bodyBytes = core.configuration.maximumBodyBytes
        parser = HTTP1RequestParser(limits: limits)
    }

    deinit {
        core.closeConnection(socket)
    }

    consuming func run() {
        var exchange = 0
        while let request = readRequest(&exchange) {
            let response = core.response(to: request)
            if let script = response.socketScript {
                guard serve(script, of: response, to: request) else { return }
            } else {
                var reply = MockReply(socket, core: core)
                guard reply.send(response, to: request) else { return }
            }
            exchange += 1
        }
    }

    /// Responds to the opening handshake of a WebSocket connection, and serves the connection to its end. Returns
    /// `true` if the handshake was refused, so that the connection stays open for the next request.
    private mutating func serve(
        _ script: MockSocketScript, of response: MockResponse, to request: RecordedRequest
    ) -> Bool {
        let (head, accepted) = response.handshake(script, with: request)
        var reply = MockReply(socket, core: core)
        guard reply.send(head, to: request) else { return false }
        guard let accepted else { return true }
        let peer: ServedWebSocket
        do {
            peer = try ServedWebSocket(
                script.options, subprotocol: accepted.subprotocol, compression: accepted.compression)
        } catch {
            return reply.end(.reset)
        }
        var pump = WebSocketPump(peer, on: socket, core: core)
        switch pump.run(script, first: parser.takeRemainder()) {
        case nil: return false
        case .close: closeWithUnread()
        case let interruption?: return reply.end(interruption)
        }
        return false
    }

    /// Reads and returns the next request with its complete content. Returns `nil` when the connection is to be closed.
    private mutating func readRequest(_ exchange: inout Int) -> RecordedRequest? {
        var partial = PartialRequest()
        while true {
            do throws(HTTP1ParseError) {
                while let event = try parser.next() {
                    if case .head(let head) = event, let response = core.takeEarlyResponse() {
                        guard respondEarly(response, to: head, exchange) else { return nil }
                        partial.hasResponse = true
                    }
                    guard partial.add(event) else { continue }
                    if !partial.hasResponse {
                        return partial.request(to: core.origin, connection: index, exchange: exchange)
                    }
                    partial = PartialRequest()
                    exchange += 1
                }
            } catch {
                refuse(error)
                return nil
            }
            if partial.takeExpectation(), !continueRequest() { return nil }
            guard receive() else { return nil }
        }
    }

    /// Waits for bytes and passes them to the parser. Returns `false` when the connection is to be closed.
    private mutating func receive() -> Bool {
        while true {
            // If the next response interrupts the connection before its request is read, no byte of the request may be
            // received.
            let isUnread = parser.isIdle && core.unreadInterruption(take: false) != nil
            if !isUnread {
                let received = buffer.withUnsafeMutableBytes { bytes in
                    let received = LoopbackSocket.receive(socket, into: bytes)
                    if case .bytes(let count) = received {
                        parser.receive(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
                    }
                    return received
                }
                switch received {
                case .bytes: return true
                case .closed: return false
                case .nothing: break
                }
            }
            let deadline = SystemTime.Deadline(core.configuration.idleTimeout, after: SystemTime().now)
            guard core.stopSignal.wait(for: Int32(POLLIN), on: socket, until: deadline) == .ready else { return false }
            // If the client has closed the connection, no request arrives, and the interruption waits for the next
            // connection.
            if isUnread, LoopbackSocket.isClosed(socket) { return false }
            if isUnread, let interruption = core.unreadInterruption(take: true) {
                if interruption == .close {
                    closeWithUnread()
                } else {
                    _ = MockReply(socket, core: core).end(interruption)
                }
                return false
            }
        }
    }

    /// Sends a 100 response to a client that waits for it before sending content (RFC 9110 §10.1.1). Returns `false` if
    /// the connection is broken or the server stops.
    private func continueRequest() -> Bool {
        var bytes: [UInt8] = []
        guard (try? HTTP1ResponseWriter.informational(100, into: &bytes)) != nil else { return false }
        var reply = MockReply(socket, core: core)
        return reply.send(bytes)
    }

    /// Responds before the content of the request has arrived. Returns `false` when the connection is to be closed. In
    /// this case the content stays unread, and this method returns after the client has closed its side.
    private func respondEarly(_ response: MockResponse, to head: HTTP1RequestHead, _ exchange: Int) -> Bool {
        var partial = PartialRequest()
        _ = partial.add(.head(head))
        guard let request = partial.request(to: core.origin, connection: index, exchange: exchange) else {
            return false
        }
        core.record(request)
        var reply = MockReply(socket, core: core)
        if reply.send(response, to: request) { return true }
        return reply.end(.halfClose)
    }

    /// Responds to a malformed request with the status of the error, and closes the sending side.
    private mutating func refuse(_ error: HTTP1ParseError) {
        let response = MockResponse.problem(error.status, error.description).closing()
        var reply = MockReply(socket, core: core)
        _ = reply.send(response, isHead: false, keepAlive: false, version: .http1_1)
        closeWithUnread()
    }

    /// Closes the sending side, then reads and discards bytes for at most one second. If the socket were closed while
    /// bytes are unread, the system would send a reset, and it could arrive before the client has read the response.
    private mutating func closeWithUnread() {
        LoopbackSocket.finish(socket)
        let deadline = SystemTime.Deadline(.seconds(1), after: SystemTime().now)
        while core.stopSignal.wait(for: Int32(POLLIN), on: socket, until: deadline) == .ready {
            let received = buffer.withUnsafeMutableBytes { LoopbackSocket.receive(socket, into: $0) }
            if case .closed = received { return }
        }
    }
}

/// A request of which only a part has been read.
private struct PartialRequest {
    private var head: HTTP1RequestHead?
    private var body = Data()
    private var trailers = HTTPHeaders()
    private var expectsContinue = false
    /// Whether the response has already been sent.
    var hasResponse = false

    /// Adds a parser event. Returns `true` when the request is complete.
    mutating func add(_ event: HTTP1RequestParser.Event) -> Bool {
        switch event {
        case .head(let head):
            self.head = head
            expectsContinue = head.expectsContinue
            if case .length(let length) = head.framing { body.reserveCapacity(min(length, 1 << 20)) }
        case .body(let data):
            // The client did not wait for a 100 response.
            expectsContinue = false
            body.append(data)
        case .trailers(let trailers): self.trailers = trailers
        case .end: return true
        }
        return false
    }

    /// Returns whether a 100 response is due. Returns `true` at most once for each request.
    mutating func takeExpectation() -> Bool {
        defer { expectsContinue = false }
        return expectsContinue && !hasResponse
    }

    func request(to origin: Origin, connection: Int, exchange: Int) -> RecordedRequest? {
        head.map { head in
            var request = RecordedRequest(
                HTTPRequest(
                    head.method, origin: origin, target: head.target, headers: head.headers, body: .bytes(body)), body)
            (request.version, request.trailers, request.keepAlive) = (head.version, trailers, head.keepAlive)
            (request.connectionIndex, request.exchangeIndex) = (connection, exchange)
            return request
        }
    }
}
