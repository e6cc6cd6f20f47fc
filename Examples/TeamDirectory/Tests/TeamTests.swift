// SPDX-License-Identifier: MIT

import Curlew
import CurlewSampleAPI
import CurlewTesting
import Testing

@testable import TeamDirectory

@Suite("The team", .timeLimit(.minutes(1)))
@MainActor
struct TeamTests {
    @Test("a member is created, read, changed and removed, here and on the server")
    func roundTrip() async throws {
        let api = try SampleAPI()
        defer { api.stop() }
        let client = APIClient(baseURL: "\(api.url)")
        let team = Team(client: client)
        await team.members.load()
        let founders = try #require(team.members.value)
        #expect(founders.map(\.name) == ["Ada Lovelace", "Grace Hopper", "Alan Turing"])

        let radia = try await team.add(NewMember(name: "Radia", email: "radia@example.com", role: "editor"))
        #expect(team.members.value == founders + [radia])
        #expect(try await client.send(.member(radia.id)) == radia)

        try await team.rename(radia.id, to: "Radia Perlman")
        #expect(team.members.value?.last?.name == "Radia Perlman")
        #expect(try await client.send(.member(radia.id))?.name == "Radia Perlman")

        try await team.remove(radia.id)
        #expect(team.members.value == founders)
        #expect(try await client.send(.member(radia.id)) == nil)
        await team.members.refresh()
        #expect(team.members.value == founders)
    }

    @Test("an avatar arrives complete, with its name and type")
    func avatar() async throws {
        let api = try SampleAPI()
        defer { api.stop() }
        let team = Team(client: APIClient(baseURL: "\(api.url)"))
        await team.members.load()
        let ada = try #require(team.members.value?.first)
        let picture = Data((0..<70_000).map { UInt8(truncatingIfNeeded: $0) })
        let receipt = try await team.upload(avatar: picture, of: ada)
        #expect(receipt == Receipt(fileName: "avatar.png", mediaType: "image/png", bytes: 70_000))
    }

    private let ada = Member(id: 1, name: "Ada", email: "ada@example.com", role: "admin")
    private let grace = Member(id: 2, name: "Grace", email: "grace@example.com", role: "editor")

    @Test("a change shows at once and is taken back on a 500, and other changes stay")
    func rollback() async throws {
        let clock = ManualClock()
        let client = APIClient.mock(configuration: APIClient.Configuration(time: clock)) { [ada, grace] in
            $0.on(.get, "/team/users", .json([ada, grace]))
            $0.on(.put, "/team/users/1", delay: .seconds(2), .status(500))
            $0.on(.put, "/team/users/2", .json(grace))
        }
        let team = Team(client: client)
        await team.members.load()

        let renaming = Task { try await team.rename(1, to: "Countess") }
        try await clock.waitForSleepers(1)
        #expect(team.members.value?.map(\.name) == ["Countess", "Grace"])
        try await team.rename(2, to: "Admiral")
        #expect(team.members.value?.map(\.name) == ["Countess", "Admiral"])

        clock.advance(by: .seconds(2))
        let error = await #expect(throws: NetworkError.self) { try await renaming.value }
        #expect(error?.isServerError == true)
        #expect(team.members.value?.map(\.name) == ["Ada", "Admiral"])
        #expect(team.members.error == nil)
    }

    @Test("the error contains the server's reason for a refusal, and a member that could not be removed is back")
    func refusal() async throws {
        let api = try SampleAPI()
        defer { api.stop() }
        let team = Team(client: APIClient(baseURL: "\(api.url)"))
        await team.members.load()
        let before = team.members.value
        let unnamed = await #expect(throws: NetworkError.self) { try await team.rename(1, to: "") }
        #expect(unnamed?.problem?.status == 422)
        #expect(team.members.value == before)

        let client = APIClient.mock { [ada, grace] in
            $0.on(.get, "/team/users", .json([ada, grace]))
            $0.on(.delete, "/team/users/:id", .status(503))
        }
        let mocked = Team(client: client)
        await mocked.members.load()
        await #expect(throws: NetworkError.self) { try await mocked.remove(1) }
        #expect(mocked.members.value == [ada, grace])
    }
}
