// SPDX-License-Identifier: MIT

import Curlew

private struct Member: Codable {
    let id: Int
    var name, email, role: String
}

private struct NewMember: Encodable {
    let name, email, role: String
}

/// Create, read, update, delete: one line for each.
extension Request {
    fileprivate static var team: Request<[Member]> { .get("/team/users") }

    fileprivate static func create(_ member: NewMember) -> Request<Member> { .post("/team/users", json: member) }

    fileprivate static func update(_ member: Member) -> Request<Member> {
        .put("/team/users/\(member.id)", json: member)
    }

    fileprivate static func remove(id: Int) -> Request<Void> { .delete("/team/users/\(id)") }

    /// Nil if there is none: here 404 is a response, not an error.
    fileprivate static func find(id: Int) -> Request<Member?> {
        Request<Member?>.get("/team/users/\(id)").options { $0.decodesNotFoundAsNil = true }
    }
}

struct Team: Scene {
    let title = "Team"
    let about = "Create, read, update, delete. What the service refuses, it explains as RFC 9457 says."

    func run(on stage: Stage) async throws {
        var radia = try await stage.client.send(
            .create(NewMember(name: "Radia Perlman", email: "radia@example.com", role: "viewer")))
        stage.show("created", "\(radia.name), id \(radia.id)")

        radia.role = "editor"
        let updated = try await stage.client.send(.update(radia))
        stage.show("updated", "\(updated.name), \(updated.role)")
        stage.expect(updated.id == radia.id && updated.role == "editor", "the change was stored")

        let team = try await stage.client.send(.team)
        stage.show("team", team.map(\.name).joined(separator: ", "))
        stage.expect(team.count == 4, "four people")

        try await stage.client.send(.remove(id: radia.id))
        let gone = try await stage.client.send(.find(id: radia.id))
        stage.expect(gone == nil, "after the removal there is no member")

        do {
            try await stage.client.send(.create(NewMember(name: "", email: "nowhere", role: "viewer")))
            stage.unexpected("a member without a name")
        } catch {
            stage.show("problem", "\(error.problem?.title ?? ""): \(error.problem?.detail ?? "")")
            stage.expect(error.problem?.status == 422, "the service explains what is wrong with a member")
        }
    }
}
