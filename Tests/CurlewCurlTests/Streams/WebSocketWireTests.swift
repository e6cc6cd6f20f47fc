// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewCurl
import CurlewHTTP
import CurlewStandard
import CurlewStreams
import FoundationEssentials
import TestServers
import Testing

@Suite(.timeLimit(.minutes(1)))
struct WebSocketWireTests {
    private func client(_ server: WebSocketServer) -> APIClient {
        APIClient(baseURL: "http://127.0.0.1:\(server.port)", pipeline: [], transport: CurlTransport())
    }

    @Test func echo() async throws {
        let server = try await WebSocketServer.start()
        let socket = try await client(server).webSocket(.get("/echo") as Request<Data>)
        var messages = socket.makeAsyncIterator()
        for size in [0, 1, 125, 126, 65_535, 65_536, 1_000_000] {
            let data = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            try await socket.send(data)
            #expect(try await messages.next() == .binary(data))
        }
        try await socket.send("grüße")
        #expect(try await messages.next() == .text("grüße"))
        #expect(try await socket.ping() > .zero)
        await socket.close()
        #expect(socket.closing?.code == .normal)
        #expect(try await messages.next() == nil)
    }

    @Test func compressedEcho() async throws {
        let server = try await WebSocketServer.start()
        var options = WebSocket.Options()
        options.compresses = true
        let socket = try await client(server).webSocket(.get("/echo") as Request<Data>, options: options)
        var messages = socket.makeAsyncIterator()
        for size in [0, 1, 1000, 100_000] {
            let text = String(repeating: "curlew ", count: size)
            try await socket.send(text)
            #expect(try await messages.next() == .text(text))
        }
        await socket.close()
    }

    @Test func theServerCloses() async throws {
        let server = try await WebSocketServer.start()
        let socket = try await client(server).webSocket(Request<Data>.get("/count").query(["n": 5]))
        var texts: [WebSocketMessage] = []
        for try await message in socket { texts.append(message) }
        #expect(texts == (0..<5).map { .text("\($0)") })
        #expect(socket.closing?.code == .normal && socket.closing?.isByServer == true)
    }

    @Test func aRefusalKeepsTheResponse() async throws {
        let server = try await WebSocketServer.start()
        let error = await #expect(throws: NetworkError.self) {
            _ = try await client(server).webSocket(.get("/refuse") as Request<Data>)
        }
        #expect(error?.statusCode == 403)
        #expect(error?.response?.body == Data("members only\n".utf8))
    }

    @Test func aLostConnectionIsAnError() async throws {
        let server = try await WebSocketServer.start()
        var options = WebSocket.Options()
        options.heartbeat = nil
        let socket = try await client(server).webSocket(.get("/drop") as Request<Data>, options: options)
        try await socket.send("bye")
        await #expect(throws: NetworkError.self) { for try await _ in socket {} }
    }
}
