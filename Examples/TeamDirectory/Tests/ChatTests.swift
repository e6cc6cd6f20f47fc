// SPDX-License-Identifier: MIT

import Curlew
import CurlewSampleAPI
import CurlewTesting
import Testing

@testable import TeamDirectory

@Suite("The chat", .timeLimit(.minutes(1)))
@MainActor
struct ChatTests {
    private nonisolated static func event(_ kind: String, _ text: String = "") -> String {
        #"{"kind": "\#(kind)", "name": "Grace", "text": "\#(text)", "here": ["Ada", "Grace"]}"#
    }

    private static func chat(
        capacity: Int = 200, _ script: @escaping @Sendable (MockWebSocket) async throws -> Void
    ) -> (chat: Chat, client: APIClient) {
        let client = APIClient.mock(pipeline: [.bearer { "secret" }]) {
            $0.on(.get, "/team/chat") { _ in .webSocket(script) }
        }
        return (Chat(client: client, name: "Ada", capacity: capacity), client)
    }

    @Test("typed messages in both directions, and a goodbye")
    func messages() async throws {
        let (chat, client) = Self.chat { peer in
            try peer.send(Self.event("joined"))
            guard case .text(let text)? = try await peer.next() else { return }
            try peer.send(Self.event("said", text.replacing("\"", with: "'")))
            _ = try await peer.next()
        }
        let joining = Task { await chat.join() }
        #expect(await eventually { chat.here == ["Ada", "Grace"] })
        #expect(chat.state == .open)
        try await chat.say("hello")
        #expect(await eventually { chat.lines.count == 1 })
        #expect(chat.lines.first == Chat.Line(id: 1, name: "Grace", text: "{'text':'hello'}"))
        await chat.leave()
        await joining.value
        #expect(chat.state == .closed)
        #expect(chat.error == nil)
        #expect(chat.here.isEmpty)
        let request = try #require(client.recordedCalls.first?.request)
        #expect(request.target == "/team/chat?name=Ada")
        #expect(request.headers[.authorization] == "Bearer secret")
    }

    @Test("it keeps the latest lines")
    func capacity() async {
        let (chat, _) = Self.chat(capacity: 2) { peer in
            for number in 1...5 { try peer.send(Self.event("said", "\(number)")) }
            try await peer.flush()
        }
        await chat.join()
        #expect(chat.lines.map(\.text) == ["4", "5"])
        #expect(chat.error == nil)
    }

    @Test("a lost connection is an error, and the chat can be joined again")
    func lost() async {
        let (chat, client) = Self.chat { peer in
            try peer.send(Self.event("said", "one"))
            try await peer.flush()
            peer.lose()
        }
        await chat.join()
        #expect(chat.state == .closed)
        #expect(chat.error?.reason == .connectionLost(.requestMayHaveArrived))
        await chat.join()
        #expect(chat.lines.map(\.text) == ["one", "one"])
        #expect(client.recordedCalls.count == 2)
    }

    @Test("an unknown event ends the chat with an error")
    func unknown() async {
        let (chat, _) = Self.chat { peer in
            try peer.send(Self.event("exploded"))
            _ = try await peer.next()
        }
        await chat.join()
        #expect(chat.error?.reason == .decoding)
        #expect(chat.state == .closed)
    }

    @Test("who has not joined cannot say anything")
    func early() async {
        let (chat, client) = Self.chat { _ in }
        let error = await #expect(throws: NetworkError.self) { try await chat.say("hello?") }
        #expect(error?.reason == .invalidRequest)
        #expect(client.recordedCalls.isEmpty)
    }

    @Test("it ends without an error when its task is cancelled")
    func cancelled() async {
        let (chat, _) = Self.chat { peer in
            try peer.send(Self.event("joined"))
            _ = try await peer.next()
        }
        let joining = Task { await chat.join() }
        #expect(await eventually { !chat.here.isEmpty })
        joining.cancel()
        await joining.value
        #expect(chat.state == .closed)
        #expect(chat.error == nil)
    }

    @Test("at the service: two people see the same, a name enters once, and no name not at all")
    func service() async throws {
        let api = try SampleAPI()
        defer { api.stop() }
        let client = APIClient(baseURL: "\(api.url)")
        let (ada, grace) = (Chat(client: client, name: "Ada"), Chat(client: client, name: "Grace"))
        let first = Task { await ada.join() }
        #expect(await eventually { ada.here == ["Ada"] })
        let second = Task { await grace.join() }
        #expect(await eventually { ada.here == ["Ada", "Grace"] && grace.here == ada.here })
        for number in 1...20 { try await (number % 2 == 0 ? ada : grace).say("line \(number)") }
        #expect(await eventually { ada.lines.count == 20 && grace.lines.count == 20 })
        #expect(ada.lines == grace.lines)

        let double = Chat(client: client, name: "Ada")
        await double.join()
        #expect(double.error?.detail.contains("Ada is in the room already.") == true)
        let nobody = Chat(client: client, name: "")
        await nobody.join()
        #expect(nobody.error?.problem?.status == 422)

        await grace.leave()
        await second.value
        #expect(await eventually { ada.here == ["Ada"] })
        // The refusal can end the connection before this line counts as sent.
        try? await ada.say(String(repeating: "x", count: 501))
        await first.value
        #expect(ada.error?.detail.contains("1 to 500 characters") == true)
    }
}
