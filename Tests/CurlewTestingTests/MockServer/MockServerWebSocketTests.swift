// SPDX-License-Identifier: MIT

import CurlewStreams
import Dispatch
import Testing

/// WebSocket connections of a mock server, frame by frame.
@Suite(.timeLimit(.minutes(1)))
struct MockServerWebSocketTests {
    private static let echo: @Sendable (MockWebSocket) async throws -> Void = { peer in
        while let message = try await peer.next() { try peer.send(message) }
    }

    /// A server whose script runs for each connection, with the peers of these connections.
    private func server(
        _ options: MockResponse.SocketOptions = MockResponse.SocketOptions(),
        _ script: @escaping @Sendable (MockWebSocket) async throws -> Void = Self.echo
    ) throws -> (server: MockServer, peers: Locked<[MockWebSocket]>) {
        let (server, peers) = (try MockServer(), Locked<[MockWebSocket]>([]))
        server.on(.get, "/chat") { _ in
            .webSocket(options) { peer in
                peers.withLock { $0.append(peer) }
                try await script(peer)
            }
        }
        return (server, peers)
    }

    @Test("The handshake is the RFC's example, with the first shared subprotocol of the client")
    func handshake() throws {
        var options = MockResponse.SocketOptions()
        options.subprotocols = ["v1", "v2"]
        let (server, peers) = try server(options)
        let socket = try RawWebSocket(server, fields: "Sec-WebSocket-Protocol: v3, v2,v1\r\n")
        #expect(socket.head.hasPrefix("HTTP/1.1 101 Switching Protocols\r\n"))
        #expect(socket.head.contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"))
        #expect(socket.head.contains("Sec-WebSocket-Protocol: v2\r\n"))
        #expect(!socket.head.contains("Sec-WebSocket-Extensions"))
        try socket.send(.text("a"))
        #expect(try socket.next() == .message(.text("a")))
        #expect(peers.withLock { $0.first?.subprotocol } == "v2")
    }

    @Test("Messages of all lengths return, whole and in fragments, and frames are recorded")
    func echo() throws {
        let (server, peers) = try server()
        let socket = try RawWebSocket(server)
        for size in [0, 125, 126, 65_535, 65_536, 300_000] {
            let message = WebSocketMessage.binary(MockResponse.pattern(0..<size))
            try socket.send(message)
            #expect(try socket.next() == .message(message))
        }
        try socket.send(.text("grüße"), frameSize: 3)
        #expect(try socket.next() == .message(.text("grüße")))
        let frames = try #require(peers.withLock { $0.first }).frames
        let kinds: [MockWebSocket.Kind] = [.text, .continuation, .continuation]
        #expect(frames.map(\.kind) == Array(repeating: .binary, count: 6) + kinds)
        #expect(frames.map(\.size) == [0, 125, 126, 65_535, 65_536, 300_000, 3, 3, 1])
        #expect(frames.map(\.isFinal).suffix(3) == [false, false, true])
        #expect(frames.allSatisfy { $0.isMasked && !$0.isCompressed })
        #expect(frames[1].prefix == MockResponse.pattern(0..<125) && frames[5].prefix == frames[1].prefix)
    }

    @Test("Frames that come with the request are not lost")
    func early() throws {
        let (server, _) = try server()
        let frame = try WebSocketMachine(role: .client).encode(.text("early"))
        #expect(try RawWebSocket(server, early: frame).next() == .message(.text("early")))
    }

    @Test("Pings are replied to, pongs are recorded, and a script can refuse to reply")
    func pings() throws {
        let (server, peers) = try server(MockResponse.SocketOptions()) { peer in
            try peer.ping(Data("from the server".utf8))
            try await Self.echo(peer)
        }
        let socket = try RawWebSocket(server)
        #expect(try socket.next() == .ping(Data("from the server".utf8)))
        socket.ping("hello")
        #expect(try socket.next() == .pong(Data("hello".utf8)))
        let frame = try #require(peers.withLock { $0.first }).frames.last
        #expect(frame?.kind == .ping && frame?.prefix == Data("hello".utf8))

        var options = MockResponse.SocketOptions()
        options.repliesToPings = false
        let (other, _) = try self.server(options)
        let silent = try RawWebSocket(other)
        silent.ping("hello")
        try silent.send(.text("after"))
        #expect(try silent.next() == .message(.text("after")))
    }

    @Test("The client closes: its code is known, the server replies with it and disconnects")
    func clientCloses() throws {
        let codes = DispatchSemaphore(value: 0)
        let (server, peers) = try server(MockResponse.SocketOptions()) { peer in
            try await Self.echo(peer)
            codes.signal()
        }
        let socket = try RawWebSocket(server)
        socket.close(.init(rawValue: 4000), reason: "done")
        #expect(try socket.next() == .close(.init(rawValue: 4000), reason: ""))
        #expect(socket.raw.readToEnd() == ("", .orderly))
        #expect(codes.wait(timeout: .now() + 10) == .success)
        let closing = try #require(peers.withLock { $0.first?.clientClosing })
        #expect(closing.code.rawValue == 4000 && closing.reason == "done")
    }

