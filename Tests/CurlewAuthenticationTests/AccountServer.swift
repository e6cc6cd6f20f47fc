// SPDX-License-Identifier: MIT

@testable import CurlewAuthentication
@testable import CurlewCore

/// A service with rotating tokens, as a transport: it refuses what is not current, refreshes once for each refresh
/// token, and counts what must not happen.
final class AccountServer: Transport {
    struct State {
        var generation = 0
        var isValid = true
        /// How often each refresh token was presented.
        var presented: [String: Int] = [:]
        var exchanged: Set<String> = []
        /// Refresh tokens presented after they had been exchanged.
        var spentReused = 0
        /// Those that are presented now, and how often one was presented twice at the same time.
        var underWay: Set<String> = []
        var overlaps = 0
        var calls = 0
        var foreignCredentials = 0
        var mode = Mode.good
        var random: SeededGenerator?
    }

    enum Mode { case good, failing, refusing }

    let state = Locked(State())
    /// Every refresh passes here before it is answered.
    let onRefresh: @Sendable () async throws -> Void
    /// Every response to a call passes here.
    let onCall: @Sendable () async throws -> Void

    init(
        seed: UInt64? = nil, onRefresh: @escaping @Sendable () async throws -> Void = {},
        onCall: @escaping @Sendable () async throws -> Void = {}
    ) {
        self.onRefresh = onRefresh
        self.onCall = onCall
        if let seed { state.withLock { $0.random = SeededGenerator(seed: seed) } }
    }

    var refreshes: Int { state.withLock { $0.presented.values.reduce(0, +) } }
    var reused: Int { state.withLock { $0.spentReused } }

    /// The tokens that are good now.
    var tokens: Tokens { state.withLock { Self.tokens($0.generation) } }

    static func tokens(_ generation: Int) -> Tokens {
        Tokens(accessToken: "a\(generation)", refreshToken: "r\(generation)")
    }

    /// Another session, with tokens of its own.
    func signIn() -> Tokens {
        state.withLock { state in
            state.generation += 1
            state.isValid = true
            return Self.tokens(state.generation)
        }
    }

    /// The access token of now is refused from now on.
    func expire() {
        state.withLock { $0.isValid = false }
    }

    func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

    func send(_ request: HTTPRequest, in context: ExchangeContext) async throws -> HTTPResponse {
        try Task.checkCancellation()
        await pause()
        if request.target.hasSuffix("/refresh") { return try await refresh(request) }
        if request.origin.host != "api.test" {
            state.withLock { if request.headers.contains(.authorization) { $0.foreignCredentials += 1 } }
            return HTTPResponse()
        }
        let isGood = state.withLock { state -> Bool in
            state.calls += 1
            return state.isValid && request.headers[.authorization] == "Bearer a\(state.generation)"
        }
        try await onCall()
        await pause()
        return HTTPResponse(status: isGood ? .ok : .unauthorized)
    }

    private func refresh(_ request: HTTPRequest) async throws -> HTTPResponse {
        let presented = request.headers["X-Refresh"] ?? ""
        state.withLock { state in
            state.presented[presented, default: 0] += 1
            if state.exchanged.contains(presented) { state.spentReused += 1 }
            if !state.underWay.insert(presented).inserted { state.overlaps += 1 }
        }
        defer { state.withLock { _ = $0.underWay.remove(presented) } }
        try await onRefresh()
        await pause()
        let (status, tokens) = state.withLock { state -> (HTTPStatus, Tokens?) in
            switch state.mode {
            case .failing: return (503, nil)
            case .refusing: return (400, nil)
            case .good where presented == "r\(state.generation)":
                state.exchanged.insert(presented)
                state.generation += 1
                state.isValid = true
                return (.ok, Self.tokens(state.generation))
            case .good: return (400, nil)
            }
        }
        await pause()
        return HTTPResponse(
            status: status, headers: ["Content-Type": "application/json"],
            body: ResponseBody(
                try tokens.map { try JSONEncoder().encode($0) } ?? Data(#"{"error":"invalid_grant"}"#.utf8)))
    }

    /// Lets others run a random number of times.
    private func pause() async {
        let count = state.withLock { state -> Int in
            guard var random = state.random else { return 0 }
            defer { state.random = random }
            return Int.random(in: 0...4, using: &random)
        }
        for _ in 0..<count { await Task.yield() }
    }
}

extension AccountServer {
    /// A service whose refreshes wait for `gate`; `begun` ends with the first one.
    static func gated() -> (server: AccountServer, begun: SharedResult<Void>, gate: SharedResult<Void>) {
        let (begun, gate) = (SharedResult<Void>(), SharedResult<Void>())
        let server = AccountServer(onRefresh: {
            begun.finish(.success(()))
            try await gate.wait()
        })
        return (server, begun, gate)
    }

    /// A client of the service with the tokens of `store`.
    func client(
        _ store: TokenStore, time: any TimeSource = SystemTime(), timeouts: Timeouts = .standard
    ) -> APIClient {
        APIClient.testing(
            self, baseURL: "https://api.test", pipeline: [.bearer(store, refresh: renew)], timeouts: timeouts,
            time: time)
    }
}

extension APIClient {
    /// Why a call fails; nil if it succeeds.
    func outcome() async -> NetworkError.Reason? {
        await failure(Request<Void>.get("/"))?.reason
    }
}

/// Renews at `/refresh` of the same server.
func renew(_ refresh: TokenStore.Refresh) async throws -> Tokens {
    try await refresh.client.send(
        Request<Tokens>.post("/refresh").header("X-Refresh", refresh.tokens.refreshToken ?? ""))
}

extension TokenStore.RefreshPolicy {
    /// For stores that keep tokens on the clock of the system: a machine that is busy may take long to write.
    static let patient = TokenStore.RefreshPolicy(timeout: .seconds(300), maximumRefreshTime: .seconds(600))
}
