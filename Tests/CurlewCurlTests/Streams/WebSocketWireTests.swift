// SPDX-License-Identifier: MIT

import CurlewAuthentication
import CurlewStreams
import Testing

@Suite(.timeLimit(.minutes(1)))
struct WebSocketWireTests {
    @Test func theHeartbeatDetectsASilentNetwork() async throws {
        let server = try await WebSocketServer.start()
        var options = WebSocket.Options()
        options.heartbeat = .milliseconds(50)
        options.heartbeatTimeout = .milliseconds(100)
        let socket = try await APIClient.curl(server.url).webSocket(.get("/silent"), options: options)
        let start = ContinuousClock.now
        #expect(await failureReason { for try await _ in socket {} } == .timedOut(.idle))
        #expect(start.duration(to: .now) >= .milliseconds(100))
        await #expect(throws: NetworkError.self) { try await socket.send("anyone?") }
    }

    @Test func theHeartbeatKeepsAnIdleConnection() async throws {
        let server = try await WebSocketServer.start()
        var options = WebSocket.Options()
        options.heartbeat = .milliseconds(5)
        options.heartbeatTimeout = .seconds(20)
        let socket = try await APIClient.curl(server.url).webSocket(.get("/echo"), options: options)
        for _ in 0..<20 { #expect(try await socket.ping() > .zero) }
        try await socket.send("still here")
        var messages = socket.makeAsyncIterator()
        #expect(try await messages.next() == .text("still here"))
        await socket.close()
    }

    @Test func theRequestHasTheFieldsOfTheCall() async throws {
        let server = try await WebSocketServer.start()
        var options = WebSocket.Options()
        options.subprotocols = ["chat.v3", "chat.v1"]
        let client = APIClient.curl(server.url, [.bearer { "token" }])
        let socket = try await client.webSocket(.get("/headers", headers: ["X-Curlew": "yes"]), options: options)
        #expect(socket.subprotocol == "chat.v1")
        var messages = socket.makeAsyncIterator()
        guard case .text(let text) = try await messages.next() else {
            Issue.record("The server did not send its text.")
            return
        }
        let lines = text.split(separator: "\n").map { $0.lowercased() }
        #expect(lines.contains("authorization: bearer token") && lines.contains("x-curlew: yes"))
        #expect(lines.filter { $0.hasPrefix("connection:") } == ["connection: upgrade"])
        #expect(lines.filter { $0.hasPrefix("upgrade:") } == ["upgrade: websocket"])
        #expect(!lines.contains { $0.hasPrefix("transfer-encoding") || $0.hasPrefix("content-length") })
        await socket.close()
    }

    @Test func oneHundredSocketsDoNotCountTowardsThePool() async throws {
        let server = try await WebSocketServer.start()
        let client = APIClient.curl(server.url)
        var sockets: [WebSocket] = []
        for _ in 0..<100 { sockets.append(try await client.webSocket(.get("/echo"))) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, socket) in sockets.enumerated() {
                group.addTask {
                    try await socket.send("\(index)")
                    var messages = socket.makeAsyncIterator()
                    #expect(try await messages.next() == .text("\(index)"))
                    await socket.close()
                    #expect(socket.closing?.code == .normal)
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("A shutdown of the transport ends its sockets, in whatever they do", arguments: [false, true])
    func shutdown(isBusy: Bool) async throws {
        let server = try await WebSocketServer.start()
        for _ in 0..<20 {
            let transport = CurlTransport()
            let client = APIClient.curl(server.url, over: transport)
            let socket = try await client.webSocket(.get(isBusy ? "/flood" : "/echo"))
            let reading = Task { for try await _ in socket {} }
            if isBusy { for _ in 0..<10 { await Task.yield() } }
            await transport.shutdown()
            await #expect(throws: NetworkError.self) { try await reading.value }
            await #expect(throws: NetworkError.self) { try await socket.send("anyone?") }
            await socket.close()
        }
    }
}
