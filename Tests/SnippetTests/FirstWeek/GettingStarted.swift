// SPDX-License-Identifier: MIT

import Curlew

// swift-format-ignore
nonisolated struct User: Decodable { let id: Int; let firstName: String }

extension Request {
    static func user(id: Int) -> Request<User> { .get("/users/\(id)") }
}

enum GettingStarted {
    /// Not run: it would need the network.
    static func firstCall() async throws(NetworkError) -> String {
        let client = APIClient(baseURL: "https://dummyjson.com")
        let user = try await client.send(.user(id: 1))  // User, or a NetworkError
        print(user.firstName)

        return user.firstName
    }

    static func fails(_ client: APIClient, print: (Any) -> Void) async {
        do {
            let user = try await client.send(.user(id: 999_999))
            print(user.firstName)
        } catch {
            print(error.message)  // This was not found.
            print(error)  // what was asked, what was answered, what to do next
        }
    }
}
