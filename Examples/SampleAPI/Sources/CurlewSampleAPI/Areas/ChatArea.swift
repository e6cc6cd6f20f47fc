// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting

/// The route for a chat over WebSocket, with one room. The query item `name` is the name of the person.
///
/// A client sends `{"text": …}`. It receives an object for each event: `kind` is `joined`, `said` or `left`, `name` is
/// who did it, `text` is what was said, and `here` lists who is in the room. A second connection with the same name, a
/// 17th person, and a message of another form close the connection with code 1008.
struct ChatArea {
    private let room = ChatRoom()

    func add(to routes: inout SampleRoutes) {
        routes.on(.get, "/team/chat", enter)
    }

    private func enter(_ request: RecordedRequest) throws -> MockResponse {
        let name = request.query["name"] ?? ""
        guard !name.isEmpty, name.count <= 40 else {
            throw Refusal.problem(.unprocessableContent, "A name has 1 to 40 characters.")
        }
        var options = MockResponse.SocketOptions()
        options.maximumMessageSize = 8 * 1024
        return .webSocket(options) { [room] peer in
            if let refusal = room.enter(name, peer) { return peer.close(.policyViolation, reason: refusal) }
            defer { room.leave(name) }
            while let message = try await peer.next() {
                guard case .text(let json) = message, let said = Said(json), (1...500).contains(said.text.count) else {
                    return peer.close(.policyViolation, reason: "A message has a text of 1 to 500 characters.")
                }
                room.say(said.text, by: name)
            }
        }
    }

    private struct Said: Decodable {
        let text: String

        init?(_ json: String) {
            guard let said = try? JSONDecoder().decode(Said.self, from: Data(json.utf8)) else { return nil }
            self = said
        }
    }
}

/// The people in the room, at most 16. All of them receive all events in the same order.
private final class ChatRoom: Sendable {
    private struct Seat: Sendable {
        let name: String
        let peer: MockWebSocket
    }

    private struct Event: Encodable {
        let kind, name: String
        let text: String?
        let here: [String]
    }

    private let seats = Locked<[Seat]>([])

    /// Returns the reason why this person cannot enter; nil if they have entered.
    func enter(_ name: String, _ peer: MockWebSocket) -> String? {
        seats.withLock { seats in
            guard !seats.contains(where: { $0.name == name }) else { return "\(name) is in the room already." }
            guard seats.count < 16 else { return "The room is full." }
            seats.append(Seat(name: name, peer: peer))
            Self.send(seats, "joined", name)
            return nil
        }
    }

    func say(_ text: String, by name: String) {
        seats.withLock { Self.send($0, "said", name, text) }
    }

    func leave(_ name: String) {
        seats.withLock { seats in
            seats.removeAll { $0.name == name }
            Self.send(seats, "left", name)
        }
    }

    private static func send(_ seats: [Seat], _ kind: String, _ name: String, _ text: String? = nil) {
        let event = Event(kind: kind, name: name, text: text, here: seats.map(\.name))
        guard let data = try? JSONEncoder().encode(event) else { return }
        for seat in seats {
            // A client that does not read is disconnected.
            do { try seat.peer.send(String(decoding: data, as: UTF8.self)) } catch { seat.peer.lose() }
        }
    }
}
