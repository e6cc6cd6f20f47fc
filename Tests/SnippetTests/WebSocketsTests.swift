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

    private actor Counter {
        private var count = 0

        func next() -> Int {
            count += 1
            return count
        }
    }

    @Test func theLoopConnectsAndSubscribesAgainAsThePageSays() async throws {
        let (mock, counter) = (MockTransport(), Counter())
        mock.on(.get, "/prices") { _ in
            let number = await counter.next()
            return .webSocket { peer in
                guard try await peer.next() == .text("subscribe") else { return }
                try peer.send("\(number)")
                if number < 3 { peer.close(.init(rawValue: 1012), reason: "restart") }
            }
        }
        let client = APIClient.mock(mock, configuration: APIClient.Configuration(time: ManualClock.skippingWaits))
        let screen = Screen()
        try await WebSocketsPage.again(client, screen)
        #expect(await screen.shown == ["1", "2", "3"].map { "\(WebSocketMessage.text($0))" })
        #expect(await WebSocketsPage.choices().maximumFailures == nil)
    }
}
