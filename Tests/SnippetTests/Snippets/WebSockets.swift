// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting

nonisolated struct ChatLine: Codable {
    let author: String
    let text: String
}

nonisolated struct Outbox {
    let keep: @Sendable ([WebSocketMessage]) -> Void
}

@MainActor
enum WebSocketsPage {
    static func open(_ client: APIClient, _ screen: Screen) async throws {
        let socket = try await client.webSocket(.get("/chat"))
        try await socket.send("hello")
        for try await message in socket {
            screen.log("\(message)")
        }
    }

    static func typed(_ socket: WebSocket, _ screen: Screen) async throws {
        try await socket.send(json: ChatLine(author: "ann", text: "hello"))
        for try await line in socket.messages(as: ChatLine.self) {
            screen.log("\(line.author): \(line.text)")
        }
    }

    static func options(_ client: APIClient, _ screen: Screen) async throws -> WebSocket {
        var options = WebSocket.Options()
        options.subprotocols = ["chat.v2", "chat.v1"]
        options.compression = WebSocket.Compression()
        options.maximumMessageSize = 1 << 20
        options.heartbeat = .seconds(15)
        let socket = try await client.webSocket(.get("/chat"), options: options)
        screen.log(socket.subprotocol ?? "none")

        return socket
    }

    static func again(_ client: APIClient, _ outbox: Outbox, _ screen: Screen) async throws {
        let prices = client.reconnectingWebSocket(.get("/prices")) { socket in
            try await socket.send("subscribe")
        } onLoss: { loss in
            outbox.keep(loss.unacknowledged + loss.unsent)
        }
        for try await message in prices { screen.log("\(message)") }
    }

    static func choices() -> ReconnectingWebSocket.Options {
        var options = ReconnectingWebSocket.Options()
        options.reconnects = { loss in loss.isTransient || loss.closing?.code.rawValue == 4001 }
        options.maximumFailures = 10
        options.resends = { _ in true }

        return options
    }

    static func confirmed(_ client: APIClient, _ screen: Screen) async throws {
        var options = ReconnectingWebSocket.Options()
        options.acknowledgement = .caller
        let socket = client.reconnectingWebSocket(.get("/orders"), options: options)
        for try await message in socket {
            guard case .text(let text) = message else { continue }
            socket.acknowledge { sent in .text("received " + text) == sent }
            screen.log(text)
        }
    }

    static func close(_ socket: WebSocket, _ screen: Screen) async {
        await socket.close(.normal, reason: "done")
        screen.log(socket.closing.map { "\($0.code)" } ?? "lost")
    }

    static func test() -> APIClient {
        let mock = MockTransport()
        mock.on(.get, "/chat") { _ in
            .webSocket { peer in
                while let message = try await peer.next() { try peer.send(message) }
            }
        }

        return APIClient.mock(mock)
    }
}
