// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import Foundation

/// A WebSocket task of URLSession. Handlers are called on any thread, more than once or never.
protocol SocketTask: AnyObject, Sendable {
    func receive(_ handler: @escaping @Sendable (Result<WebSocketMessage, any Error>) -> Void)
    func send(_ message: WebSocketMessage, _ handler: @escaping @Sendable ((any Error)?) -> Void)
    /// Sends a ping. `handler` is called when the pong has arrived.
    func ping(_ handler: @escaping @Sendable ((any Error)?) -> Void)
    /// Sends a close frame and ends the task.
    func close(_ code: WebSocketCloseCode, _ reason: Data?)
    func cancel()
    /// The close code and the reason of the connection; code 0 if there is none.
    var closing: (code: Int, reason: Data?) { get }
}

/// The transport of a `SocketBridge`.
protocol SocketHost: AnyObject, Sendable {
    /// Creates and starts the task, then calls `SocketBridge.adopt`.
    func begin(_ socket: SocketBridge)
    /// Calls `checkDeadlines(at:)` of the exchange at `moment` or earlier.
    func scheduleCheck(of exchange: any SessionExchange, at moment: Int64)
    /// Called once, when URLSession has finished the task, or when the exchange failed without a task.
    func finished(_ exchange: any SessionExchange)
}

/// The connection of a response. When its last reference is released, the task is cancelled: a response that the caller
/// has dropped must not keep a connection.
final class SocketHandle: MessageConnection {
    private let bridge: SocketBridge
    let subprotocol: String?

    init(_ bridge: SocketBridge, subprotocol: String?) {
        self.bridge = bridge
        self.subprotocol = subprotocol
    }

    deinit {
        bridge.cancel()
    }

    var closing: (code: WebSocketCloseCode, reason: String)? { bridge.closing.map { ($0.code, $0.reason) } }
    func send(_ message: WebSocketMessage) async throws { try await bridge.send(message) }
    func receive() async throws -> WebSocketMessage? { try await bridge.receive() }
    func ping() async throws { try await bridge.ping() }
    func close(_ code: WebSocketCloseCode, reason: String) { bridge.close(code, reason: reason) }
    func cancel() { bridge.cancel() }
}
