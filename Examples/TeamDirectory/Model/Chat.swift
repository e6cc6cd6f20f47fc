// SPDX-License-Identifier: MIT

import Curlew
import Observation

extension Request {
    static func chat(as name: String) -> Request<Void> { .get("/team/chat", query: ["name": name]) }
}

/// What a person says.
struct ChatText: Encodable, Sendable {
    let text: String
}

/// What happens in the room.
struct ChatEvent: Decodable, Sendable {
    enum Kind: String, Decodable {
        case joined, said, left
    }

    let kind: Kind
    let name: String
    let text: String?
    let here: [String]
}

/// The team's chat: a WebSocket with JSON in both directions.
///
/// A socket does not connect again by itself. After an error the screen offers to join again, and the room sends who is
/// there.
@MainActor @Observable
final class Chat {
    struct Line: Identifiable, Hashable, Sendable {
        let id: Int
        let name, text: String
    }

    enum State: Hashable, Sendable {
        case idle, connecting, open, closed
    }

    /// The latest lines, oldest first.
    private(set) var lines: [Line] = []
    /// Who is in the room; empty while the chat is not open.
    private(set) var here: [String] = []
    private(set) var state = State.idle
    /// Why the chat could not be opened or has ended; nil if the person or the server has closed it properly.
    private(set) var error: NetworkError?
    let name: String

    @ObservationIgnored private let client: APIClient
    @ObservationIgnored private let capacity: Int
    @ObservationIgnored private var socket: WebSocket?
    @ObservationIgnored private var lineCount = 0

    /// - `capacity`: how many lines to keep.
    init(client: APIClient, name: String, capacity: Int = 200) {
        self.client = client
        self.name = name
        self.capacity = max(1, capacity)
    }

    /// Joins the room and receives until the connection is closed or lost, or the task is cancelled.
    func join() async {
        guard state == .idle || state == .closed else { return }
        state = .connecting
        error = nil
        var options = WebSocket.Options()
        options.maximumMessageSize = 64 * 1024
        do {
            let socket = try await client.webSocket(.chat(as: name), options: options)
            self.socket = socket
            state = .open
            for try await event in socket.messages(as: ChatEvent.self) { receive(event) }
        } catch {
            let error = NetworkError(error)
            if !error.isCancelled { self.error = error }
        }
        // The connection closes with the last reference to its socket, also if the task was cancelled.
        socket = nil
        here = []
        state = .closed
    }

    /// Sends a line. It shows when the room sends it back, so all people see the same order.
    func say(_ text: String) async throws(NetworkError) {
        guard let socket else {
            throw NetworkError(.invalidRequest, detail: "The chat is not open.", hint: "Join it first.")
        }
        try await socket.send(json: ChatText(text: text))
    }

    /// Says goodbye to the server; `join` returns.
    func leave() async {
        await socket?.close(.normal, reason: "\(name) leaves")
    }

    private func receive(_ event: ChatEvent) {
        here = event.here
        guard event.kind == .said, let text = event.text else { return }
        lineCount += 1
        lines.append(Line(id: lineCount, name: event.name, text: text))
        lines.removeFirst(max(0, lines.count - capacity))
    }
}
