// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewStreams
import Foundation

/// A WebSocket task over `CurlTransport`. The system reads one message ahead of the app.
final class URLSessionWebSocketTask: URLSessionTask, @unchecked Sendable {
    enum Message: Sendable { case data(Data), string(String) }

    struct CloseCode: RawRepresentable, Sendable {
        let rawValue: Int
        init?(rawValue: Int) { self.init(rawValue) }
        init(_ rawValue: Int) { self.rawValue = rawValue }
        static let normalClosure = CloseCode(1000)
    }

    private struct Connection {
        var socket: WebSocket?
        var waiting: [@Sendable (Result<Message, any Error>) -> Void] = []
        var failure: (any Error)?
    }

    private let connection = Monitor(Connection())

    override func perform() async throws {
        guard let request = originalRequest, let url = request.url else { throw URLError(.badURL) }
        let wire = try await agreedWire(for: request)
        let client = APIClient(baseURL: nil, pipeline: [], transport: session.transport(wire))
        var options = WebSocket.Options()
        (options.heartbeat, options.maximumMessageSize) = (nil, self.maximumMessageSize - 1)
        (options.incomingMessages, options.incomingBytes) = (1, 64 << 10)
        var call = Request<Void>(.get, url: "http" + url.absoluteString.dropFirst(2))
        for (name, value) in request.allHTTPHeaderFields ?? [:] {
            if name.lowercased() == "sec-websocket-protocol" {
                options.subprotocols = value.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            } else {
                call = call.header(HTTPField.Name(name), value)
            }
        }
        call = call.options { $0.timeouts = .none }
        let socket: WebSocket
        do throws(NetworkError) {
            socket = try await client.webSocket(call, options: options)
        } catch {
            if let refusal = error.response {
                let head = HTTPResponse(status: refusal.status, headers: refusal.headers, url: url.absoluteString)
                self.response = HTTPURLResponse(head, url: url)
                throw URLError(.badServerResponse)
            }
            throw error
        }
        connection.withLock { $0.socket = socket }
        self.response = HTTPURLResponse(socket.response, url: url)
        let chosen = socket.subprotocol
        tell { $0.urlSession($1, webSocketTask: self, didOpenWithProtocol: chosen) }
        try await pump(socket)
    }

    private func pump(_ socket: WebSocket) async throws {
        var (code, isBroken) = (57, false)
        do {
            for try await message in socket {
                let native: Message =
                    switch message {
                    case .text(let text): .string(text)
                    case .binary(let data): .data(data)
                    }
                let handler = await connection.wait { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
                handler?(.success(native))
            }
        } catch {
            if (error as? NetworkError)?.reason == .limitExceeded(.responseBody) { code = 40 }
            isBroken = socket.closing == nil
        }
        if let closing = socket.closing, closing.isByServer {
            let reason = closing.reason.isEmpty ? nil : Data(closing.reason.utf8)
            let code = CloseCode(Int(closing.code.rawValue))
            state.withLock { ($0.closeCode, $0.closeReason) = (code, reason) }
            tell { $0.urlSession($1, webSocketTask: self, didCloseWith: code, reason: reason) }
        }
        let error = NSError(domain: NSPOSIXErrorDomain, code: code)
        fail(error)
        if isBroken { throw error }
    }

    private func fail(_ error: any Error) {
        let waiting = connection.withLock { connection in
            connection.failure = connection.failure ?? error
            defer { connection.waiting = [] }
            return connection.waiting
        }
        for handler in waiting { handler(.failure(error)) }
    }

    override func end(_ error: (any Error)?) {
        fail(error ?? URLError(.networkConnectionLost))
        super.end(error)
    }

    func receive(completionHandler: @escaping @Sendable (Result<Message, any Error>) -> Void) {
        let failure = connection.withLock { connection in
            if connection.failure == nil { connection.waiting.append(completionHandler) }
            return connection.failure
        }
        if let failure { completionHandler(.failure(failure)) }
    }

    func send(_ message: Message, completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        perform(completionHandler) { socket in
            switch message {
            case .data(let data): try await socket.send(data)
            case .string(let text): try await socket.send(text)
            }
        }
    }

    func sendPing(pongReceiveHandler: @escaping @Sendable ((any Error)?) -> Void) {
        perform(pongReceiveHandler) { try await $0.ping() }
    }

    private func perform(
        _ done: @escaping @Sendable ((any Error)?) -> Void, _ work: @escaping @Sendable (WebSocket) async throws -> Void
    ) {
        let previous = turn.withLock { $0 }
        let next = Task { [self] in
            await previous?.value
            do {
                let found = await connection.wait { connection -> Result<WebSocket, any Error>? in
                    connection.failure.map { .failure($0) } ?? connection.socket.map { .success($0) }
                }
                guard let found else { throw URLError(.cancelled) }
                try await work(found.get())
                done(nil)
            } catch { done(SystemError.of(error)) }
        }
        turn.withLock { $0 = next }
    }

    /// Frames leave in the order in which they were given.
    private let turn = Locked<Task<Void, Never>?>(nil)

    func cancel(with code: CloseCode, reason: Data?) {
        state.withLock { ($0.closeCode, $0.closeReason) = (code, reason) }
        guard let socket = connection.withLock({ $0.socket }) else { return cancel() }
        Task {
            await socket.close(
                WebSocketCloseCode(rawValue: UInt16(code.rawValue)),
                reason: String(decoding: reason ?? Data(), as: UTF8.self))
        }
    }
}
