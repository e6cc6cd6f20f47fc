// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// One connection on its thread: reads a request, has it answered, and again until one side closes.
struct MockConnection: ~Copyable {
    private let socket: Int32
    private let index: Int
    private let core: MockServerCore
    private var parser: HTTP1RequestParser
    private var buffer = [UInt8](repeating: 0, count: 16_384)

    /// Takes over the descriptor and closes it at the end.
    init(_ socket: Int32, index: Int, core: MockServerCore) {
        self.socket = socket
        self.index = index
        self.core = core
        var limits = HTTP1RequestParser.Limits()
        limits.bodyBytes = core.configuration.maximumBodyBytes
        parser = HTTP1RequestParser(limits: limits)
    }

    deinit {
        close(socket)
    }

    consuming func run() {
        var exchange = 0
        while let request = readRequest(exchange) {
            let response = core.answer(request)
            var reply = MockReply(socket, stopSignal: core.stopSignal)
            guard reply.send(response, to: request) else { return }
            exchange += 1
        }
    }

    /// The next request with its whole content, `nil` when the connection is to be closed.
    private mutating func readRequest(_ exchange: Int) -> RecordedRequest? {
        var partial = PartialRequest()
        while true {
            do throws(HTTP1ParseError) {
                while let event = try parser.next() {
                    if partial.add(event) { return partial.request(connection: index, exchange: exchange) }
                }
            } catch {
                refuse(error)
                return nil
            }
            if partial.takeExpectation(), !continueRequest() { return nil }
            guard receive() else { return nil }
        }
    }

    /// Waits for bytes and gives them to the parser; `false` when there will be none.
    private mutating func receive() -> Bool {
        while true {
            // A scripted reset comes before the first byte of its request is read.
            let isUnread = parser.isIdle && core.hasUnreadReset(take: false)
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
            let deadline = Deadline(core.configuration.idleTimeout, after: SystemTime().now)
            guard core.stopSignal.wait(for: Int32(POLLIN), on: socket, until: deadline) == .ready else { return false }
            if isUnread, core.hasUnreadReset(take: true) {
                LoopbackSocket.resetOnClose(socket)
                return false
            }
        }
    }

    /// Tells a client that expects it to go on with the content (RFC 9110 §10.1.1).
    private func continueRequest() -> Bool {
        var bytes: [UInt8] = []
        guard (try? HTTP1ResponseWriter.informational(.continue, into: &bytes)) != nil else { return false }
        var reply = MockReply(socket, stopSignal: core.stopSignal)
        return reply.send(bytes)
    }

    /// Answers what cannot be read, then reads on for a moment: closing with unread bytes would send a reset, which
    /// can overtake the answer.
    private mutating func refuse(_ error: HTTP1ParseError) {
        let response = MockResponse.problem(error.status, error.description).closing()
        var reply = MockReply(socket, stopSignal: core.stopSignal)
        _ = reply.send(response, isHead: false, keepAlive: false, version: .http1_1)
        LoopbackSocket.finish(socket)
        let deadline = Deadline(.seconds(1), after: SystemTime().now)
        while core.stopSignal.wait(for: Int32(POLLIN), on: socket, until: deadline) == .ready {
            let received = buffer.withUnsafeMutableBytes { LoopbackSocket.receive(socket, into: $0) }
            if case .closed = received { return }
        }
    }
}

/// A request of which not everything has been read.
private struct PartialRequest {
    private var head: HTTP1RequestHead?
    private var body = Data()
    private var trailers = HTTPHeaders()
    private var expectsContinue = false

    /// `true` when the request is complete.
    mutating func add(_ event: HTTP1RequestParser.Event) -> Bool {
        switch event {
        case .head(let head):
            self.head = head
            expectsContinue = head.expectsContinue
            if case .length(let length) = head.framing { body.reserveCapacity(min(length, 1 << 20)) }
        case .body(let data):
            // The client did not wait.
            expectsContinue = false
            body.append(data)
        case .trailers(let trailers): self.trailers = trailers
        case .end: return true
        }
        return false
    }

    /// Whether 100 is due; once for each request.
    mutating func takeExpectation() -> Bool {
        defer { expectsContinue = false }
        return expectsContinue
    }

    func request(connection: Int, exchange: Int) -> RecordedRequest? {
        head.map {
            RecordedRequest(
                method: $0.method, target: $0.target, version: $0.version, headers: $0.headers, body: body,
                trailers: trailers, connectionIndex: connection, exchangeIndex: exchange, keepAlive: $0.keepAlive)
        }
    }
}
