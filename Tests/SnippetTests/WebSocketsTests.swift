// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import Testing

/// The page about WebSocket, run.
@Suite(.timeLimit(.minutes(1)))
struct WebSocketsTests {
    @Test func theMockEchoesAsThePageSays() async throws {
        let client = await WebSocketsPage.test()
        let socket = try await client.webSocket(.get("/chat"))
        try await socket.send("hello")
        var messages = socket.makeAsyncIterator()
        #expect(try await messages.next() == .text("hello"))
        await socket.close()
    }
}
