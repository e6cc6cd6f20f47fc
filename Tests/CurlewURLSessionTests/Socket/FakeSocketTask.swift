// SPDX-License-Identifier: MIT

@testable import CurlewURLSession

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A WebSocket task without a network: it stores what it is asked, and the test calls the handlers.
final class FakeSocketTask: SocketTask {
    typealias Receiver = @Sendable (Result<WebSocketMessage, any Error>) -> Void
    typealias Handler = @Sendable ((any Error)?) -> Void

    private struct State {
        var calls: [String] = []
        var receivers: [Receiver] = []
        var waiting: [Result<WebSocketMessage, any Error>] = []
        var handlers: [Handler] = []
        var closing: (code: Int, reason: Data?) = (0, nil)
    }

    private let state = Locked(State())
    /// Whether messages come back, and whether closing and cancelling end the task as URLSession does.
    private let isEcho: Bool
    private let bridge = Locked<SocketBridge?>(nil)

    init(isEcho: Bool = false) {
        self.isEcho = isEcho
    }

    func connect(_ bridge: SocketBridge) { self.bridge.withLock { $0 = bridge } }
    func disconnect() { bridge.withLock { $0 = nil } }

    var calls: [String] { state.withLock { $0.calls } }
    var waitingReceivers: Int { state.withLock { $0.receivers.count } }
    var closing: (code: Int, reason: Data?) { state.withLock { $0.closing } }

    func receive(_ handler: @escaping Receiver) {
        let result = state.withLock { state -> Result<WebSocketMessage, any Error>? in
            state.calls.append("receive")
            if !state.waiting.isEmpty { return state.waiting.removeFirst() }
            state.receivers.append(handler)
            return nil
        }
        if let result { handler(result) }
    }

    /// Ends the next receive call, or a later one if there is none.
    func deliver(_ result: Result<WebSocketMessage, any Error>) {
        let receiver = state.withLock { state -> Receiver? in
            guard !state.receivers.isEmpty else {
                state.waiting.append(result)
                return nil
            }
            return state.receivers.removeFirst()
        }
        receiver?(result)
    }

    func send(_ message: WebSocketMessage, _ handler: @escaping Handler) {
        state.withLock { $0.calls.append("send \(message.count)") }
        guard isEcho else { return keep(handler) }
        handler(nil)
        deliver(.success(message))
    }

    func ping(_ handler: @escaping Handler) {
        state.withLock { $0.calls.append("ping") }
        guard isEcho else { return keep(handler) }
        // URLSession has called this handler twice when a connection was lost.
        handler(nil)
        handler(URLError(.networkConnectionLost))
    }

    private func keep(_ handler: @escaping Handler) { state.withLock { $0.handlers.append(handler) } }

    /// Calls the handler of the oldest send or ping.
    func finishSending(_ error: (any Error)? = nil) {
        let handler = state.withLock { $0.handlers.isEmpty ? nil : $0.handlers.removeFirst() }
        handler?(error)
    }

    func close(_ code: WebSocketCloseCode, _ reason: Data?) {
        state.withLock { state in
            state.calls.append("close \(code) \(String(decoding: reason ?? Data(), as: UTF8.self))")
            if isEcho { state.closing = (Int(code.rawValue), reason) }
        }
        guard isEcho else { return }
        deliver(.failure(NSError(domain: NSPOSIXErrorDomain, code: Int(POSIXErrorCode.ENOTCONN.rawValue))))
        let bridge = bridge.withLock { $0 }
        bridge?.closed(code: Int(code.rawValue), reason: reason)
        complete(nil)
    }

    func cancel() {
        state.withLock { $0.calls.append("cancel") }
        if isEcho { complete(URLError(.cancelled)) }
    }

    func complete(_ error: (any Error)?, status: Int? = nil) {
        let bridge = bridge.withLock { bridge in
            defer { bridge = nil }
            return bridge
        }
        bridge?.complete(error, response: status.flatMap(Self.response))
    }

    static func response(_ status: Int) -> URLResponse? {
        URL(string: "ws://a.example/chat").flatMap {
            HTTPURLResponse(url: $0, statusCode: status, httpVersion: "HTTP/1.1", headerFields: ["X-A": "1"])
        }
    }
}

/// A transport whose connections are tasks that the test controls.
final class FakeSocketTransport: Transport, SocketHost {
    private let watch = DeadlineWatch()
    private let counts = Locked((begun: 0, ended: 0))
    private let start: @Sendable (SocketBridge) -> Void
    private let grace: Duration

    /// - `start`: begins a connection: adopts a task, and opens it or not.
    init(grace: Duration = .milliseconds(50), _ start: @escaping @Sendable (SocketBridge) -> Void) {
        self.grace = grace
        self.start = start
    }

    /// The number of exchanges that have begun, and of those that have finished.
    var begun: Int { counts.withLock { $0.begun } }
    var finished: Int { counts.withLock { $0.ended } }
    var watched: Int { watch.count }

    func send(_ request: HTTPRequest, in context: ExchangeContext) async throws -> HTTPResponse {
        let limit = context.options.upgrade?.messageLimit ?? 100
        return try await SocketBridge(request, context, messageLimit: limit, host: self, grace: grace).response()
    }

    func shutdown(_ mode: TransportConfiguration.ShutdownMode) async {}

    func begin(_ socket: SocketBridge) {
        counts.withLock { $0.begun += 1 }
        socket.watchDeadlines()
        start(socket)
    }

    func scheduleCheck(of exchange: any SessionExchange, at moment: Int64) { watch.add(exchange, at: moment) }

    func finished(_ exchange: any SessionExchange) {
        watch.remove(exchange)
        counts.withLock { $0.ended += 1 }
    }
}
