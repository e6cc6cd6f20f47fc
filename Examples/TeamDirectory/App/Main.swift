// SPDX-License-Identifier: MIT

#if !canImport(SwiftUI)
import Curlew
import CurlewSampleAPI
import ExampleSupport

/// The directory without a screen: the steps of a user, and the cost of each call.
@main @MainActor
struct Main {
    static func main() async {
        await Report.run { report, api in
            let visit = Visit(report, url: api.url)
            try await visit.dashboard()
            try await visit.change()
            await visit.takeBack()
            try await visit.portraits()
            await visit.costs()
            // With a client of its own: the table is finished.
            let live = LiveVisit(report, client: APIClient(baseURL: "\(api.url)"))
            try await live.notices()
            try await live.chat()
        }
    }
}

@MainActor
private struct Visit {
    let report: Report
    let table = CallTable()
    let client: APIClient
    let team: Team

    init(_ report: Report, url: String) {
        self.report = report
        client = APIClient(baseURL: "\(url)", configuration: APIClient.Configuration(observers: [table]))
        team = Team(client: client)
        report.opening("TeamDirectory", "people and what they do", "service \(url)")
    }

    /// Each part takes the server 120 ms.
    func dashboard() async throws {
        report.title("Dashboard: three calls at the same time")
        let start = ContinuousClock.now
        let page = try await Dashboard.load(from: client)
        let elapsed = ContinuousClock.now - start
        report.show("profile", "\(page.profile.name), \(page.profile.role)")
        report.show("tasks", "\(page.statistics.openTasks) open, \(page.statistics.closedTasks) closed")
        for notice in page.notices where !notice.isRead { report.show("new", notice.text) }
        report.show("time", Look.milliseconds(elapsed))

        let screen = DashboardScreen(client: client)
        await screen.all.load()
        report.expect(
            screen.profile.value == page.profile && screen.statistics.value == page.statistics
                && screen.notices.value == page.notices, "the screen's three parts hold the same")
    }

    func change() async throws {
        report.title("Create, change, remove")
        await team.members.load()
        show("at first")
        let radia = try await team.add(NewMember(name: "Radia", email: "radia@example.com", role: "editor"))
        show("added")
        try await team.rename(radia.id, to: "Radia Perlman")
        show("renamed")
        report.expect(try await client.send(.member(radia.id))?.name == "Radia Perlman", "the server has the name too")
        try await team.remove(radia.id)
        show("removed")
        report.expect(try await client.send(.member(radia.id)) == nil, "the server has no member of that number")
    }

    /// The server takes no empty names.
    func takeBack() async {
        report.title("A change that the server refuses")
        let before = team.members.value
        do {
            try await team.rename(1, to: "")
            report.expect(false, "an empty name is refused")
        } catch {
            report.show("problem", error.problem?.detail ?? error.message)
            report.expect(team.members.value == before, "the old name is back")
        }
        show("afterwards")
    }

    func portraits() async throws {
        report.title("Portraits, at most four at a time")
        let people = try await client.send(.people)
        let portraits = try await client.portraits(of: people)
        for (person, portrait) in zip(people, portraits).prefix(3) {
            report.show(person.firstName, "\(portrait.count) bytes")
        }
        report.show("", "and \(portraits.count - 3) more")
        report.expect(portraits.count == people.count && people.count == 10, "every member has a portrait")

        guard let ada = team.members.value?.first, let picture = portraits.first else { return }
        let receipt = try await team.upload(avatar: picture, of: ada)
        report.show("uploaded", "\(receipt.fileName), \(receipt.bytes) bytes, as the avatar of \(ada.name)")
        report.expect(receipt.bytes == picture.count && receipt.mediaType == "image/png", "all of it has arrived")
    }

    func costs() async {
        report.title("What each call cost", CallTable.about)
        let lines = await table.finish()
        for line in lines { print("  \(line)") }
        report.expect(lines.count == 1 + 6 + 7 + 12, "every call is in the table, also the one that was refused")
    }

    private func show(_ label: String) {
        report.show(label, team.members.value?.map(\.name).joined(separator: ", ") ?? "nobody")
    }
}
#endif
