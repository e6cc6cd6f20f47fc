// SPDX-License-Identifier: MIT
// Written against Apple's documentation. On Linux it is type-checked (Scripts/apple) and runs on a model of Darwin.

#if canImport(Darwin)
import CurlewCore
import CurlewHTTP
import Foundation

/// A `URLSessionWebSocketTask` as a `SocketTask`.
final class AppleSocketTask: SocketTask {
    private let task: URLSessionWebSocketTask

    init(_ task: URLSessionWebSocketTask, messageLimit: Int) {
        // "Receive calls will fail once the task reaches this limit": a message of exactly `messageLimit` bytes must
        // not reach it.
        task.maximumMessageSize = messageLimit < .max ? messageLimit + 1 : .max
        self.task = task
    }

    func receive(_ handler: @escaping @Sendable (Result<WebSocketMessage, any Error>) -> Void) {
        task.receive { result in
            handler(
                result.flatMap { message in
                    switch message {
                    case .string(let text): .success(.text(text))
                    case .data(let data): .success(.binary(data))
                    @unknown default:
                        .failure(NetworkError(.badResponse, detail: "URLSession received an unknown kind of message."))
                    }
                })
        }
    }

    func send(_ message: WebSocketMessage, _ handler: @escaping @Sendable ((any Error)?) -> Void) {
        let native: URLSessionWebSocketTask.Message =
            switch message {
            case .text(let text): .string(text)
            case .binary(let data): .data(data)
            }
        task.send(native, completionHandler: handler)
    }

    func ping(_ handler: @escaping @Sendable ((any Error)?) -> Void) {
        task.sendPing(pongReceiveHandler: handler)
    }

    func close(_ code: WebSocketCloseCode, _ reason: Data?) {
        // The imported enumeration has a value for every number, such as those that applications choose.
        let native = URLSessionWebSocketTask.CloseCode(rawValue: Int(code.rawValue)) ?? .normalClosure
        task.cancel(with: native, reason: reason)
    }

    func cancel() {
        task.cancel()
    }

    var closing: (code: Int, reason: Data?) { (task.closeCode.rawValue, task.closeReason) }
}

extension SessionDelegate: URLSessionWebSocketDelegate {
    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
    ) {
        socket(of: webSocketTask)?.opened(subprotocol: `protocol`, response: webSocketTask.response)
    }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) {
        socket(of: webSocketTask)?.closed(code: closeCode.rawValue, reason: reason)
    }
}
#endif
