// SPDX-License-Identifier: MIT

import Curlew
import CurlewSampleAPI
import Testing

@Suite(.timeLimit(.minutes(1)))
struct AuthTests {
    private let sample: Sample

    init() throws {
        sample = try Sample()
    }

    @Test("current user before login fails with 401")
    func beforeLogin() async throws {
        let error = await #expect(throws: NetworkError.self) { try await sample.client.send(.currentUser) }
        #expect(error?.statusCode == 401)
        #expect(error?.isUnauthorized == true)
        #expect(error?.response?.headers[.wwwAuthenticate] == "Bearer realm=\"sample\"")
    }

    @Test("after login the current user has id 1, Emily")
    func afterLogin() async throws {
        let answer = try await sample.client.send(.login("emilys", "emilyspass"))
        await sample.tokens.store(answer.accessToken)
        let user = try await sample.client.send(.currentUser)
        #expect(user.id == 1)
        #expect(user.firstName == "Emily")
        #expect(user.image == "\(sample.api.assetsURL)/avatars/emilys.png")
    }

    @Test(
        "a wrong name or password gives 400 with a message",
        arguments: [("emilys", "wrong"), ("nobody", "emilyspass"), ("", "")])
    func wrongPassword(username: String, password: String) async throws {
        let error = await #expect(throws: NetworkError.self) {
            try await sample.client.send(.login(username, password))
        }
        #expect(error?.statusCode == 400)
        #expect(error?.body(as: FilmError.self)?.message == "Invalid credentials")
    }

    @Test("each login gives tokens of its own, and all of them are valid")
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
        "other credentials than a known access token get 401", arguments: ["Bearer unknown", "Basic x", "Bearer", ""])
    func unknownToken(field: String) async throws {
        let client = sample.client.with(headers: [.authorization: field])
        let error = await #expect(throws: NetworkError.self) { try await client.send(.currentUser) }
        #expect(error?.statusCode == 401)
    }

    @Test("a login that is not the expected JSON gets 400")
    func badContent() async throws {
        let error = await #expect(throws: NetworkError.self) {
            try await sample.client.send(.post("/auth/login", body: .text("hello")))
        }
        #expect(error?.statusCode == 400)
        #expect(error?.body(as: FilmError.self)?.code == "bad_content")
    }
}
