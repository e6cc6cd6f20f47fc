// SPDX-License-Identifier: MIT

import Curlew

private struct UserPage: Decodable {
    let users: [User]
    let total: Int
}

private struct Product: Decodable {
    let title: String
    let price: Double
}

/// Calls written inline, as functions and properties of `Request`. At the call they read `.users(limit: 3)`.
extension Request {
    fileprivate static func users(limit: Int, skip: Int = 0) -> Request<UserPage> {
        .get("/users", query: ["limit": limit, "skip": skip])
    }

    fileprivate static func user(id: Int) -> Request<User> { .get("/users/\(id)") }

    /// The list stands inside `{"products": …}`.
    fileprivate static func products(matching text: String) -> Request<[Product]> {
        Request<[Product]>.get("/products/search", query: ["q": text]).unwrapping("products")
    }
}

struct InlineRequests: Scene {
    let title = "Inline requests"
    let about = "Calls as functions. The value says what it gives, so nothing needs to be named where it is sent."

    func run(on stage: Stage) async throws {
        let page = try await stage.client.send(.users(limit: 3, skip: 2))
        stage.show("users", page.users.map(\.firstName).joined(separator: ", ") + " of \(page.total)")
        stage.expect(page.users.map(\.id) == [3, 4, 5], "a page of three")

        let products = try await stage.client.send(.products(matching: "bird"))
        stage.show("products", products.map { "\($0.title) for \($0.price)" }.joined(separator: ", "))
        stage.expect(products.count == 1, "one product matches")

        // The response with what came around it.
        let answer = try await stage.client.response(for: .user(id: 1))
        let metrics = answer.metrics
        stage.show("bytes", metrics.bytesReceived ?? 0)
        stage.show("reused", metrics.reusedConnection == true ? "the connection of an earlier call" : "nothing")
        stage.expect(
            answer.status == .ok && answer.value.firstName == "Emily", "status, fields and metrics beside the value")

        // JSON without a model.
        let first: JSONValue = try await stage.client.send(.get("/products/1"))
        stage.show(
            "product 1", "\(first["title"].string ?? ""), tags \(first["tags"].array?.compactMap(\.string) ?? [])")
        stage.expect(first["tags"][0].string == "paper", "any JSON can be looked at without a type for it")
    }
}
