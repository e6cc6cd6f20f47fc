// SPDX-License-Identifier: MIT

import Curlew

// What the snippets use and the pages do not show.

nonisolated struct NewUser: Encodable {
    var firstName: String
}

nonisolated struct Order: Decodable {
    let number: Int
}

nonisolated struct Report: Decodable, Equatable {
    let title: String
}

extension Request {
    static func create(_ user: NewUser) -> Request<User> { .post("/users", json: user) }
    static var orders: Request<[Order]> { .get("/orders") }
    static var report: Request<Report> { .get("/report") }
}

/// Something to show things on.
@MainActor
final class Screen {
    private(set) var shown: [String] = []

    func show(_ text: String) { shown.append(text) }
    func show(_ user: User) { shown.append(user.firstName) }
    func show(_ user: User, _ orders: [Order]) { shown.append("\(user.firstName) \(orders.count)") }
    func showNobody() { shown.append("nobody") }
    func showLater() { shown.append("later") }
    func log(_ text: String) {}
}

nonisolated struct Keychain: Sendable {
    var secret: String?

    func token() async throws -> String? { secret }
}
