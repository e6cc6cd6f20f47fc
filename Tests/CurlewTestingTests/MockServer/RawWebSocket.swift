// SPDX-License-Identifier: MIT

import CurlewStreams

/// A client of a WebSocket server that can send any bytes.
final class RawWebSocket {
    let raw: RawClient
    let head: String
    private var machine = WebSocketMachine(role: .client)
    private var events: [WebSocketMachine.Event] = []

    /// - `early`: bytes that are sent together with the request.
    init(_ server: MockServer, fields: String = "", early: Data = Data()) throws {
        raw = try RawClient(port: server.port)
        let request =
            "GET /chat HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\(fields)\r\n"
        raw.send(Array(request.utf8) + early)
        head = raw.readHead()
    }

    func send(_ message: WebSocketMessage, frameSize: Int? = nil) throws {
        raw.send(Array(try machine.encode(message, fragment: frameSize)))
    }

    func ping(_ payload: String) { raw.send(Array(machine.encodePing(Data(payload.utf8)))) }

    func close(_ code: WebSocketCloseCode?, reason: String = "") {
        raw.send(Array(machine.encodeClose(code, reason: reason)))
    }

    /// Returns the next event; nil at the end of the connection.
    func next() throws -> WebSocketMachine.Event? {
        while events.isEmpty {
            try machine.throwViolation()
            guard let piece = raw.piece() else { return nil }
            events = try machine.receive(piece)
        }
        return events.removeFirst()
    }
}
