// SPDX-License-Identifier: MIT

import Curlew
import CurlewSampleAPI
import CurlewTesting
import Testing

@testable import TeamDirectory

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

@Suite("The live notices", .timeLimit(.minutes(1)))
@MainActor
struct NoticeFeedTests {
    private nonisolated static func notice(_ id: Int) -> MockEventStep {
        .event(#"{"id": \#(id), "text": "news \#(id)", "isRead": false}"#, id: "\(id)")
    }

    @Test("each change of the team is a notice, once, although the service cuts the connection")
    func service() async throws {
        let api = try SampleAPI()
        defer { api.stop() }
        let client = APIClient(baseURL: "\(api.url)")
        let team = Team(client: client)
        await team.members.load()
        let feed = NoticeFeed(client: client)
        let following = Task { await feed.follow() }
        let radia = try await team.add(NewMember(name: "Radia", email: "radia@example.com", role: "editor"))
        try await team.rename(radia.id, to: "Radia Perlman")
        try await team.remove(radia.id)
        #expect(await eventually { feed.notices.count == 3 })
        try await team.add(NewMember(name: "Hedy", email: "hedy@example.com", role: "viewer"))
        #expect(await eventually { feed.notices.count == 4 && feed.connections == 2 })
        #expect(feed.notices.map(\.id) == [4, 5, 6, 7])
        #expect(
            feed.notices.map(\.text) == [
                "Radia joined the team", "Radia Perlman has a new entry", "Radia Perlman left the team",
                "Hedy joined the team",
            ])
        #expect(feed.loss != nil)
        following.cancel()
        await following.value
        #expect(feed.state == .closed)
        #expect(feed.error == nil)
    }

    @Test("a lost stream waits, and asks for what comes after the last notice, with the client's token")
    func reconnection() async throws {
        let clock = ManualClock()
        let client = APIClient.mock(
            pipeline: [.bearer { "secret" }], configuration: APIClient.Configuration(time: clock)
        ) {
            $0.on(.get, "/team/notices/stream") { call -> HTTPResponse in
                call.request.headers["Last-Event-ID"] == nil
                    ? .events([Self.notice(1), Self.notice(2), .interruption(.reset)]) : .status(204)
            }
        }
        let feed = NoticeFeed(client: client)
        let following = Task { await feed.follow() }
        try await clock.waitForSleepers(1)
        #expect(
            await eventually {
                if case .waiting = feed.state { true } else { false }
            })
        #expect(feed.status == "not connected, will try again")
        clock.advance(by: .seconds(3))
        await following.value
        #expect(feed.notices.map(\.text) == ["news 1", "news 2"])
        #expect(feed.state == .closed)
        #expect(feed.error == nil)
        #expect(feed.connections == 1)
        #expect(feed.loss?.reason == .connectionLost(.requestMayHaveArrived))
        let fields = client.recordedCalls.map(\.request.headers)
        #expect(fields.map { $0["Last-Event-ID"] } == [nil, "2"])
        #expect(fields.map { $0[.authorization] } == ["Bearer secret", "Bearer secret"])
    }

    @Test("it keeps the latest notices, and continues after them when it is followed again")
    func capacity() async throws {
        let client = APIClient.mock(configuration: APIClient.Configuration(time: ManualClock.skippingWaits)) {
            $0.on(.get, "/team/notices/stream") { call -> HTTPResponse in
                let last = call.request.headers["Last-Event-ID"].flatMap { Int($0) } ?? 0
                return last == 0 ? .events((1...5).map(Self.notice)) : .status(204)
            }
        }
        let feed = NoticeFeed(client: client, capacity: 2)
        await feed.follow()
        #expect(feed.notices.map(\.id) == [4, 5])
        await feed.follow()
        #expect(client.recordedCalls.map { $0.request.headers["Last-Event-ID"] } == [nil, "5", "5"])
        #expect(feed.notices.map(\.id) == [4, 5])
    }

    @Test("a refusal and a notice that cannot be read end the stream with an error", arguments: [true, false])
    func failure(isRefusal: Bool) async {
        let client = APIClient.mock {
            $0.on(.get, "/team/notices/stream") { _ -> HTTPResponse in
                isRefusal ? .status(403) : .events([Self.notice(1), .event("no JSON", id: "2")])
            }
        }
        let feed = NoticeFeed(client: client)
        await feed.follow()
        #expect(feed.state == .closed)
        #expect(feed.status == feed.error?.message)
        #expect(feed.notices.map(\.id) == (isRefusal ? [] : [1]))
        #expect(isRefusal ? feed.error?.statusCode == 403 : feed.error?.reason == .decoding)
    }

    @Test("it ends without an error when its task is cancelled")
    func cancelled() async {
        let client = APIClient.mock {
            $0.on(.get, "/team/notices/stream", .events([Self.notice(1), .interruption(.stall)]))
        }
        let feed = NoticeFeed(client: client)
        let following = Task { await feed.follow() }
        #expect(await eventually { feed.notices.count == 1 && feed.state == .open })
        #expect(feed.status == "live")
        following.cancel()
        await following.value
        #expect(feed.state == .closed)
        #expect(feed.error == nil)
        #expect(feed.loss == nil)
    }
}
