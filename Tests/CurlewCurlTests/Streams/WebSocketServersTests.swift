// SPDX-License-Identifier: MIT

import CurlewStreams
import Testing

/// The same behaviour with three servers that are independent of us and of each other.
@Suite(.timeLimit(.minutes(2)))
struct WebSocketServersTests {
    typealias Kind = WebSocketServer.Kind

    private func open(
        _ server: WebSocketServer, _ path: String, query: QueryItems = [:], compression: WebSocket.Compression? = nil,
        subprotocols: [String] = []
    ) async throws -> WebSocket {
        let client = APIClient.curl(server.url)
        var options = WebSocket.Options()
        options.compression = compression
        options.subprotocols = subprotocols
        return try await client.webSocket(.get("\(path)", query: query), options: options)
    }

    @Test("Text and binary messages of every length come back", arguments: Kind.allCases, [false, true])
    func echo(kind: Kind, compresses: Bool) async throws {
        let server = try await WebSocketServer.start(kind)
        let socket = try await open(server, "echo", compression: compresses ? .init() : nil)
        let hasCompression = socket.response.headers["Sec-WebSocket-Extensions"] != nil
        #expect(hasCompression == compresses)
        var messages = socket.makeAsyncIterator()
        for size in [0, 1, 125, 126, 127, 65_535, 65_536, 1_000_000] {
            let message = WebSocketMessage.binary(pattern(size))
            try await socket.send(message)
            #expect(try await messages.next() == message)
            let text = WebSocketMessage.text(String(repeating: "grüße 👋🏽 ", count: size / 18 + 1))
            try await socket.send(text)
            #expect(try await messages.next() == text)
        }
        #expect(try await socket.ping() > .zero)
        await socket.close(.normal, reason: "enough")
        #expect(socket.closing?.code == .normal && socket.closing?.isByServer == false)
        #expect(try await messages.next() == nil)
    }

    @Test("A thousand messages keep their order", arguments: Kind.allCases)
    func order(kind: Kind) async throws {
        let server = try await WebSocketServer.start(kind)
        let socket = try await open(server, "echo")
        async let sending: Void = { for number in 0..<1000 { try await socket.send("\(number)") } }()
        var messages = socket.makeAsyncIterator()
        for number in 0..<1000 { #expect(try await messages.next() == .text("\(number)")) }
        try await sending
        await socket.close()
    }

    @Test("The server closes after its last message", arguments: Kind.allCases)
    func count(kind: Kind) async throws {
        let server = try await WebSocketServer.start(kind)
        let socket = try await open(server, "count", query: ["n": 5])
        var texts: [WebSocketMessage] = []
        for try await message in socket { texts.append(message) }
        #expect(texts == (0..<5).map { .text("\($0)") })
        #expect(socket.closing?.code == .normal && socket.closing?.isByServer == true)
    }

    @Test("The code and the reason of the server arrive", arguments: Kind.allCases)
    func close(kind: Kind) async throws {
        let server = try await WebSocketServer.start(kind)
        let socket = try await open(server, "close")
        #expect(await failureReason { for try await _ in socket {} } == .badResponse)
        #expect(socket.closing?.code.rawValue == 4001 && socket.closing?.reason == "enough")
    }

    @Test("A connection that ends without a close frame is an error", arguments: Kind.allCases)
    func drop(kind: Kind) async throws {
        let server = try await WebSocketServer.start(kind)
        let socket = try await open(server, "drop")
        // The server may end the connection while the message is sent.
        let reason = await failureReason {
            try await socket.send("bye")
            for try await _ in socket {}
        }
        #expect(reason == .connectionLost(.requestMayHaveArrived))
        #expect(socket.closing == nil)
    }

    @Test("A refusal keeps its status and its body", arguments: Kind.allCases)
    func refusal(kind: Kind) async throws {
        let server = try await WebSocketServer.start(kind)
        let error = await #expect(throws: NetworkError.self) { try await open(server, "refuse") }
        #expect(error?.statusCode == 403)
        #expect(error?.response?.body == Data("members only\n".utf8))
    }

    @Test("The server selects a subprotocol", arguments: Kind.allCases)
    func subprotocol(kind: Kind) async throws {
        let server = try await WebSocketServer.start(kind)
        let socket = try await open(server, "headers", subprotocols: ["chat.v3", "chat.v1"])
        #expect(socket.subprotocol == "chat.v1")
        guard case .text(let text) = try await socket.first(where: { _ in true }) else {
            Issue.record("\(kind) did not send its text.")
            return
        }
        #expect(text.lowercased().contains("host: 127.0.0.1:\(server.port)"))
        await socket.close()
    }

    /// For each server 3 windows of it, 3 of the client, with and without context takeover on both sides. Each size is
    /// sent twice, so that a window has something to refer to, and the largest one is larger than every window.
    @Test("All parameters of permessage-deflate give identical messages", arguments: Kind.allCases)
    func compression(kind: Kind) async throws {
        let server = try await WebSocketServer.start(kind)
        for number in 0..<36 {
            let (resetsServer, resetsClient) = (number & 1, number >> 1 & 1)
            let (serverBits, clientBits) = ([9, 12, 15][number / 4 % 3], [9, 12, 15][number / 12])
            let socket = try await open(
                server, "deflate",
                query: [
                    "server": serverBits, "client": clientBits, "serverResets": resetsServer,
                    "clientResets": resetsClient,
                ], compression: WebSocket.Compression())
            let selected = socket.response.headers["Sec-WebSocket-Extensions"] ?? ""
            #expect(selected.contains("client_no_context_takeover") == (resetsClient == 1))
            #expect(selected.contains("server_no_context_takeover") == (resetsServer == 1))
            // A server need not name the largest window, and wsproto limits its own only if the client asks it to.
            #expect(
                serverBits == 15 || kind == .wsproto || selected.contains("server_max_window_bits=\(serverBits)"))
            #expect(clientBits == 15 || selected.contains("client_max_window_bits=\(clientBits)"))
            var messages = socket.makeAsyncIterator()
            for size in [0, 1, 125, 40_000] {
                for message in [compressible(size, number), .binary(pattern(size)), compressible(size, number)] {
                    try await socket.send(message)
                    #expect(try await messages.next() == message)
                }
            }
            await socket.close()
            #expect(socket.closing?.code == .normal)
        }
    }

    /// Text of which a part repeats at distances from a few bytes to more than the largest window.
    private func compressible(_ size: Int, _ seed: Int) -> WebSocketMessage {
        var generator = SeededGenerator(seed: UInt64(seed))
        var bytes: [UInt8] = []
        while bytes.count < size {
            if bytes.isEmpty || Int.random(in: 0..<3, using: &generator) == 0 {
                for _ in 0..<20 { bytes.append(UInt8.random(in: 97...122, using: &generator)) }
            } else {
                let start = Int.random(in: 0..<bytes.count, using: &generator)
                bytes += bytes[start..<min(start + 40, bytes.count)]
            }
        }
        return .text(String(decoding: bytes.prefix(size), as: UTF8.self))
    }
}
