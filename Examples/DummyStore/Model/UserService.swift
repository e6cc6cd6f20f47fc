// SPDX-License-Identifier: MIT

import Curlew

/// What the app does with accounts. A caller cannot distinguish a server from a list in memory, and need not change
/// when one replaces the other.
protocol UserService: Sendable {
    /// From now on `currentUser` is who has these credentials.
    func signIn(_ credentials: Credentials) async throws(NetworkError)
    func signOut() async throws(NetworkError)
    /// Fails with status 401 if no user is signed in.
    func currentUser() async throws(NetworkError) -> User
}

/// Accounts of a server.
struct APIUserService: UserService {
    private let client: APIClient
    private let tokens: TokenStore

    /// `client` sends what is in `tokens`: see `Pipeline.store`.
    init(client: APIClient, tokens: TokenStore) {
        self.client = client
        self.tokens = tokens
    }

    func signIn(_ credentials: Credentials) async throws(NetworkError) {
        do {
            try await tokens.signIn(try await client.send(LogIn(credentials: credentials)))
        } catch {
            throw NetworkError(error)
        }
    }

    func signOut() async throws(NetworkError) {
        do { try await tokens.signOut() } catch { throw NetworkError(error) }
    }

    func currentUser() async throws(NetworkError) -> User {
        try await client.send(GetCurrentUser())
    }
}

/// Accounts in memory, for previews, tests, and days without a server. It fails as the server does.
actor LocalUserService: UserService {
    private let accounts: [Credentials: User]
    private var current: User?

    /// - `current`: who is signed in.
    init(accounts: [Credentials: User] = LocalUserService.emily, current: User? = nil) {
        self.accounts = accounts
        self.current = current
    }

    func signIn(_ credentials: Credentials) throws(NetworkError) {
        guard let user = accounts[credentials] else {
            throw NetworkError(
                statusCode: 400, headers: [.contentType: "application/json"],
                body: Data(#"{"message": "Invalid credentials"}"#.utf8))
        }
        current = user
    }

    func signOut() {
        current = nil
    }

    func currentUser() throws(NetworkError) -> User {
        guard let current else { throw NetworkError(statusCode: 401) }
        return current
    }

    static let emily = [
        Credentials(username: "emilys", password: "emilyspass"): User(
            id: 1, username: "emilys", firstName: "Emily", lastName: "Johnson", email: "emily.johnson@example.com",
            image: "https://example.com/avatars/emilys.png", age: 29, height: 168.4, weight: 63.2)
    ]
}
