// SPDX-License-Identifier: MIT

import Curlew

/// The call, in the form that most services for language models understand.
struct StoryRequest: Encodable, Sendable {
    struct Message: Encodable, Sendable {
        let role, content: String
    }

    let model: String
    let messages: [Message]
    let stream = true

    private enum CodingKeys: String, CodingKey {
        case model, messages, stream
    }
}

extension Request {
    static func story(about subject: String, model: String) -> Request<Void> {
        let messages = [
            StoryRequest.Message(role: "system", content: "You tell short stories."),
            StoryRequest.Message(role: "user", content: "Tell a story about \(subject)."),
        ]
        return .post("/v1/chat/completions", json: StoryRequest(model: model, messages: messages))
    }
}

/// What the service sends: one part for each event of the stream.
///
/// The parts are distinguished by their content. The names of the events are not needed for that: some services send
/// `event: error`, others an error without a name.
enum StoryPart: Decodable, Hashable, Sendable {
    case text(String)
    case usage(Usage)
    case failure(String)

    struct Usage: Decodable, Hashable, Sendable {
        let promptTokens, completionTokens: Int

        private enum CodingKeys: String, CodingKey {
            case promptTokens = "prompt_tokens"
            case completionTokens = "completion_tokens"
        }
    }

    private struct Choice: Decodable {
        struct Delta: Decodable {
            let content: String?
        }

        let delta: Delta
    }

    private struct Failure: Decodable {
        let message: String
    }

    private enum CodingKeys: String, CodingKey {
        case choices, usage, error
    }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        if let failure = try fields.decodeIfPresent(Failure.self, forKey: .error) {
            self = .failure(failure.message)
        } else if let usage = try fields.decodeIfPresent(Usage.self, forKey: .usage) {
            self = .usage(usage)
        } else {
            // Without content it is a part that only says who is speaking, or why the text has ended.
            self = .text(try fields.decode([Choice].self, forKey: .choices).first?.delta.content ?? "")
        }
    }
}
