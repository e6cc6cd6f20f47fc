// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewStreams
import CurlewTesting

/// Cases for the beginning and the end of WebSocket connections.
enum WebSocketEndCases {
    static let all = closing + losses + openings

    private static let closing = [
        ConformanceCase(
            "a server that closes normally ends the messages", .webSockets, .message, rule: "RFC 6455 §7.1.4"
        ) { trial in
            let (_, socket) = try await trial.socket(
                .webSocket { peer in
                    for number in 0..<3 { try peer.send("\(number)") }
                    peer.close(.goingAway, reason: "restart")
                })
            var messages: [WebSocketMessage] = []
            for try await message in socket { messages.append(message) }
            try trial.equal(messages, (0..<3).map { .text("\($0)") }, "the messages")
            let closing = socket.closing
            try trial.equal(closing?.code, .goingAway, "the code")
            try trial.equal(closing?.reason, "restart", "the reason")
            try trial.equal(closing?.isByServer, true, "whether the server began")
        },
        ConformanceCase(
            "another code of the server's close frame is an error, with code and reason", .webSockets, .message,
            rule: "RFC 6455 §7.4"
        ) { trial in
            let (_, socket) = try await trial.socket(
                .webSocket { $0.close(.init(rawValue: 4001), reason: "enough") })
            try await trial.expectFailure(.badResponse) { for try await _ in socket {} }
            try trial.equal(socket.closing?.code.rawValue, 4001, "the code")
            try trial.equal(socket.closing?.reason, "enough", "the reason")
        },
        ConformanceCase(
            "the server receives the client's code and reason", .webSockets, .message, rule: "RFC 6455 §7.1.2"
        ) { trial in
            let closing = Locked<(code: WebSocketCloseCode, reason: String)?>(nil)
            let (server, socket) = try await trial.socket(
                .webSocket { peer in
                    while try await peer.next() != nil {}
                    closing.withLock { $0 = peer.clientClosing }
                })
            await socket.close(.init(rawValue: 4000), reason: "done")
            try await trial.eventually("the server receives the close frame") { closing.withLock { $0 != nil } }
            try trial.equal(closing.withLock { $0?.code.rawValue }, 4000, "the code")
            try trial.equal(closing.withLock { $0?.reason }, "done", "the reason")
            try await trial.eventually("the connection is closed") { server.openConnections == 0 }
            try await trial.expectFailure(.connectionLost(.requestNotSent)) { try await socket.send("late") }
        },
        ConformanceCase(
            "a socket that is released closes its connection", .webSockets, .message, rule: "WebSocket"
        ) { trial in
            let code = Locked<WebSocketCloseCode?>(nil)
            func open() async throws -> MockServer {
                let (server, _) = try await trial.socket(
                    .webSocket { peer in
                        while try await peer.next() != nil {}
                        code.withLock { $0 = peer.clientClosing?.code }
                    })
                return server
            }
            let server = try await open()
            try await trial.eventually("the server receives 1001") { code.withLock { $0 } == .goingAway }
            try await trial.eventually("the connection is closed") { server.openConnections == 0 }
        },
    ]

    private static let losses = [
        ConformanceCase(
            "a connection that is lost without a close frame is an error", .webSockets, .message,
            rule: "RFC 6455 §7.1.5"
        ) { trial in
            let (_, socket) = try await trial.socket(
                .webSocket { peer in
                    _ = try await peer.next()
                    peer.lose()
                })
            try await trial.expectFailure(.connectionLost(.requestMayHaveArrived)) {
                // The connection may be lost before the message counts as sent.
                try await socket.send("hello")
                for try await _ in socket {}
            }
            try trial.expect(socket.closing == nil, "the lost connection has a close code: \(socket.closing as Any)")
        },
        ConformanceCase(
            "an orderly end of the connection without a close frame is an error", .webSockets,
            rule: "RFC 6455 §7.1.5"
        ) { trial in
            let (_, socket) = try await trial.socket(
                .webSocket { peer in
                    try peer.send("last")
                    peer.lose(by: .close)
                })
            var messages = socket.makeAsyncIterator()
            try trial.equal(try await messages.next(), .text("last"), "the message before the end")
            try await trial.expectFailure(.connectionLost(.requestMayHaveArrived)) { _ = try await messages.next() }
        },
        ConformanceCase(
            "a frame that violates the protocol ends the connection with 1002", .webSockets, rule: "RFC 6455 §7.1.7"
        ) { trial in
            let peers = Locked<[MockWebSocket]>([])
            let (_, socket) = try await trial.socket(
                .webSocket { peer in
                    peers.withLock { $0.append(peer) }
                    try peer.send("valid")
                    // A frame with a reserved opcode.
                    try peer.sendRaw(Data([0x83, 0x00]))
                    while try await peer.next() != nil {}
                })
            var messages = socket.makeAsyncIterator()
            try trial.equal(try await messages.next(), .text("valid"), "the message before it")
            try await trial.expectFailure(.badResponse) { _ = try await messages.next() }
            try await trial.eventually("the server receives 1002") {
                peers.withLock { $0.first?.clientClosing?.code } == .protocolError
            }
        },
    ]

    private static let openings = [
        ConformanceCase(
            "a refusal is an error, with its status and its body", .webSockets, .message, rule: "RFC 6455 §4.1"
        ) { trial in
            let server = try trial.server(answering: .text("members only", status: .forbidden))
            do {
                _ = try await trial.socket(to: server)
                throw ConformanceFailure("the connection was opened")
            } catch let error as NetworkError {
                try trial.equal(error.reason, .status(.forbidden), "the reason")
                try trial.equal(error.response?.body, Data("members only".utf8), "the body")
            }
        },
        ConformanceCase(
            "a response that does not switch protocols is an error", .webSockets, .message, rule: "RFC 6455 §4.1"
        ) { trial in
            let server = try trial.server(answering: .text("hello"))
            try await trial.expectFailure(.badResponse) { _ = try await trial.socket(to: server) }
        },
        ConformanceCase(
            "an invalid handshake is an error, and ends the connection", .webSockets, rule: "RFC 6455 §4.1"
        ) { trial in
            let response = MockResponse.webSocket(WebSocketCases.echo).with(headers: ["Sec-WebSocket-Accept": "wrong"])
            let server = try trial.server(answering: response)
            try await trial.expectFailure(.badResponse) { _ = try await trial.socket(to: server) }
            try await trial.eventually("the connection is closed") { server.openConnections == 0 }
        },
        ConformanceCase(
            "cancelling the opening closes the connection", .webSockets, rule: "Transport: cancellation"
        ) { trial in
            let server = try trial.server(answering: .webSocket(WebSocketCases.echo).stalled(at: .beforeHead))
            try await trial.expectCancelled(when: { server.requestCount == 1 }) {
                _ = try await trial.socket(to: server)
            }
            try await trial.eventually("the connection is closed") { server.openConnections == 0 }
        },
    ]
}
