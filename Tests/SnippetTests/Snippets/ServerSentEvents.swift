// SPDX-License-Identifier: MIT

import Curlew

nonisolated struct ChatPart: Decodable {
    let text: String
}

enum ServerSentEventsPage {
    static func loop(_ client: APIClient) async throws {
        for try await event in client.events(.get("/news")) {
            print(event.name, event.data)
        }
    }

    static func parts(_ client: APIClient, _ prompt: String) async throws -> String {
        var text = ""
        var options = EventStream.Options()
        options.endMarker = "[DONE]"
        let parts = client.events(.post("/chat", json: ["prompt": prompt]), options: options).decoding(ChatPart.self)
        for try await part in parts {
            text += part.text
        }
        return text
    }

    static func states(_ client: APIClient) async {
        let news = client.events(.get("/news"))
        for await state in news.states {
            print(state)
        }
    }
}
