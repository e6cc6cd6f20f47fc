// SPDX-License-Identifier: MIT
// Written against Apple's documentation and type-checked on Linux against stubs (Scripts/apple); not run there.

#if canImport(SwiftUI)
import Curlew
import StorytellerModel
import SwiftUI

@main
struct StorytellerApp: App {
    @State private var desk = Desk()

    var body: some Scene {
        WindowGroup { StoryView(desk: desk) }
    }
}

/// The story and the task that reads it. A service that does not start shows as one that cannot be reached.
@MainActor
private final class Desk {
    let story: Story
    private let service: StoryService?
    private var telling: Task<Void, Never>?

    init() {
        service = try? StoryService()
        let client = APIClient(
            baseURL: "\(service?.url ?? "http://127.0.0.1:1")",
            pipeline: .standard.adding(.bearer { StoryService.key }))
        story = Story(client: client)
    }

    func tell(about subject: String) {
        telling = Task { await story.tell(about: subject) }
    }

    /// The connection closes at once, and the service stops writing.
    func stop() { telling?.cancel() }
}

private struct StoryView: View {
    let desk: Desk
    @State private var subject = "a bird"

    var body: some View {
        VStack {
            TextField("A story about", text: $subject)
            if desk.story.isBusy {
                Button("Stop") { desk.stop() }
            } else {
                Button("Tell") { [subject] in desk.tell(about: subject) }
            }
            ScrollView { Text(desk.story.text) }
            Text(note)
        }
    }

    private var note: String {
        switch desk.story.phase {
        case .idle, .writing: ""
        case .waiting: "The model thinks."
        case .finished: desk.story.tokensPerSecond.map { "\(Int($0.rounded())) tokens per second" } ?? ""
        case .stopped: "Stopped."
        case .failed(let failure): failure.message
        }
    }
}
#endif
