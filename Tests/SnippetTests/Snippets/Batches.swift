// SPDX-License-Identifier: MIT

import Curlew

enum BatchesPage {
    static func users(_ ids: [Int], _ client: APIClient) async throws -> [User] {
        let users = try await client.batch(ids) { .user(id: $0) }.values()

        return users
    }

    @MainActor
    static func each(_ ids: [Int], _ client: APIClient, _ screen: Screen) async throws -> Int {
        let results = try await client.batch(ids) { .user(id: $0) }.results()
        let failures = results.filter { if case .failure = $0 { true } else { false } }

        try await client.batch(ids) { .user(id: $0) }.forEach { outcome in
            switch outcome.result {
            case .success(let user): screen.show(user)
            case .failure(let error): screen.log("\(outcome.input): \(error.message)")
            }
        }

        return failures.count
    }

    static func several(_ names: [String], _ client: APIClient) async throws -> [String] {
        let reports = try await client.batch(names, concurrency: 4) { name in
            let rating = try await client.send(Request<Int>.get("/ratings/\(name)"))
            let film = try await client.send(.film(name))
            return "\(film.title): \(rating)"
        }.values()

        return reports
    }

    @MainActor
    static func limits(_ ids: [Int], _ client: APIClient, _ screen: Screen) async throws -> [User] {
        let show = { (progress: APIClient.BatchProgress) in
            screen.log("\(progress.completed) of \(progress.total ?? 0), \(progress.failed) failed")
        }
        let batch = client.batch(ids, concurrency: 16, timeout: .seconds(30), progress: show) { .user(id: $0) }

        return try await batch.values()
    }
}
