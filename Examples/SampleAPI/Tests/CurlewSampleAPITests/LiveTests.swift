// SPDX-License-Identifier: MIT

import Curlew
import CurlewSampleAPI
import Testing

@Suite(.timeLimit(.minutes(1)))
struct LiveTests {
    private let sample: Sample

    init() throws {
        sample = try Sample()
    }

    private struct Notice: Decodable {
        let id: Int
        let text: String
    }

    private struct Event: Decodable {
        let kind, name: String
        let text: String?
        let here: [String]
    }

    private func post(_ count: Int) async throws {
        for _ in 0..<count {
            let _: Member = try await sample.client.send(.post("/team/users", json: NewMember()))
        }
    }

    private func first(
        _ count: Int, after id: String = "", reconnects: Bool = true
    ) async throws -> (ids: [Int], connections: Int) {
        var options = EventStream.Options()
        options.lastEventID = id
        options.reconnects = reconnects
        let stream = sample.client.events(.get("/team/notices/stream"), options: options).decoding(Notice.self)
        let states = stream.events.states
        var ids: [Int] = []
        for try await notice in stream {
            ids.append(notice.id)
            if ids.count == count { break }
        }
        var connections = 0
        for await state in states {
            if state == .open { connections += 1 }
            if state == .closed { break }
        }
        return (ids, connections)
    }

    @Test("The stream is cut once after three notices, and Last-Event-ID continues it")
    func notices() async throws {
        try await post(5)
        let cut = try await first(5)
        #expect(cut.ids == [4, 5, 6, 7, 8])
        #expect(cut.connections == 2)
        let whole = try await first(5, reconnects: false)
        #expect(whole.ids == [4, 5, 6, 7, 8])
        #expect(try await first(2, after: "6", reconnects: false).ids == [7, 8])
    }

    @Test("The board keeps 100 notices")
    func bounds() async throws {
        try await post(103)
        let ids = try await first(100).ids
        #expect(ids == Array(7...106))
    }

    @Test("Everyone in the room receives what is said, in one order")
    func chat() async throws {
        let ada = try await sample.client.webSocket(.get("/team/chat", query: ["name": "Ada"]))
        var adas = ada.messages(as: Event.self).makeAsyncIterator()
        #expect(try await adas.next()?.here == ["Ada"])
        let grace = try await sample.client.webSocket(.get("/team/chat", query: ["name": "Grace"]))
        var graces = grace.messages(as: Event.self).makeAsyncIterator()
        #expect(try await graces.next()?.kind == "joined")
        #expect(try await adas.next()?.here == ["Ada", "Grace"])
        try await grace.send(json: ["text": "hello"])
        let (one, two) = (try await adas.next(), try await graces.next())
        #expect(one?.kind == "said" && one?.name == "Grace" && one?.text == "hello")
        #expect(two?.text == "hello")
        await grace.close()
        let left = try await adas.next()
        #expect(left?.kind == "left" && left?.here == ["Ada"])
    }

    @Test("A message of another form closes the connection", arguments: ["hello", "{}", #"{"text": ""}"#])
    func malformed(text: String) async throws {
        let socket = try await sample.client.webSocket(.get("/team/chat", query: ["name": "Ada"]))
        // The server may close the connection before the call has returned.
        try? await socket.send(text)
        await #expect(throws: NetworkError.self) {
            for try await _ in socket {}
        }
        #expect(socket.closing?.code == .policyViolation)
    }

    @Test("The 17th person finds the room full")
    func full() async throws {
        var sockets: [WebSocket] = []
        for number in 1...16 {
            let socket = try await sample.client.webSocket(.get("/team/chat", query: ["name": "person \(number)"]))
            _ = try await socket.first { _ in true }
            sockets.append(socket)
        }
        let late = try await sample.client.webSocket(.get("/team/chat", query: ["name": "late"]))
        await #expect(throws: NetworkError.self) {
            for try await _ in late {}
        }
        #expect(late.closing?.reason == "The room is full.")
        #expect(sockets.count == 16)
    }
}
