// SPDX-License-Identifier: MIT
// Written against Apple's documentation and type-checked on Linux against stubs (Scripts/apple); not run there.

#if canImport(SwiftUI)
import Curlew
import CurlewSampleAPI
import CurlewTesting
import SwiftUI

@main
struct BridgeApp: App {
    @State private var team = MigratingTeam()

    var body: some Scene {
        WindowGroup {
            TabView {
                BridgeView(team: team).tabItem { Label("Callers", systemImage: "arrow.left.arrow.right") }
                #if canImport(UIKit)
                ProfileView(client: team.client, session: team.session)
                    .tabItem { Label("UIKit", systemImage: "person") }
                #endif
            }
        }
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

#if canImport(UIKit)
/// The screen of UIKit among those of SwiftUI.
private struct ProfileView: UIViewControllerRepresentable {
    let client: APIClient
    let session: Session

    func makeUIViewController(context: Context) -> ProfileViewController {
        ProfileViewController(client: client, session: session)
    }

    func updateUIViewController(_ controller: ProfileViewController, context: Context) {}
}

#Preview("UIKit, signed in") {
    ProfileView(
        client: .mock { $0.on(.get, "/auth/me") { _ in #"{"id": 1, "firstName": "Emily", "lastName": "Johnson"}"# } },
        session: Session())
}
#Preview("UIKit, signed out") {
    ProfileView(client: .mock { $0.onAny { _ in .status(.unauthorized) } }, session: Session())
}
#endif

#Preview("Callers") { BridgeView(team: MigratingTeam()) }
#endif
