// SPDX-License-Identifier: MIT

import CurlewAuthentication

/// A service with rotating tokens behind real sockets: `GET /me` wants the present access token, `POST /refresh`
/// exchanges a refresh token once. It writes down what must not happen.
final class AccountService: Sendable {
    struct State {
        var generation = 0
        var isValid = true
        var refusesAll = false
        var refreshes = 0
        /// Refresh tokens that are presented now, and those that have been exchanged.
        var presented: Set<String> = []
        var spent: Set<String> = []
        var violations: [String] = []
    }

    let server: MockServer
    let state = Locked(State())

    /// - `onStale`: runs on the connection's thread for each call that will be refused; may hold it, or answer in
    ///   place.
    /// - `onRefresh`: the same for each refresh, by its number from one.
    init(
        onStale: @escaping @Sendable () -> MockResponse? = { nil },
        onRefresh: @escaping @Sendable (Int) -> MockResponse? = { _ in nil }
    ) throws {
        server = try MockServer()
        let state = state
        server.on(.get, "/me") { request in
            let isGood = state.withLock { state in
                !state.refusesAll && state.isValid
                    && request.headers[.authorization] == "Bearer a\(state.generation)"
            }
            return isGood ? .text("me") : onStale() ?? .status(.unauthorized)
        }
        server.on(.post, "/refresh") { request in
            let token = request.headers["X-Refresh"] ?? ""
            let number = state.withLock { state in
                state.refreshes += 1
                if state.spent.contains(token) { state.violations.append("\(token) was spent") }
                if !state.presented.insert(token).inserted { state.violations.append("\(token) twice at once") }
                return state.refreshes
            }
            defer { state.withLock { _ = $0.presented.remove(token) } }
            if let answer = onRefresh(number) { return answer }
            let new = state.withLock { state -> Tokens? in
                guard token == "r\(state.generation)" else { return nil }
                state.spent.insert(token)
                state.generation += 1
                state.isValid = true
                return Self.tokens(state.generation)
            }
            return try new.map { .json(text: String(decoding: try JSONEncoder().encode($0), as: UTF8.self)) }
                ?? Self.invalidGrant
        }
    }

    /// The refresh token is not valid any more (RFC 6749 §5.2).
    static let invalidGrant = MockResponse.json(text: #"{"error":"invalid_grant"}"#, status: .badRequest)

    static func tokens(_ generation: Int, expiresAt: Date? = nil) -> Tokens {
        Tokens(accessToken: "a\(generation)", refreshToken: "r\(generation)", expiresAt: expiresAt)
    }

    var tokens: Tokens { state.withLock { Self.tokens($0.generation) } }
    var refreshes: Int { state.withLock { $0.refreshes } }
    var violations: [String] { state.withLock { $0.violations } }

    /// The access token of now is refused from now on.
    func expire() {
        state.withLock { $0.isValid = false }
    }

    /// Another session.
    func signIn() -> Tokens {
        state.withLock { state in
            state.generation += 1
            state.isValid = true
            return Self.tokens(state.generation)
        }
    }

    /// A client of the service with tokens of `store`, refreshed at `/refresh`.
    func client(
        _ store: TokenStore, pipeline: Pipeline = [], pool: TransportConfiguration.Pool = TransportConfiguration.Pool(),
        timeouts: Timeouts = .standard
    ) throws -> APIClient {
        APIClient(
            baseURL: try BaseURL(server.url),
            pipeline: pipeline.adding(
                .bearer(store) { refresh in
                    try await refresh.client.send(
                        Request<Tokens>.post("/refresh").header("X-Refresh", refresh.tokens.refreshToken ?? ""))
                }),
            transport: CurlTransport(configuration: TransportConfiguration(pool: pool)),
            configuration: APIClient.Configuration(timeouts: timeouts))
    }
}

extension APIClient {
    /// How a call for `/me` ends; nil if well.
    func me() async -> NetworkError.Reason? {
        await reason(of: .get("/me"))
    }

    func reason(of request: Request<String>) async -> NetworkError.Reason? {
        do throws(NetworkError) {
            _ = try await send(request)
            return nil
        } catch {
            return error.reason
        }
    }
}
