// SPDX-License-Identifier: MIT

import Curlew
import CurlewSampleAPI
import CurlewTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1)))
struct AuthTests {
    private let sample: Sample

    init() throws {
        sample = try Sample()
    }

    /// The service as an app would write it.
    private struct JWTService {
        let client: APIClient
        let tokens: TokenStore

        func login(username: String, password: String) async throws {
            let answer = try await client.send(.login(username, password))
            try await tokens.signIn(Tokens(accessToken: answer.accessToken, refreshToken: answer.refreshToken))
        }

        func currentUser() async throws(NetworkError) -> User {
            try await client.send(.currentUser)
        }
    }

    private var service: JWTService { JWTService(client: sample.client, tokens: sample.tokens) }

    @Test("currentUser() before login fails with .status(.unauthorized)")
    func beforeLogin() async throws {
        let error = await #expect(throws: NetworkError.self) { try await service.currentUser() }
        #expect(error?.reason == .status(.unauthorized))
        #expect(error?.isUnauthorized == true)
        #expect(error?.response?.headers[.wwwAuthenticate] == "Bearer realm=\"sample\"")
    }

    @Test("login(username:password:) stores the token")
    func loginStores() async throws {
        #expect(try await sample.tokens.tokens == nil)
        try await service.login(username: "emilys", password: "emilyspass")
        let tokens = try #require(try await sample.tokens.tokens)
        #expect(tokens.accessToken.split(separator: ".").count == 3)
        #expect(try #require(tokens.expiresAt).timeIntervalSinceNow > 3000)
        #expect(tokens.refreshToken != nil)
    }

    @Test("currentUser() after login returns id 1, Emily")
    func afterLogin() async throws {
        try await service.login(username: "emilys", password: "emilyspass")
        let user = try await service.currentUser()
        #expect(user.id == 1)
        #expect(user.firstName == "Emily")
        #expect(user.image == "\(sample.api.assetsURL)/avatars/emilys.png")
    }

    @Test(
        "A wrong name or password returns 400 with a message",
        arguments: [("emilys", "wrong"), ("nobody", "emilyspass"), ("", "")])
    func wrongPassword(username: String, password: String) async throws {
        let error = await #expect(throws: NetworkError.self) {
            try await sample.client.send(.login(username, password))
        }
        #expect(error?.statusCode == 400)
        #expect(error?.body(as: FilmError.self)?.message == "Invalid credentials")
    }

    @Test("Each login returns its own tokens, and all of them are valid")
    func tokens() async throws {
        let first = try await sample.client.send(.login("emilys", "emilyspass"))
        let second = try await sample.client.send(.login("michaelw", "michaelwpass"))
        let all = [first.accessToken, first.refreshToken, second.accessToken, second.refreshToken]
        #expect(Set(all).count == 4)
        #expect(all.allSatisfy { $0.count >= 24 })
        for (token, id) in [(first.accessToken, 1), (second.accessToken, 2)] {
            let user = try await sample.client.with(headers: [.authorization: "Bearer \(token)"]).send(.currentUser)
            #expect(user.id == id)
        }
    }

    @Test(
        "Other credentials than a known access token get 401", arguments: ["Bearer unknown", "Basic x", "Bearer", ""])
    func unknownToken(field: String) async throws {
        let client = sample.client.with(headers: [.authorization: field])
        let error = await #expect(throws: NetworkError.self) { try await client.send(.currentUser) }
        #expect(error?.statusCode == 401)
    }

    @Test("A login that is not the expected JSON gets 400")
    func badContent() async throws {
        let error = await #expect(throws: NetworkError.self) {
            try await sample.client.send(.post("/auth/login", body: .text("hello")))
        }
        #expect(error?.statusCode == 400)
        #expect(error?.body(as: FilmError.self)?.code == "bad_content")
    }

    @Test("Two hundred calls meet an ended token over real sockets: one refresh serves them all")
    func expiry() async throws {
        let clock = ManualClock(date: Date())
        let sample = try Sample(time: clock)
        let answer = try await sample.client.send(.login("emilys", "emilyspass"))
        let first = Tokens(accessToken: answer.accessToken, refreshToken: answer.refreshToken)
        try await sample.tokens.signIn(first)
        clock.advance(by: .seconds(2 * 3600))
        let users = try await withThrowingTaskGroup(of: User.self) { group in
            for _ in 0..<200 { group.addTask { try await sample.client.send(.currentUser) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(users.count == 200 && users.allSatisfy { $0.id == 1 })
        let second = try #require(try await sample.tokens.tokens)
        #expect(second.refreshToken != first.refreshToken && second.accessToken != first.accessToken)
        // A second refresh with the spent token would have ended the session.
        #expect(try await sample.client.send(.currentUser).id == 1)
    }

    @Test("A refresh token is good once: presented again, it ends the session")
    func reuse() async throws {
        let answer = try await sample.client.send(.login("emilys", "emilyspass"))
        func renew() async throws -> Tokens {
            try await sample.client.send(.post("/auth/refresh", body: .json(["refreshToken": answer.refreshToken])))
        }
        let renewed = try await renew()
        let client = sample.client.with(headers: [.authorization: "Bearer \(renewed.accessToken)"])
        #expect(try await client.send(.currentUser).id == 1)
        let error = await #expect(throws: NetworkError.self) { try await renew() }
        #expect(error?.reason == .status(.unauthorized))
        await #expect(throws: NetworkError.self) { try await client.send(.currentUser) }
    }
}
