// SPDX-License-Identifier: MIT

import Curlew

/// A user with an account. The service sends more members; those that the model does not name are ignored.
package struct User: Codable, Identifiable, Hashable, Sendable {
    package let id: Int
    package let username, firstName, lastName, email, image: String
    package let age: Int
    package let height, weight: Double

    package var name: String { "\(firstName) \(lastName)" }
}

/// What a user types to sign in.
package struct Credentials: Encodable, Hashable, Sendable {
    let username, password: String

    package init(username: String, password: String) {
        self.username = username
        self.password = password
    }
}

/// How the service explains a refusal, for `error.body(as:)`.
struct ServiceError: Decodable {
    let message: String
}

/// Returns the user's tokens: `Tokens` reads the members of the response that it knows.
package struct LogIn: Endpoint {
    package typealias Response = Tokens
    let credentials: Credentials

    package var method: HTTPMethod { .post }
    package var path: RequestPath { "/auth/login" }
    package var content: RequestContent { .json(credentials) }

    /// Sent without the token of the previous user: a wrong password must not look like an expired token.
    package var options: RequestOptions { .withoutCredentials }
}

package struct GetCurrentUser: Endpoint {
    package typealias Response = User
    package var path: RequestPath { "/auth/me" }

    package init() {}
}

extension Request {
    /// New tokens for a refresh token, which the service takes once.
    static func renewal(of tokens: Tokens) -> Request<Tokens> {
        .post("/auth/refresh", body: .json(["refreshToken": tokens.refreshToken]))
    }
}

extension Pipeline {
    /// The standard one, and tokens that go with every call to the store and refresh themselves.
    package static func store(_ tokens: TokenStore) -> Pipeline {
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
