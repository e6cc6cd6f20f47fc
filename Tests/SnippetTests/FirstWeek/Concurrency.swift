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
        let users = try await client.batch(ids) { .user(id: $0) }.map { try $0.get() }

        return users
    }

    static func found(_ ids: [Int], _ client: APIClient) async throws -> [User] {
        let results = try await client.batch(ids, concurrency: 4) { .user(id: $0) }
        let found = results.compactMap { try? $0.get() }

        return found
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
