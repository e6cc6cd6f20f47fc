// SPDX-License-Identifier: MIT
// Written against Apple's documentation and type-checked on Linux against stubs (Scripts/apple); not run there.

#if canImport(SwiftUI)
import Curlew
import CurlewSampleAPI
import CurlewTesting
import CurlewUI
import SwiftUI

@main
struct DirectoryApp: App {
    @State private var office = Office()

    var body: some Scene {
        WindowGroup {
            TabView {
                DashboardView(screen: office.dashboard).tabItem { Label("Today", systemImage: "house") }
                TeamView(team: office.team).tabItem { Label("Team", systemImage: "person.3") }
                NoticesView(feed: office.feed).tabItem { Label("Live", systemImage: "bell") }
                ChatView(chat: office.chat).tabItem { Label("Chat", systemImage: "bubble.left.and.bubble.right") }
            }
        }
    }
}

/// What the screens share. A server that does not start shows in each of them as what it is: one that cannot be
/// reached.
@MainActor
private final class Office {
    let dashboard: DashboardScreen
    let team: Team
    let feed: NoticeFeed
    let chat: Chat
    private let api: SampleAPI?

    init() {
        api = try? SampleAPI()
        let client = APIClient(baseURL: "\(api?.url ?? "http://127.0.0.1:1")")
        dashboard = DashboardScreen(client: client)
        team = Team(client: client)
        feed = NoticeFeed(client: client)
        chat = Chat(client: client, name: "Ada")
    }
}

private struct DashboardView: View {
    let screen: DashboardScreen

    var body: some View {
        List {
            Section("Profile") { LoadableView(screen.profile) { Text("\($0.name), \($0.role)") } }
            Section("Tasks") { LoadableView(screen.statistics) { Text("\($0.openTasks) open") } }
            Section("News") {
                LoadableView(screen.notices) { notices in
                    ForEach(notices) { Text($0.text).fontWeight($0.isRead ? .regular : .bold) }
                }
            }
        }
        .task { await screen.all.appeared() }
        .refreshable { await screen.all.refresh() }
    }
}

private struct TeamView: View {
    let team: Team
    @State private var renamed: Member?
    @State private var name = ""
    @State private var error: NetworkError?

    var body: some View {
        List {
            LoadableView(team.members) { members in
                ForEach(members) { member in
                    Button(member.name) {
                        name = member.name
                        renamed = member
                    }
                    .swipeActions {
                        Button("Remove", role: .destructive) {
                            attempt { () async throws(NetworkError) in try await team.remove(member.id) }
                        }
                    }
                }
            }
        }
        .refreshable { await team.members.refresh() }
        .alert("Name", isPresented: $renamed.isSet) {
            TextField("Name", text: $name)
            Button("Save") { [renamed, name] in
                guard let renamed else { return }
                attempt { () async throws(NetworkError) in try await team.rename(renamed.id, to: name) }
            }
        }
        .alert($error)
    }

    /// The list has taken the change back by the time that the alert says why.
    private func attempt(_ change: @escaping @MainActor () async throws(NetworkError) -> Void) {
        Task {
            do throws(NetworkError) {
                try await change()
            } catch {
                if !error.isCancelled { self.error = error }
            }
        }
    }
}

/// The stream is open while the screen shows.
private struct NoticesView: View {
    let feed: NoticeFeed

    var body: some View {
        List {
            Section("State") { Text(feed.status) }
            Section("News") {
                ForEach(feed.notices) { Text($0.text) }
            }
        }
        .task { await feed.follow() }
    }
}

/// A socket is joined while the screen shows, and again when the person asks for it.
private struct ChatView: View {
    let chat: Chat
    @State private var text = ""
    @State private var joins = 0
    @State private var error: NetworkError?

    var body: some View {
        VStack {
            Text(chat.error?.message ?? chat.here.joined(separator: ", "))
            List {
                ForEach(chat.lines) { Text("\($0.name): \($0.text)") }
            }
            if chat.state == .open {
                TextField("Message", text: $text).onSubmit { send() }
                Button("Send", action: send).disabled(text.isEmpty)
            } else {
                Button("Join again") { joins += 1 }
            }
        }
        .task(id: joins) { await chat.join() }
        .alert($error)
    }

    private func send() {
        let line = text
        text = ""
        Task {
            do throws(NetworkError) {
                try await chat.say(line)
            } catch {
                self.error = error
            }
        }
    }
}

extension Optional {
    /// Whether there is a value; false takes it away.
    fileprivate var isSet: Bool {
        get { self != nil }
        set { if !newValue { self = nil } }
    }
}

extension APIClient {
    /// A team of two without a server, for previews.
    fileprivate static var preview: APIClient {
        .mock {
            $0.on(.get, "/team/dashboard/profile") { _ in ["name": "Ada", "role": "editor"] }
            $0.on(.get, "/team/dashboard/statistics") { _ in ["openTasks": 3, "closedTasks": 5] }
            $0.on(.get, "/team/dashboard/notifications") { _ in "[\(news)]" }
            $0.on(.get, "/team/users") { _ in
                [
                    Member(id: 1, name: "Ada", email: "ada@example.com", role: "editor"),
                    Member(id: 2, name: "Grace", email: "grace@example.com", role: "viewer"),
                ]
            }
            $0.on(.get, "/team/notices/stream") { _ in .events([.event(news, id: "1"), .interruption(.stall)]) }
            $0.on(.get, "/team/chat") { _ in
                .webSocket { peer in
                    try peer.send(#"{"kind": "said", "name": "Grace", "text": "Hello", "here": ["Ada", "Grace"]}"#)
                    while try await peer.next() != nil {}
                }
            }
        }
    }

    /// Responds to nothing within the time of a preview.
    fileprivate static var loading: APIClient {
        .mock { $0.onAny(delay: .seconds(3600)) { _ in .status(.noContent) } }
    }

    /// Fails as a device without a network does.
    fileprivate static var offline: APIClient {
        .mock { $0.onAny { _ in throw NetworkError(.unreachable) } }
    }

    private static var news: String { #"{"id": 1, "text": "Radia joined the team", "isRead": false}"# }
}

#Preview("Today") { DashboardView(screen: DashboardScreen(client: .preview)) }
#Preview("Today, loading") { DashboardView(screen: DashboardScreen(client: .loading)) }
#Preview("Today, offline") { DashboardView(screen: DashboardScreen(client: .offline)) }
#Preview("Team") { TeamView(team: Team(client: .preview)) }
#Preview("Team, loading") { TeamView(team: Team(client: .loading)) }
#Preview("Team, offline") { TeamView(team: Team(client: .offline)) }
#Preview("Live") { NoticesView(feed: NoticeFeed(client: .preview)) }
#Preview("Live, offline") { NoticesView(feed: NoticeFeed(client: .offline)) }
#Preview("Chat") { ChatView(chat: Chat(client: .preview, name: "Ada")) }
#Preview("Chat, offline") { ChatView(chat: Chat(client: .offline, name: "Ada")) }
#endif
