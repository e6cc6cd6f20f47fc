// SPDX-License-Identifier: MIT

import Curlew
import CurlewSampleAPI
import CurlewTesting
import Testing

@testable import DummyStore

/// A service of its own for each test, and what an app would have of it.
@MainActor
final class Shop {
    let api: SampleAPI
    let tokens = TokenStore()
    let client: APIClient
    let service: APIUserService

    init() throws {
        api = try SampleAPI()
        client = APIClient(baseURL: "\(api.url)", pipeline: .store(tokens))
        service = APIUserService(client: client, tokens: tokens)
    }

    static let emily = Credentials(username: "emilys", password: "emilyspass")
}

@Suite("Signing in", .timeLimit(.minutes(1)))
@MainActor
struct SignInTests {
    @Test("signing in stores the token")
    func storesToken() async throws {
        let shop = try Shop()
        defer { shop.api.stop() }
        #expect(try await shop.tokens.tokens == nil)
        try await shop.service.signIn(Shop.emily)
        let tokens = try await shop.tokens.tokens
        #expect(tokens?.accessToken.isEmpty == false)
        #expect(tokens?.refreshToken?.isEmpty == false)
        #expect(tokens?.expiresAt != nil)
    }

    @Test("who has signed in is there after a restart of the app and of the service")
    func survivesRestart() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "dummy-store-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func start() throws -> (SampleAPI, Account) {
            let api = try SampleAPI(sessionsPath: folder.appending(path: "service.json").path)
            let tokens = TokenStore(.file(folder.appending(path: "tokens.json").path))
            let client = APIClient(baseURL: "\(api.url)", pipeline: .store(tokens))
            return (api, Account(APIUserService(client: client, tokens: tokens)))
        }
        let (first, before) = try start()
        await before.signIn(username: "emilys", password: "emilyspass")
        first.stop()

        let (second, account) = try start()
        defer { second.stop() }
        await account.user.load()
        #expect(account.user.value?.firstName == "Emily")
        await account.signOut()
        second.stop()

        let (third, after) = try start()
        defer { third.stop() }
        await after.user.load()
        #expect(after.user.error?.statusCode == 401)
    }

    @Test("the current user before signing in fails with status 401")
    func nobody() async throws {
        let shop = try Shop()
        defer { shop.api.stop() }
        let error = await #expect(throws: NetworkError.self) { try await shop.service.currentUser() }
        #expect(error?.statusCode == 401)
    }

    @Test("after signing in it has id 1 and first name Emily")
    func emily() async throws {
        let shop = try Shop()
        defer { shop.api.stop() }
        try await shop.service.signIn(Shop.emily)
        let user = try await shop.service.currentUser()
        #expect(user.id == 1)
        #expect(user.firstName == "Emily")
    }

    @Test("a wrong password is refused and stores nothing, also while another user is signed in")
    func wrongPassword() async throws {
        let shop = try Shop()
        defer { shop.api.stop() }
        try await shop.service.signIn(Shop.emily)
        let before = try await shop.tokens.tokens
        let error = await #expect(throws: NetworkError.self) {
            try await shop.service.signIn(Credentials(username: "emilys", password: "guess"))
        }
        #expect(error?.statusCode == 400)
        #expect(try await shop.tokens.tokens == before)
    }

    @Test("a refresh token that has ended signs the user out")
    func endedSession() async throws {
        let shop = try Shop()
        defer { shop.api.stop() }
        try await shop.tokens.signIn(Tokens(accessToken: "ended", refreshToken: "ended too"))
        let error = await #expect(throws: NetworkError.self) { try await shop.service.currentUser() }
        #expect(error?.reason == .notAuthenticated(.refreshRefused))
        #expect(try await shop.tokens.tokens == nil)
    }

    @Test("an ended token is refreshed once for ten calls")
    func renewal() async throws {
        let shop = try Shop()
        defer { shop.api.stop() }
        try await shop.service.signIn(Shop.emily)
        let old = try await shop.tokens.tokens
        try await shop.tokens.signIn(Tokens(accessToken: "ended", refreshToken: old?.refreshToken))
        let users = try await withThrowingTaskGroup(of: User.self) { [service = shop.service] group in
            for _ in 0..<10 { group.addTask { try await service.currentUser() } }
            var users: [User] = []
            for try await user in group { users.append(user) }
            return users
        }
        // The service ends the session when a refresh token comes a second time.
        #expect(users.count == 10)
        #expect(try await shop.tokens.tokens?.refreshToken != old?.refreshToken)
        #expect(try await shop.service.currentUser().id == 1)
    }

    @Test("users decode from canned JSON")
    func cannedJSON() async throws {
        let client = APIClient.mock {
            $0.on(GetCurrentUser.self) { _ in
                """
                {"id": 7, "firstName": "Ada", "lastName": "Lovelace", "maidenName": "Byron", "age": 36,
                 "gender": "female", "email": "ada@example.com", "phone": "+44 20 7946 0000", "username": "adal",
                 "password": "never kept", "birthDate": "1815-12-10", "image": "https://example.com/ada.png",
                 "bloodGroup": "A-", "height": 165.5, "weight": 58.0, "eyeColor": "Brown"}
                """
            }
        }
        let user = try await APIUserService(client: client, tokens: TokenStore()).currentUser()
        #expect(user.name == "Ada Lovelace")
        #expect(user.height == 165.5)
    }
}