    @Test("The server closes after its messages, with its code, and waits for the reply")
    func serverCloses() throws {
        let (server, peers) = try server(MockResponse.SocketOptions()) { peer in
            try peer.send(.text("last"), frameSize: 1)
            peer.close(.goingAway, reason: "restart")
            #expect(throws: NetworkError.self) { try peer.send("late") }
        }
        let socket = try RawWebSocket(server)
        #expect(try socket.next() == .message(.text("last")))
        #expect(try socket.next() == .close(.goingAway, reason: "restart"))
        socket.close(.goingAway)
        #expect(socket.raw.readToEnd() == ("", .orderly))
        #expect(peers.withLock { $0.first?.clientClosing?.code } == .goingAway)
    }

    @Test("A script that returns closes with 1000; one that throws loses the connection")
    func scriptEnds() throws {
        let (server, _) = try server(MockResponse.SocketOptions()) { _ in }
        #expect(try RawWebSocket(server).next() == .close(.normal, reason: ""))
        struct Broken: Error {}
        let (other, _) = try self.server(MockResponse.SocketOptions()) { _ in throw Broken() }
        #expect(try RawWebSocket(other).raw.readToEnd().ending == .reset)
    }

    @Test("A connection is lost in each way", arguments: [MockResponse.Interruption.close, .halfClose, .reset])
    func loss(interruption: MockResponse.Interruption) throws {
        let (server, _) = try server(MockResponse.SocketOptions()) { peer in
            _ = try await peer.next()
            peer.lose(by: interruption)
        }
        let socket = try RawWebSocket(server)
        try socket.send(.text("go"))
        #expect(socket.raw.readToEnd() == ("", interruption == .reset ? .reset : .orderly))
    }

    static let violations: [(String, [UInt8], WebSocketCloseCode)] = [
        ("a frame without a mask", [0x81, 0x01, 0x61], .protocolError),
        ("a reserved opcode", [0x83, 0x80, 0, 0, 0, 0], .protocolError),
        ("RSV1 without compression", [0xC1, 0x80, 0, 0, 0, 0], .protocolError),
        ("RSV2", [0xA1, 0x80, 0, 0, 0, 0], .protocolError),
        ("invalid UTF-8", [0x81, 0x81, 0, 0, 0, 0, 0xFF], .invalidText),
        ("a fragmented ping", [0x09, 0x80, 0, 0, 0, 0], .protocolError),
        ("a message that is too large", [0x82, 0xFE, 0x10, 0x01, 0, 0, 0, 0], .messageTooBig),
    ]

    @Test("A violation of the client closes the connection with the code of the RFC", arguments: violations)
    func violation(name: String, bytes: [UInt8], code: WebSocketCloseCode) throws {
        var options = MockResponse.SocketOptions()
        options.maximumMessageSize = 4096
        let (server, peers) = try server(options) { peer in
            try peer.send("ready")
            try await Self.echo(peer)
        }
        let socket = try RawWebSocket(server)
        #expect(try socket.next() == .message(.text("ready")))
        socket.raw.send(bytes)
        var last: WebSocketMachine.Event?
        while let event = try socket.next() { last = event }
        guard case .close(code, _) = last else {
            Issue.record("\(name): the last event is \(String(describing: last))")
            return
        }
        #expect(peers.withLock { $0.first?.violation }?.isEmpty == false)
    }

    @Test("A script can send any bytes")
    func rawBytes() throws {
        let (server, _) = try server(MockResponse.SocketOptions()) { peer in
            try peer.sendRaw(Data([0x83, 0x00]))
            _ = try await peer.next()
        }
        let socket = try RawWebSocket(server)
        #expect(throws: WebSocketViolation(.protocolError, "The opcode 3 is reserved.")) { try socket.next() }
    }

    @Test(
        "A request that is no handshake is refused, and the connection stays open",
        arguments: [
            ("Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n", 400),
            (
                "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AA==\r\n",
                400
            ),
            ("Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 8\r\n", 426),
            ("Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n", 400), ("", 426),
        ])
    func refusal(fields: String, status: Int) throws {
        let (server, _) = try server()
        let client = try RawClient(port: server.port)
        let response = client.get("/chat", fields: fields)
        #expect(response.status == status)
        if status == 426, !fields.isEmpty { #expect(response.head.contains("Sec-WebSocket-Version: 13\r\n")) }
        server.on(.get, "/next", respond: .text("next"))
        #expect(client.get("/next").body == "next")
        #expect(server.connectionCount == 1)
    }

    @Test("Fields can make the handshake invalid, and the head can be interrupted")
    func invalidHandshake() throws {
        let server = try MockServer()
        server.enqueue(
            .webSocket(Self.echo).with(headers: ["Sec-WebSocket-Accept": "wrong"]),
            .webSocket(Self.echo).reset(at: .beforeHead))
        #expect(try RawWebSocket(server).head.contains("Sec-WebSocket-Accept: wrong\r\n"))
        #expect(try RawWebSocket(server).head.isEmpty)
    }

    @Test("The server's end ends scripts and connections")
    func stop() throws {
        let ended = DispatchSemaphore(value: 0)
        let (server, _) = try server(MockResponse.SocketOptions()) { peer in
            defer { ended.signal() }
            try await Self.echo(peer)
        }
        let socket = try RawWebSocket(server)
        try socket.send(.text("a"))
        #expect(try socket.next() == .message(.text("a")))
        server.stop()
        #expect(ended.wait(timeout: .now() + 10) == .success)
        #expect(try socket.next() == nil)
    }
}
