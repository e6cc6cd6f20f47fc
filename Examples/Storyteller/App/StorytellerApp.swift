// SPDX-License-Identifier: MIT
// Written against Apple's documentation and type-checked on Linux against stubs (Scripts/apple); not run there.

#if canImport(SwiftUI)
import Curlew
import CurlewTesting
import SwiftUI

@main
struct StorytellerApp: App {
    /// The service in this process. One that does not start shows as one that cannot be reached.
    private let service = try? StoryService()
    @State private var story: Story

    init() {
        let client = APIClient(
            baseURL: "\(service?.url ?? "http://127.0.0.1:1")",
            pipeline: .standard.adding(.bearer { StoryService.key }))
        _story = State(initialValue: Story(client: client))
    }

    var body: some Scene {
        WindowGroup { StoryView(story: story) }
    }
}

struct StoryView: View {
    /// What the person has asked for. A new order ends the story of the one before, and so does none.
    struct Order: Equatable {
        let id = UUID()
        let subject: String
    }

    let story: Story
    @State private var subject = "a bird"
    @State private var order: Order?

    /// - `order`: what to tell as soon as the view appears.
    init(story: Story, order: Order? = nil) {
        self.story = story
        _order = State(initialValue: order)
    }

    var body: some View {
        VStack(spacing: 16) {
            TextField("A story about", text: $subject).onSubmit { tell() }
            if story.isBusy {
                // The connection closes at once, and the service stops writing.
                Button("Stop") { order = nil }
            } else {
                Button("Tell", action: tell).disabled(subject.isEmpty)
            }
            ScrollView { Text(story.text).frame(maxWidth: .infinity, alignment: .leading) }
            Text(note).font(.footnote).foregroundStyle(.secondary)
        }
        .padding()
        .task(id: order) {
            guard let order else { return }
            await story.tell(about: order.subject)
            // A view that appears again tells nothing twice.
            if self.order == order { self.order = nil }
        }
    }

    private func tell() { order = Order(subject: subject) }

    private var note: String {
        switch story.phase {
        case .idle, .writing: ""
        case .waiting: "The model thinks."
        case .finished: story.tokensPerSecond.map { "\(Int($0.rounded())) tokens per second" } ?? ""
        case .stopped: "Stopped."
        case .failed(let failure): failure.message
        }
    }
}

extension StoryView {
    /// A story that a mock tells at once.
    fileprivate static func telling(_ steps: [MockEventStep]) -> StoryView {
        let client = APIClient.mock { $0.on(.post, "/v1/chat/completions") { _ in .events(steps) } }
        return StoryView(story: Story(client: client), order: Order(subject: "a bird"))
    }
}

extension MockEventStep {
    fileprivate static let text = MockEventStep.event(
        #"{"choices": [{"delta": {"content": "Once a curlew lived by the sea."}}]}"#)
    fileprivate static let failure = MockEventStep.event(
        #"{"error": {"message": "The model is overloaded. Try again."}}"#)
    fileprivate static let silence = MockEventStep.interruption(.stall)
}

#Preview("At first") { StoryView(story: Story(client: .mock { _ in })) }
#Preview("Waiting") { StoryView.telling([.silence]) }
#Preview("Writing") { StoryView.telling([.text, .silence]) }
#Preview("Finished") { StoryView.telling([.text, .event("[DONE]")]) }
#Preview("Failed") { StoryView.telling([.text, .failure]) }
#endif
