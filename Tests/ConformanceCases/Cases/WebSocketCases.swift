// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewStreams
import CurlewTesting

/// Cases for WebSocket connections: messages in both directions, and every way in which a connection ends.
enum WebSocketCases {
    static let all = messages + WebSocketEndCases.all

    /// A script that returns every message.
    static let echo: @Sendable (MockWebSocket) async throws -> Void = { peer in
        while let message = try await peer.next() {
            try peer.send(message)
            try await peer.flush()
        }
    }

    /// Returns the number of messages that arrive, at most `most`. A function of its own: Swift 6.3.1 does not compile
    /// the loop in the script when it optimises.
    private static func received(_ most: Int, by peer: MockWebSocket) async throws -> Int {
        var count = 0
        while count < most, try await peer.next() != nil { count += 1 }
        return count
    }

    private static let messages = [
        ConformanceCase(
            "text, binary and empty messages return unchanged", .webSockets, .message, rule: "RFC 6455 §5.6"
        ) { trial in
            let (_, socket) = try await trial.socket(.webSocket(echo))
            var messages = socket.makeAsyncIterator()
            let all: [WebSocketMessage] = [
                .text("grüße, 世界"), .binary(Data([0, 0xFF, 0x80])), .text(""), .binary(Data()),
                .binary(MockResponse.pattern(0..<125)), .binary(MockResponse.pattern(0..<126)),
                .binary(MockResponse.pattern(0..<65_535)), .binary(MockResponse.pattern(0..<65_536)),
            ]
            for message in all {
                try await socket.send(message)
                try trial.equal(try await messages.next(), message, "the message")
            }
            await socket.close()
        },
        ConformanceCase(
            "a message of a megabyte returns unchanged", .webSockets, .message, rule: "RFC 6455 §5.6"
        ) { trial in
            let (_, socket) = try await trial.socket(.webSocket(echo))
            let data = MockResponse.pattern(0..<1_000_000)
            try await socket.send(data)
            var messages = socket.makeAsyncIterator()
            guard case .binary(let received) = try await messages.next() else {
                throw ConformanceFailure("the message is not binary")
            }
            try trial.equal(received, data, "the message")
            await socket.close()
        },
        ConformanceCase(
            "a thousand messages keep their order, in both directions", .webSockets, .message, rule: "RFC 6455 §5.4"
        ) { trial in
            let (_, socket) = try await trial.socket(.webSocket(echo))
            async let sent: Void = {
                for number in 0..<1000 { try await socket.send("\(number)") }
            }()
            var messages = socket.makeAsyncIterator()
            for number in 0..<1000 { try trial.equal(try await messages.next(), .text("\(number)"), "the message") }
            try await sent
            await socket.close()
        },
        ConformanceCase(
            "the subprotocol that the server selects is reported", .webSockets, .message, rule: "RFC 6455 §4.1"
        ) { trial in
            var options = WebSocket.Options()
            options.subprotocols = ["v3", "v2", "v1"]
            let (_, socket) = try await trial.socket(.webSocket(subprotocols: ["v1", "v2"], echo), options)
            try trial.equal(socket.subprotocol, "v2", "the subprotocol")
            await socket.close()
            let (_, other) = try await trial.socket(.webSocket(echo), options)
            try trial.equal(other.subprotocol, nil, "the subprotocol that the server has not selected")
            await other.close()
        },
        ConformanceCase("a ping returns with its pong", .webSockets, .message, rule: "RFC 6455 §5.5.2") { trial in
            let (_, socket) = try await trial.socket(.webSocket(echo))
            for _ in 0..<10 { try await socket.ping() }
            try await socket.send("after")
            var messages = socket.makeAsyncIterator()
            try trial.equal(try await messages.next(), .text("after"), "the message")
            await socket.close()
        },
        ConformanceCase(
            "a message in fragments is complete, with a ping between messages", .webSockets, rule: "RFC 6455 §5.4"
        ) { trial in
            let (_, socket) = try await trial.socket(
                .webSocket { peer in
                    try peer.send(.text("grüße"), frameSize: 1)
                    try peer.ping(Data("hello".utf8))
                    try peer.send(.binary(MockResponse.pattern(0..<100_000)), frameSize: 1000)
                    while try await peer.next() != nil {}
                    let pongs = peer.frames.filter { $0.kind == .pong }.map(\.prefix)
                    try trial.equal(pongs, [Data("hello".utf8)], "the pongs")
                })
            var messages = socket.makeAsyncIterator()
            try trial.equal(try await messages.next(), .text("grüße"), "the text")
            let binary = WebSocketMessage.binary(MockResponse.pattern(0..<100_000))
            try trial.expect(try await messages.next() == binary, "the binary message differs")
            await socket.close()
        },
        ConformanceCase(
            "compressed messages return unchanged", .webSockets, rule: "RFC 7692 §7"
        ) { trial in
            var options = WebSocket.Options()
            options.compression = WebSocket.Compression()
            let (server, peers) = (try trial.server(), Locked<[MockWebSocket]>([]))
            server.enqueue(
                .webSocket(compresses: true) { peer in
                    peers.withLock { $0.append(peer) }
                    try await echo(peer)
                })
            let socket = try await trial.socket(to: server, options)
            var messages = socket.makeAsyncIterator()
            for count in [0, 1, 1000, 100_000] {
                let text = String(repeating: "curlew ", count: count)
                try await socket.send(text)
                try trial.expect(try await messages.next() == .text(text), "the text of \(count) words differs")
            }
            let frames = peers.withLock { $0.first?.frames ?? [] }
            try trial.expect(frames.count == 4 && frames.allSatisfy(\.isCompressed), "the frames are \(frames)")
            await socket.close()
        },
        ConformanceCase(
            "a server that does not read makes the sender wait", .webSockets, rule: "Transport: back-pressure"
        ) { trial in
            let (server, peers) = (try trial.server(), Locked<[MockWebSocket]>([]))
            server.enqueue(
                .webSocket { peer in
                    peer.pauseReading()
                    peers.withLock { $0.append(peer) }
                    try peer.send("paused")
                    let count = try await received(300, by: peer)
                    try peer.send("\(count)")
                })
            let socket = try await trial.socket(to: server)
            var messages = socket.makeAsyncIterator()
            try trial.equal(try await messages.next(), .text("paused"), "the first message")
            let sent = Locked(0)
            let sender = Task {
                for _ in 0..<300 {
                    try await socket.send(Data(count: 100_000))
                    sent.withLock { $0 += 1 }
                }
            }
            let count = try await trial.standstill { sent.withLock { $0 } }
            try trial.expect(count < 200, "\(count) messages were sent to a server that reads none")
            peers.withLock { $0.first }?.resumeReading()
            try await sender.value
            try trial.equal(try await messages.next(), .text("300"), "the number of messages")
        },
        ConformanceCase(
            "a reader that pauses makes the server wait", .webSockets, rule: "Transport: back-pressure"
        ) { trial in
            let (server, socket) = try await trial.socket(
                .webSocket { peer in
                    for _ in 0..<300 {
                        try peer.send(Data(count: 100_000))
                        try await peer.flush()
                    }
                })
            let sent = try await trial.standstill { server.sentBytes }
            try trial.expect(sent < 20_000_000, "the server has sent \(sent) bytes to a reader that does not read")
            var count = 0
            for try await message in socket { count += message.count }
            try trial.equal(count, 30_000_000, "the number of bytes in the end")
        },
    ]
}

extension ConformanceTrial {
    /// Starts a server that responds with `response`, and opens a connection to it.
    func socket(
        _ response: MockResponse, _ options: WebSocket.Options = WebSocket.Options()
    ) async throws -> (server: MockServer, socket: WebSocket) {
        let server = try server(answering: response)
        return (server, try await socket(to: server, options))
    }

    /// Opens a connection to a server.
    func socket(
        to server: MockServer, _ options: WebSocket.Options = WebSocket.Options()
    ) async throws -> WebSocket {
        let client = APIClient(baseURL: try BaseURL(server.url), pipeline: [], transport: try transport())
        return try await client.webSocket(.get("/chat"), options: options)
    }
}
