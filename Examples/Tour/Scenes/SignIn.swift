// SPDX-License-Identifier: MIT

import Curlew

struct User: Decodable {
    let id: Int
    let firstName, lastName, email: String
    let height: Double
}

/// A struct for each call: what goes out, and as `Response` what comes back.
struct GetCurrentUser: Endpoint {
    typealias Response = User
    var path: RequestPath { "/auth/me" }
}

struct LogIn: Endpoint {
    struct Response: Decodable {
        let id: Int
        let accessToken, refreshToken: String
    }

    let username, password: String

    var method: HTTPMethod { .post }
    var path: RequestPath { "/auth/login" }
    var content: RequestContent { .json(["username": username, "password": password]) }
}

extension Request {
    /// New tokens for a refresh token, which the server takes once.
    static func renewal(of refreshToken: String?) -> Request<Tokens> {
        .post("/auth/refresh", body: .json(["refreshToken": refreshToken]))
    }
}

/// The error model of the service, for `error.body(as:)`.
struct ServiceError: Decodable {
    let message: String
    let code: String?
}

struct SignIn: Scene {
    let title = "Sign in"
    let about = "One struct for each call. The tokens go into a store, which puts them into every call and renews them."

    func run(on stage: Stage) async throws {
        do {
            try await stage.client.send(GetCurrentUser())
            stage.unexpected("a user before the sign-in")
        } catch {
            // `error` is a NetworkError: `send` throws nothing else, and the compiler knows.
            stage.show(error)
            stage.expect(error.isUnauthorized, "no user is signed in: 401")
        }

        do {
            try await stage.client.send(LogIn(username: "emilys", password: "wrong"))
            stage.unexpected("a login with a wrong password")
        } catch {
            let answer = error.body(as: ServiceError.self)
            stage.show("service says", answer?.message ?? "nothing")
            stage.expect(
                error.statusCode == 400 && answer != nil, "a wrong password is refused, and the service says why")
        }

        let login = try await stage.client.send(LogIn(username: "emilys", password: "emilyspass"))
        try await stage.tokens.signIn(Tokens(accessToken: login.accessToken, refreshToken: login.refreshToken))

        let user = try await stage.client.send(GetCurrentUser())
        stage.show(
            "current user", "\(user.firstName) \(user.lastName), id \(user.id), \(user.email), \(user.height) cm")
        stage.expect(user.id == 1 && user.firstName == "Emily", "the current user has id 1 and is Emily")
        try await renew(stage)
    }

    /// The service refuses a token that it does not know; ten calls meet the refusal, and one refresh serves them all.
    private func renew(_ stage: Stage) async throws {
        let old = try await stage.tokens.tokens
        try await stage.tokens.signIn(Tokens(accessToken: "ended", refreshToken: old?.refreshToken))
        let users = try await withThrowingTaskGroup(of: User.self) { group in
            for _ in 0..<10 { group.addTask { try await stage.client.send(GetCurrentUser()) } }
            var users: [User] = []
            for try await user in group { users.append(user) }
            return users
        }
        let new = try await stage.tokens.tokens
        stage.show("renewed", "ten calls with a token that had ended, one refresh")
        stage.expect(
            users.count == 10 && new?.refreshToken != old?.refreshToken && new?.expiresAt != nil,
            "ten calls renew the tokens once, and all succeed")
    }
}
