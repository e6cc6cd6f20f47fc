// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import Testing

@testable import Storyteller

/// Asks again until `condition` is true; false if it is not within ten seconds.
@MainActor
func eventually(_ condition: @MainActor () -> Bool) async -> Bool {
    let end = ContinuousClock.now + .seconds(10)
    while !condition() {
        guard ContinuousClock.now < end else { return false }
        try? await Task.sleep(for: .milliseconds(2))
    }
    return true
}

@Suite(.timeLimit(.minutes(1)))
@MainActor
struct StoryTests {
    private nonisolated static func text(_ text: String) -> MockEventStep {
        .event(#"{"choices":[{"delta":{"content":"\#(text)"}}]}"#)
    }

    private nonisolated static let usage = MockEventStep.event(
        #"{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":8}}"#, name: "usage")
    private nonisolated static let done = MockEventStep.event("[DONE]")
    private nonisolated static let path = "/v1/chat/completions"

    private static func story(_ steps: [MockEventStep]) -> (story: Story, client: APIClient) {
        let client = APIClient.mock { $0.on(.post, path) { _ -> HTTPResponse in .events(steps) } }
        return (Story(client: client), client)
    }

    private struct Sent: Decodable, Equatable {
        struct Message: Decodable, Equatable {
            let role, content: String
        }

        let model: String
        let stream: Bool
        let messages: [Message]
    }

    @Test("The text grows with each event, and the tokens are counted per second")
    func whole() async throws {
        let clock = ManualClock()
        let client = APIClient.mock { mock in
            mock.on(.post, Self.path) { _ -> HTTPResponse in
                .events(
                    [
                        .event(#"{"choices":[{"delta":{"role":"assistant","content":null}}],"usage":null}"#),
                        Self.text("Once"), .pause(.seconds(2)), Self.text(" more"), Self.usage, Self.done,
                        Self.text("never"),
                    ], on: clock)
            }
        }
        let story = Story(client: client, model: "small", time: clock)
        let telling = Task {
            var pieces: [String] = []
            await story.tell(about: "birds") { pieces.append($0) }
            return pieces
        }
        try await clock.waitForSleepers(1)
        #expect(await eventually { story.text == "Once" })
        #expect(story.phase == .writing)
        #expect(story.tokensPerSecond == nil)
        clock.advance(by: .seconds(2))
        #expect(await telling.value == ["Once", " more"])
        #expect(story.phase == .finished)
        #expect(story.text == "Once more")
        #expect(story.usage == StoryPart.Usage(promptTokens: 3, completionTokens: 8))
        #expect(story.tokensPerSecond == 4)

        let call = try #require(client.recordedCalls.first)
        let sent = try call.json(Sent.self)
        #expect(sent.model == "small")
        #expect(sent.stream)
        #expect(sent.messages.last == Sent.Message(role: "user", content: "Tell a story about birds."))
        #expect(call.request.headers[.accept] == "text/event-stream")
    }

    @Test("An error inside the stream ends the story, with a name or without", arguments: ["error", nil])
    func failure(name: String?) async throws {
        let (story, client) = Self.story([
            Self.text("Once"), .event(#"{"error":{"message":"Overloaded.","code":529}}"#, name: name),
            Self.text("never"), Self.done,
        ])
        await story.tell(about: "birds")
        #expect(story.phase == .failed(.service("Overloaded.")))
        #expect(story.text == "Once")
        await story.tellAgain()
        #expect(story.text == "Once")
        #expect(client.recordedCalls.count == 2)
    }

    @Test(
        "A stream without its end marker is no complete story, and the POST is not repeated", arguments: [true, false])
    func incomplete(isReset: Bool) async {
        let (story, client) = Self.story([Self.text("Once")] + (isReset ? [.interruption(.reset)] : []))
        await story.tell(about: "birds")
        guard case .failed(.network(let error)) = story.phase else {
            Issue.record("the story is \(story.phase)")
            return
        }
        #expect(error.reason == .connectionLost(.requestMayHaveArrived))
        #expect(story.text == "Once")
        #expect(client.recordedCalls.count == 1)
    }

    @Test("What is no part of a story ends it with an error", arguments: ["no JSON", "{}", #"{"choices":1}"#])
    func malformed(data: String) async {
        let (story, _) = Self.story([Self.text("Once"), .event(data), Self.done])
        await story.tell(about: "birds")
        guard case .failed(.network(let error)) = story.phase else {
            Issue.record("the story is \(story.phase)")
            return
        }
        #expect(error.reason == .decoding)
    }

    @Test("A story is not longer than its limit")
    func tooLong() async {
        let piece = String(repeating: "x", count: 60_000)
        let (story, _) = Self.story(Array(repeating: Self.text(piece), count: 6) + [Self.done])
        await story.tell(about: "birds")
        #expect(story.phase == .failed(.tooLong))
        #expect(story.text.utf8.count == 240_000)
    }

    @Test("A cancelled story keeps its text and is no error, and a second call in the meantime does nothing")
    func cancelled() async {
        let (story, client) = Self.story([Self.text("Once"), .interruption(.stall)])
        let telling = Task { await story.tell(about: "birds") }
        #expect(await eventually { story.text == "Once" })
        await story.tell(about: "fish")
        #expect(story.subject == "birds")
        telling.cancel()
        await telling.value
        #expect(story.phase == .stopped)
        #expect(story.text == "Once")
        #expect(client.recordedCalls.count == 1)
    }
}

@Suite(.timeLimit(.minutes(1)))
@MainActor
struct StoryServiceTests {
    private static func story(_ service: StoryService, key: String = StoryService.key) throws -> Story {
        Story(client: APIClient(baseURL: try BaseURL(service.url), pipeline: .standard.adding(.bearer { key })))
    }

    @Test("Its stories end, fail and break as planned, once each")
    func outcomes() async throws {
        let service = try StoryService(pause: .zero)
        defer { service.stop() }
        let story = try Self.story(service)
        let count = StoryService.words.count
        await service.plan(.error(after: 3))
        await story.tell(about: "birds")
        #expect(story.text == StoryService.words.prefix(3).joined(separator: " "))
        await service.plan(.breakdown(after: 4))
        await story.tell(about: "birds")
        await story.tell(about: "birds")
        #expect(story.phase == .finished)
        #expect(story.text == StoryService.words.joined(separator: " "))
        #expect(story.usage?.completionTokens == count)
        #expect(await service.outcome() == .failed(after: 3))
        #expect(await service.outcome() == .broken(after: 4))
        #expect(await service.outcome() == .told(count))
    }

    @Test("It sees that a reader has stopped")
    func stopped() async throws {
        let service = try StoryService(pause: .seconds(30))
        defer { service.stop() }
        let story = try Self.story(service)
        let telling = Task { await story.tell(about: "birds") }
        #expect(await eventually { story.text == StoryService.words[0] })
        telling.cancel()
        await telling.value
        #expect(story.phase == .stopped)
        #expect(await service.outcome() == .closedByClient(after: 1))
    }

    @Test("It refuses other keys")
    func refused() async throws {
        let service = try StoryService(pause: .zero)
        defer { service.stop() }
        let story = try Self.story(service, key: "another")
        await story.tell(about: "birds")
        guard case .failed(.network(let error)) = story.phase else {
            Issue.record("the story is \(story.phase)")
            return
        }
        #expect(error.statusCode == 401)
        #expect(error.problem?.detail == "The key is not valid.")
    }
}
