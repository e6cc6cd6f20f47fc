// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting

nonisolated struct ChatLine: Codable {
    let author: String
    let text: String
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

    static func again(_ client: APIClient, _ screen: Screen) async throws {
        let connections = client.webSocketConnections(.get("/prices")) { socket in
            try await socket.send("subscribe")
        }
        for try await socket in connections {
            do {
                for try await message in socket { screen.show("\(message)") }
            } catch {
                screen.log("lost: \(error)")
            }
        }
    }

    static func choices() -> WebSocket.Connections.Options {
        var options = WebSocket.Connections.Options()
        options.socket.heartbeat = .seconds(15)
        options.maximumFailures = nil
        options.retryDelay = .seconds(2)
        options.maximumDelay = .seconds(300)
        options.hookTimeout = .seconds(10)

        return options
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
