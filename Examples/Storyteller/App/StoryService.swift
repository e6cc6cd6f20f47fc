// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting

/// A service for language models in this process. It knows one story, and sends it word by word with pauses, as a
/// model does that thinks.
struct StoryService: Sendable {
    /// How a stream has ended, and after how many words.
    enum Outcome: Hashable, Sendable {
        case told(Int)
        /// The service sent an error.
        case failed(after: Int)
        /// The service broke the connection.
        case broken(after: Int)
        /// The client closed the connection.
        case closedByClient(after: Int)
    }

    /// What is to happen in the next stream instead of its end.
    enum Mishap: Sendable {
        case error(after: Int)
        case breakdown(after: Int)
    }

    static let key = "key-for-the-example"
    static let words = """
        Once a curlew lived where the river meets the sea. Every evening it called across the mud, and every evening \
        nobody replied. “Perhaps,” it thought, “the sea does not accept my type of content.” So it called again, a \
        little later, and then again, twice as late. On the third evening another bird replied, from far away and in \
        pieces: first one note, then a pause, then the rest of the song. The curlew listened until the last note, and \
        the tide came in around both of them.
        """.split(separator: " ").map(String.init)

    private let server: MockServer
    private let plan = Plan()
    private let outcomes: AsyncStream<Outcome>

    /// - `pause`: between two words.
    init(pause: Duration = .milliseconds(15)) throws {
        let (outcomes, writer) = AsyncStream.makeStream(of: Outcome.self, bufferingPolicy: .bufferingNewest(100))
        self.outcomes = outcomes
        server = try MockServer()
        server.on(.post, "/v1/chat/completions") { [plan] request in
            guard request.headers[.authorization] == "Bearer \(Self.key)" else {
                return .problem(.unauthorized, "The key is not valid.").with(headers: [.wwwAuthenticate: "Bearer"])
            }
            guard let call: Call = try? request.json(), call.stream, call.messages.last?.role == "user" else {
                return .problem(.badRequest, "The service streams stories that a user requests.")
            }
            return .events { stream in
                var sent = 0
                do {
                    writer.yield(try await Self.write(to: stream, await plan.next(), pause: pause, &sent))
                } catch {
                    writer.yield(.closedByClient(after: sent))
                }
            }
        }
    }

    var url: String { server.url }

    func stop() { server.stop() }

    /// Makes the next story end before its last word.
    func plan(_ mishap: Mishap) async { await plan.set(mishap) }

    /// How the next stream ends. Each call waits for one; nil if the task is cancelled.
    func outcome() async -> Outcome? {
        for await outcome in outcomes { return outcome }
        return nil
    }

    private static func write(
        to stream: MockEventStream, _ mishap: Mishap?, pause: Duration, _ sent: inout Int
    ) async throws -> Outcome {
        try await stream.send(#"{"choices":[{"index":0,"delta":{"role":"assistant"}}]}"#)
        for word in words {
            switch mishap {
            case .error(after: sent)?:
                // The client closes the connection when it has read the error, maybe before `send` returns.
                try? await stream.send(
                    #"{"error":{"type":"overloaded","message":"The model is overloaded. Try again."}}"#, name: "error")
                return .failed(after: sent)
            case .breakdown(after: sent)?:
                stream.interrupt(by: .reset)
                return .broken(after: sent)
            default: break
            }
            try await stream.send(#"{"choices":[{"index":0,"delta":{"content":"\#(sent == 0 ? "" : " ")\#(word)"}}]}"#)
            sent += 1
            try await stream.pause(pause)
        }
        try await stream.send(#"{"usage":{"prompt_tokens":21,"completion_tokens":\#(sent)}}"#, name: "usage")
        // As after an error: the client needs nothing after this.
        try? await stream.send("[DONE]")
        return .told(sent)
    }

    private struct Call: Decodable {
        struct Message: Decodable {
            let role: String
        }

        let stream: Bool
        let messages: [Message]
    }

    private actor Plan {
        private var mishap: Mishap?

        func set(_ mishap: Mishap) { self.mishap = mishap }

        func next() -> Mishap? {
            defer { mishap = nil }
            return mishap
        }
    }
}
