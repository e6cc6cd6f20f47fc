// SPDX-License-Identifier: MIT

#if !canImport(SwiftUI)
import Curlew
import ExampleSupport

/// What happens while the app is open: news from the service, and a chat between two people.
@MainActor
struct LiveVisit {
    let report: Report
    let client: APIClient
    let team: Team

    init(_ report: Report, client: APIClient) {
        self.report = report
        self.client = client
        team = Team(client: client)
    }

    /// The service has three notices, of the changes before. It resets the connection after the third.
    func notices() async throws {
        report.title("Live notices: server-sent events, and a connection that is lost")
        let feed = NoticeFeed(client: client)
        let following = Task { await feed.follow() }
        await report.wait("the notices of what has happened") { feed.notices.count >= 3 }
        await report.wait("the connection is lost") { feed.loss != nil }
        report.show("lost", feed.loss?.message ?? "")
        report.show("state", feed.status)
        await team.members.load()
        for name in ["Hedy Lamarr", "Joan Clarke"] {
            try await team.add(NewMember(name: name, email: "new@example.com", role: "viewer"))
        }
        await report.wait("the notices of what happens now") { feed.notices.count >= 5 && feed.connections >= 2 }
        for notice in feed.notices { report.show("notice \(notice.id)", notice.text) }
        report.show("state", "\(feed.status), on connection \(feed.connections)")
        report.expect(feed.notices.map(\.id) == Array(4...8), "each notice has arrived once, in order")
        report.expect(feed.state == .open, "the stream is open again")
        following.cancel()
        await following.value
        report.show("state", feed.status)
        report.expect(feed.state == .closed && feed.error == nil, "it closes when its task is cancelled")
    }

    func chat() async throws {
        report.title("A chat: WebSocket with JSON messages")
        let ada = Chat(client: client, name: "Ada")
        let grace = Chat(client: client, name: "Grace")
        let first = Task { await ada.join() }
        await report.wait("Ada is in the room") { ada.here == ["Ada"] }
        let second = Task { await grace.join() }
        await report.wait("Grace is there too") { ada.here == ["Ada", "Grace"] && grace.here == ada.here }
        report.show("in the room", ada.here.joined(separator: " and "))
        try await ada.say("Does the engine weave algebraical patterns?")
        await report.wait("the question is there") { grace.lines.count == 1 }
        try await grace.say("It does, after I took the moth out of the relay.")
        await report.wait("both lines are there") { ada.lines.count == 2 && grace.lines.count == 2 }
        for line in ada.lines { report.show(line.name, line.text) }
        report.expect(ada.lines == grace.lines, "both see the same lines in the same order")

        await refusals()

        await grace.leave()
        await second.value
        await report.wait("Grace has left") { ada.here == ["Ada"] }
        report.expect(grace.state == .closed && grace.error == nil, "Grace has left, and Ada sees it")
        first.cancel()
        await first.value
        report.expect(ada.state == .closed && ada.error == nil, "the chat closes when its task is cancelled")
    }

    /// A refusal of the call is an ordinary error. Later the server can only close the connection, with a reason.
    private func refusals() async {
        let nameless = Chat(client: client, name: "")
        await nameless.join()
        report.show("no name", nameless.error?.problem?.detail ?? "no error")
        report.expect(nameless.error?.problem?.status == 422, "a person without a name is not let in")

        let double = Chat(client: client, name: "Ada")
        await double.join()
        report.show("a second Ada", double.error?.detail ?? "no error")
        report.expect(double.error != nil && double.lines.isEmpty, "each name is let in once")
    }
}
#endif
