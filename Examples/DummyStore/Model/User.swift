// SPDX-License-Identifier: MIT

import Curlew

/// A user with an account. The service sends more members; those that the model does not name are ignored.
struct User: Codable, Identifiable, Hashable, Sendable {
    let id: Int
    let username, firstName, lastName, email, image: String
    let age: Int
    let height, weight: Double

    var name: String { "\(firstName) \(lastName)" }
}

/// What a user types to sign in.
struct Credentials: Encodable, Hashable, Sendable {
    let username, password: String
}

/// How the service explains a refusal, for `error.body(as:)`.
struct ServiceError: Decodable {
    let message: String
}

/// Returns the user's tokens: `Tokens` reads the members of the response that it knows.
struct LogIn: Endpoint {
    typealias Response = Tokens
    let credentials: Credentials

    var method: HTTPMethod { .post }
    var path: RequestPath { "/auth/login" }
    var content: RequestContent { .json(credentials) }

    /// Sent without the token of the previous user: a wrong password must not look like an expired token.
    var options: RequestOptions { .withoutCredentials }
}

struct GetCurrentUser: Endpoint {
    typealias Response = User
    var path: RequestPath { "/auth/me" }
}

extension Request {
    /// New tokens for a refresh token, which the service takes once.
    static func renewal(of tokens: Tokens) -> Request<Tokens> {
        .post("/auth/refresh", body: .json(["refreshToken": tokens.refreshToken]))
    }
}

extension Pipeline {
    /// The standard one, and tokens that go with every call to the store and refresh themselves.
    static func store(_ tokens: TokenStore) -> Pipeline {
        .standard.adding(
            .bearer(tokens) { refresh in
                do throws(NetworkError) {
                    return try await refresh.client.send(.renewal(of: refresh.tokens))
                } catch {
                    // The service has no `invalid_grant`: its 401 or 403 says that the refresh token has ended.
                    guard error.isUnauthorized || error.isForbidden else { throw error }
                    throw NetworkError(.notAuthenticated(.refreshRefused), underlying: error)
                }
            })
    }
}
