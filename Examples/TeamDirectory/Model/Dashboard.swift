// SPDX-License-Identifier: MIT

import Curlew
import CurlewUI

struct Profile: Decodable, Hashable, Sendable {
    let name, role: String
}

struct Statistics: Decodable, Hashable, Sendable {
    let openTasks, closedTasks: Int
}

struct Notice: Decodable, Identifiable, Hashable, Sendable {
    let id: Int
    let text: String
    let isRead: Bool
}

extension Request {
    static var profile: Request<Profile> { .get("/team/dashboard/profile") }
    static var statistics: Request<Statistics> { .get("/team/dashboard/statistics") }
    static var notices: Request<[Notice]> { .get("/team/dashboard/notifications") }
}

/// The start page as a value: all of it, or an error.
struct Dashboard: Hashable, Sendable {
    let profile: Profile
    let statistics: Statistics
    let notices: [Notice]

    /// Asks for the three parts at the same time. The first failure ends the others.
    static func load(from client: APIClient) async throws(NetworkError) -> Dashboard {
        do {
            async let profile = client.send(.profile)
            async let statistics = client.send(.statistics)
            async let notices = client.send(.notices)
            return try await Dashboard(profile: profile, statistics: statistics, notices: notices)
        } catch {
            // `async let` forgets the type of the error.
            throw NetworkError(error)
        }
    }
}

/// The start page as a screen: the parts load at the same time too, and each may fail alone.
@MainActor
final class DashboardScreen {
    let profile: Loadable<Profile>
    let statistics: Loadable<Statistics>
    let notices: Loadable<[Notice]>
    let all: LoadableGroup

    init(client: APIClient) {
        profile = Loadable(.profile, from: client)
        statistics = Loadable(.statistics, from: client)
        notices = Loadable(.notices, from: client)
        all = LoadableGroup(profile, statistics, notices)
    }
}
