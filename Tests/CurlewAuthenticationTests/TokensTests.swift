// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewAuthentication
@testable import CurlewCore

@Suite(.timeLimit(.minutes(1)))
struct TokensTests {
    private func decode(_ json: String, _ decoder: JSONDecoder = JSONDecoder()) throws -> Tokens {
        try decoder.decode(Tokens.self, from: Data(json.utf8))
    }

    @Test("Token responses are read in the usual spellings")
    func spellings() throws {
        let expected = Tokens(accessToken: "a", refreshToken: "r")
        let snake = JSONDecoder()
        snake.keyDecodingStrategy = .convertFromSnakeCase
        let oauth = #"{"access_token": "a", "refresh_token": "r", "token_type": "Bearer"}"#
        #expect(try decode(oauth) == expected)
        #expect(try decode(oauth, snake) == expected)
        #expect(try decode(#"{"accessToken": "a", "refreshToken": "r", "id": 1}"#) == expected)
        #expect(try decode(#"{"token": "a"}"#) == Tokens(accessToken: "a"))
    }

    /// Access tokens that no server means, and a refresh token that no server reads.
    static let unusable = [
        Tokens(accessToken: ""), Tokens(accessToken: " "), Tokens(accessToken: "\t\r\n"),
        Tokens(accessToken: String(repeating: "a", count: 65_537)),
        Tokens(accessToken: "a", refreshToken: String(repeating: "r", count: 65_537)),
    ]

    @Test("A token that is missing, empty, bound to a key or longer than 64 KiB is refused", arguments: unusable)
    func refused(tokens: Tokens) async throws {
        #expect(throws: DecodingError.self) { try decode(#"{"refresh_token": "r"}"#) }
        for key in ["token_type", "tokenType"] {
            #expect(throws: DecodingError.self) { try decode(#"{"access_token": "a", "\#(key)": "DPoP"}"#) }
        }
        let data = try JSONEncoder().encode(tokens)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Tokens.self, from: data) }
        // Neither signed in with, nor the result of a refresh; nothing is sent as "Bearer" without a token.
        let store = TokenStore()
        let error = await #expect(throws: NetworkError.self) { try await store.signIn(tokens) }
        #expect(error?.reason == .notAuthenticated(.sourceFailed))
        #expect(try await store.tokens == nil)
        try await store.signIn(Tokens(accessToken: "good", refreshToken: "r"))
        let mock = MockTransport.answering { _ in HTTPResponse(status: .unauthorized) }
        let client = APIClient.testing(mock, baseURL: "https://api.test", pipeline: [.bearer(store) { _ in tokens }])
        let failed = await #expect(throws: NetworkError.self) { try await client.send(Request<Void>.get("/")) }
        #expect(failed?.reason == .notAuthenticated(.refreshFailed))
        #expect((failed?.underlying as? NetworkError)?.detail == error?.detail)
        #expect(mock.requests.map { $0.request.headers[.authorization] } == ["Bearer good"])
        #expect(try await store.tokens?.accessToken == "good")
    }

    @Test("A lifetime counts from now, also as text, and a century at most", arguments: ["3600", "\"3600\"", "1e300"])
    func lifetimes(value: String) throws {
        let tokens = try decode(#"{"access_token": "a", "expires_in": \#(value)}"#)
        let left = try #require(tokens.expiresAt).timeIntervalSinceNow
        #expect(value == "1e300" ? left > 3e9 && left < 4e9 : abs(left - 3600) < 60)
    }

    @Test("Encoded tokens are read back")
    func roundTrip() throws {
        let tokens = Tokens(
            accessToken: "a", refreshToken: "r", expiresAt: Date(timeIntervalSince1970: 1_800_000_000.5))
        #expect(try JSONDecoder().decode(Tokens.self, from: JSONEncoder().encode(tokens)) == tokens)
    }

    /// RFC 7515 appendix A.1, whose `exp` is 1300819380.
    private let jwt =
        "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9"
        + ".eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
        + ".dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"

    @Test("The end of a JSON Web Token is read from it, unless the response says it")
    func jwtExpiry() {
        #expect(Tokens(accessToken: jwt).expiresAt == Date(timeIntervalSince1970: 1_300_819_380))
        let date = Date(timeIntervalSince1970: 5)
        #expect(Tokens(accessToken: jwt, expiresAt: date).expiresAt == date)
    }

    @Test("Other tokens have no end", arguments: ["", "a", "a.b", "a.b.c", "...", "a.e30.c", "a.eyJleHAiOiJ4In0.c"])
    func noJWT(token: String) {
        #expect(Tokens(accessToken: token).expiresAt == nil)
    }

    @Test("Random texts are no JSON Web Tokens, and never trap", arguments: UInt64(0)..<20)
    func fuzz(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            var bytes = Array(jwt.utf8)
            for _ in 0..<3 {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let date = Tokens(accessToken: String(decoding: bytes, as: UTF8.self)).expiresAt
            #expect(date.map { abs($0.timeIntervalSince1970) < 1e11 } ?? true, "seed \(seed)")
        }
    }

    @Test("Base 64 for URLs reads what it wrote", arguments: 0..<70)
    func base64(count: Int) {
        let bytes = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ 7) })
        let text = Base64URL.encode(bytes)
        #expect(!text.contains(where: { "+/=".contains($0) }))
        #expect(Base64URL.decode(text.utf8) == bytes)
    }
}
