// SPDX-License-Identifier: MIT

import Curlew
import CurlewUI

package struct Profile: Decodable, Hashable, Sendable {
    package let name, role: String
}

package struct Statistics: Decodable, Hashable, Sendable {
    package let openTasks, closedTasks: Int
}

package struct Notice: Decodable, Identifiable, Hashable, Sendable {
    package let id: Int
    package let text: String
    package let isRead: Bool
}

extension Request {
    static var profile: Request<Profile> { .get("/team/dashboard/profile") }
    static var statistics: Request<Statistics> { .get("/team/dashboard/statistics") }
    static var notices: Request<[Notice]> { .get("/team/dashboard/notifications") }
}

/// The start page as a value: all of it, or an error.
package struct Dashboard: Hashable, Sendable {
    package let profile: Profile
    package let statistics: Statistics
    package let notices: [Notice]

    /// Asks for the three parts at the same time. The first failure ends the others.
    package static func load(from client: APIClient) async throws(NetworkError) -> Dashboard {
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
package final class DashboardScreen {
    package let profile: Loadable<Profile>
    package let statistics: Loadable<Statistics>
    package let notices: Loadable<[Notice]>
    package let all: LoadableGroup

    package init(client: APIClient) {
        profile = Loadable(.profile, from: client)
        statistics = Loadable(.statistics, from: client)
        notices = Loadable(.notices, from: client)
        all = LoadableGroup(profile, statistics, notices)
    }
}
