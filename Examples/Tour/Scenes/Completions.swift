// SPDX-License-Identifier: MIT

import Curlew
import ExampleSupport

/// A screen that loads a user without awaiting, and may go away before the response is there.
@MainActor
private final class UserScreen {
    private(set) var text = "loading"
    private(set) var completions = 0
    private let client: APIClient
    private var handle: APIClient.RequestHandle?

    init(client: APIClient) {
        self.client = client
    }

    /// `completion` runs on the main actor, exactly once.
    func appear(whenDone: @escaping @MainActor () -> Void) {
        handle = client.send(Request<User>.get("/users/2")) { [self] result in
            completions += 1
            switch result {
            case .success(let user): text = "Hello, \(user.firstName)"
            case .failure(let error): text = error.isCancelled ? "gone" : error.message
            }
            whenDone()
        }
    }

    func disappear() {
        handle?.cancel()
    }
}

struct Completions: Scene {
    let title = "Completion handlers"
    let about =
        "For code that does not await: the closure runs on the main actor, once, also when the call is cancelled."

    func run(on stage: Stage) async throws {
        let screen = UserScreen(client: stage.client)
        await withCheckedContinuation { done in
            screen.appear { done.resume() }
        }
        stage.show("screen", screen.text)
        stage.expect(screen.text == "Hello, Michael", "the screen shows the user")

        // The service would take ten seconds. The screen goes away long before.
        let slow = UserScreen(client: stage.client.with(query: ["delay": 10_000]))
        let start = ContinuousClock.now
        await withCheckedContinuation { done in
            slow.appear { done.resume() }
            Task {
                try? await Task.sleep(for: .milliseconds(50))
                slow.disappear()
            }
        }
        let elapsed = ContinuousClock.now - start
        stage.show("screen", "\(slow.text) after \(Look.milliseconds(elapsed))")
        stage.expect(slow.text == "gone" && slow.completions == 1, "a cancelled call completes once, and says so")
        stage.expect(elapsed < .seconds(5), "it does not wait for the service")
    }
}
