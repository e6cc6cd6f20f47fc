// SPDX-License-Identifier: MIT

import Curlew

@MainActor
final class UserModel {
    private(set) var user: User?
    private(set) var message: String?
    private let client: APIClient

    init(client: APIClient) {
        self.client = client
    }

    func load(id: Int) async {
        do {
            user = try await client.sendUnlessCancelled(.user(id: id)) ?? user
        } catch {
            message = error.message
        }
    }
}

enum ConcurrencyPage {
    static func sideBySide(_ client: APIClient) async throws -> (User, [Order]) {
        async let user = client.send(.user(id: 1))
        async let orders = client.send(.orders)
        let dashboard = try await (user, orders)

        return dashboard
    }

    static func users(_ ids: [Int], _ client: APIClient) async throws -> [User] {
        try await withThrowingTaskGroup(of: User.self) { group in
            var users: [User] = []
            for (index, id) in ids.enumerated() {
                if index >= 4, let user = try await group.next() { users.append(user) }
                group.addTask { try await client.send(.user(id: id)) }
            }
            for try await user in group { users.append(user) }
            return users
        }
    }

    @concurrent
    static func checksum(of data: Data) async -> Int {
        data.reduce(0) { ($0 &* 31 &+ Int($1)) % 65_521 }
    }

    @MainActor
    static func completion(_ client: APIClient, _ screen: Screen) -> APIClient.RequestHandle {
        let handle = client.send(.user(id: 1)) { result in
            if case .success(let user) = result { screen.show(user) }
        }
        handle.cancel()

        return handle
    }
}
