// SPDX-License-Identifier: MIT

import Curlew
import CurlewUI
import Observation

/// The screen of the team. Every change shows at once and is taken back if the server does not want it.
@MainActor @Observable
final class Team {
    let members: Loadable<[Member]>
    @ObservationIgnored private let client: APIClient

    init(client: APIClient) {
        self.client = client
        members = Loadable(.team, from: client)
    }

    /// Shows the new name, then sends it to the server. If that fails, the old name is back before the error is thrown,
    /// and whatever else has changed in the meantime stays.
    func rename(_ id: Member.ID, to name: String) async throws(NetworkError) {
        guard var member = members.value?.first(where: { $0.id == id }) else { return }
        member.name = name
        try await members.change(id) {
            $0.name = name
        } commit: { [client, member] in
            try await client.send(.update(member))
        }
    }

    /// The server numbers its members, so a new one shows when it is known there.
    @discardableResult
    func add(_ member: NewMember) async throws(NetworkError) -> Member {
        let created = try await client.send(.create(member))
        try await members.insert(created, at: .max) { created }
        return created
    }

    func remove(_ id: Member.ID) async throws(NetworkError) {
        try await members.remove(id) { [client] in try await client.send(.remove(id)) }
    }

    func upload(avatar: Data, of member: Member) async throws(NetworkError) -> Receipt {
        try await client.send(.upload(avatar: avatar, fileName: "avatar.png", of: member.id))
    }
}
