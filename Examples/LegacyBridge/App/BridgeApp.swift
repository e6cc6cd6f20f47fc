// SPDX-License-Identifier: MIT
// Written against Apple's documentation and type-checked on Linux against stubs (Scripts/apple); not run there.

#if canImport(SwiftUI)
import Curlew
import CurlewSampleAPI
import LegacyBridgeModel
import SwiftUI

@main
struct BridgeApp: App {
    @State private var team = MigratingTeam()

    var body: some Scene {
        WindowGroup { BridgeView(team: team) }
    }
}

/// The old and the new caller over one client.
@MainActor
private final class MigratingTeam {
    let session = Session()
    let client: APIClient
    private let api: SampleAPI?

    init() {
        api = try? SampleAPI()
        client = APIClient(baseURL: "\(api?.url ?? "http://127.0.0.1:1")").withActions(session, Journal())
    }

    /// The old screen in the new world: its completion becomes the end of an await.
    func oldText() async -> String {
        let screen = ProfileScreen(service: CurlewNetworkService(client: client))
        await withCheckedContinuation { done in screen.appear { done.resume() } }
        return screen.text
    }

    func newText() async -> String {
        let screen = ModernProfileScreen(client: client)
        await screen.load()
        return screen.text
    }

    func signIn(completion: @escaping @MainActor () -> Void) {
        client.send(LogIn(username: "emilys", password: "emilyspass")) { [session] result in
            Task {
                if let tokens = try? result.get() { await session.signIn(tokens.accessToken) }
                completion()
            }
        }
    }
}

private struct BridgeView: View {
    let team: MigratingTeam
    @State private var oldText = ""
    @State private var newText = ""
    @State private var loads = 0

    var body: some View {
        Form {
            LabeledContent("With completions", value: oldText)
            LabeledContent("With async and await", value: newText)
            Button("Sign in") { team.signIn { loads += 1 } }
        }
        .task(id: loads) {
            oldText = await team.oldText()
            newText = await team.newText()
        }
    }
}
#endif
