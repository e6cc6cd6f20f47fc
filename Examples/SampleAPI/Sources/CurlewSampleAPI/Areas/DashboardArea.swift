// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting

/// The routes for the three parts of a start page. Each response is delayed, so that the effect of concurrent requests
/// is visible.
struct DashboardArea {
    /// The delay of each response.
    static let delay = Duration.milliseconds(120)

    func add(to routes: inout SampleRoutes) {
        add("profile", Profile(name: "Ada Lovelace", role: "admin", memberSince: "2021-12-10T09:00:00Z"), to: &routes)
        add("statistics", Statistics(openTasks: 7, closedTasks: 1842, hoursThisWeek: 31.5), to: &routes)
        add(
            "notifications",
            [
                Notice(id: 1, text: "Grace commented on your proposal", isRead: false),
                Notice(id: 2, text: "The build is green again", isRead: false),
                Notice(id: 3, text: "Alan joined the team", isRead: true),
            ], to: &routes)
    }

    private func add(_ name: String, _ value: some Encodable & Sendable, to routes: inout SampleRoutes) {
        routes.on(.get, "/team/dashboard/\(name)") { _ in .json(value).delayed(by: Self.delay) }
    }

    private struct Profile: Encodable {
        let name, role, memberSince: String
    }

    private struct Statistics: Encodable {
        let openTasks, closedTasks: Int
        let hoursThisWeek: Double
    }
}
