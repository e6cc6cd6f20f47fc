// SPDX-License-Identifier: MIT

import Curlew
import ExampleSupport

private struct Profile: Decodable {
    let name, role: String
}

private struct Statistics: Decodable {
    let openTasks, closedTasks: Int
}

private struct Notification: Decodable {
    let text: String
    let isRead: Bool
}

extension Request {
    fileprivate static var profile: Request<Profile> { .get("/team/dashboard/profile") }
    fileprivate static var statistics: Request<Statistics> { .get("/team/dashboard/statistics") }
    fileprivate static var notifications: Request<[Notification]> { .get("/team/dashboard/notifications") }
}

struct Dashboard: Scene {
    let title = "Dashboard"
    let about =
        "Three calls at the same time with async let. Each takes the service 120 ms; together they take no longer."

    func run(on stage: Stage) async throws {
        let client = stage.client
        let start = ContinuousClock.now
        async let profile = client.response(for: .profile)
        async let statistics = client.response(for: .statistics)
        async let notifications = client.response(for: .notifications)
        let (who, numbers, news) = try await (profile, statistics, notifications)
        let elapsed = ContinuousClock.now - start

        stage.show("profile", "\(who.value.name), \(who.value.role)")
        stage.show("statistics", "\(numbers.value.openTasks) open, \(numbers.value.closedTasks) closed")
        stage.show("unread", news.value.filter { !$0.isRead }.map(\.text).joined(separator: "; "))

        let parts = [who.metrics.total, numbers.metrics.total, news.metrics.total].compactMap(\.self)
        let sum = parts.reduce(.zero, +)
        stage.show("elapsed", "\(Look.milliseconds(elapsed)), one after the other \(Look.milliseconds(sum))")
        stage.expect(news.value.count == 3, "all three parts are there")
        stage.expect(parts.count == 3 && elapsed < sum, "three calls at once take less time than their sum")
    }
}
