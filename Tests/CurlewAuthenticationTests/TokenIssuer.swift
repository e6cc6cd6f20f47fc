// SPDX-License-Identifier: MIT

@testable import CurlewAuthentication
@testable import CurlewCore

/// An authorization server with rotation and reuse detection, whose every response waits for the test.
///
/// It exchanges a refresh token also when the client that presented it has stopped waiting, as real ones do: the
/// response is lost then.
final class TokenIssuer: Sendable {
    enum Answer: CaseIterable {
        case tokens, unavailable, page, unauthorized, invalidGrant
    }

    private struct State {
        var session = 0
        var generation = 0
        /// False after `invalid_grant`, until the next sign-in.
        var isGood = false
        var requests = 0
        var answered = 0
        var pending: [(token: String, gate: SharedResult<Answer>)] = []
        /// Answers every request at once.
        var isOpen = false
        var exchanged: Set<String> = []
        var underWay: Set<String> = []
        var violations: [String] = []
        var observers: [(condition: @Sendable (State) -> Bool, reached: SharedResult<Void>)] = []
    }

    private let state = Locked(State())

    var renewal: TokenStore.Renewal {
        TokenStore.Renewal { tokens in
            let token = tokens?.refreshToken ?? ""
            let gate = self.receive(token)
            // Not this task's wait: its cancellation does not reach the server.
            let answer = try await Task.detached { try await gate.wait() }.value
            let result = Result { try self.respond(token, answer) }
            try Task.checkCancellation()
            return try result.get()
        }
    }

    var requests: Int { state.withLock { $0.requests } }
    var pending: Int { state.withLock { $0.pending.count } }
    var violations: [String] { state.withLock { $0.violations } }
    /// The last ones that were issued.
    var tokens: Tokens? { state.withLock { $0.isGood ? Self.tokens($0) : nil } }

    /// Another session. What was issued before is good no more.
    func signIn() -> Tokens {
        state.withLock { state in
            state.session += 1
            state.generation = 0
            state.isGood = true
            return Self.tokens(state)
        }
    }

    /// Answers the request that has waited the longest, or that of the number.
    func answer(_ answer: Answer, at index: Int = 0) {
        let gate = state.withLock { state in
            state.pending.indices.contains(index) ? state.pending.remove(at: index).gate : nil
        }
        gate?.finish(.success(answer))
    }

    /// From now on, tokens for every request that deserves them.
    func open() {
        let gates = state.withLock { state in
            defer { (state.isOpen, state.pending) = (true, []) }
            return state.pending.map(\.gate)
        }
        for gate in gates { gate.finish(.success(.tokens)) }
    }

    /// Until this many requests wait for a response.
    func waitForRequests(_ count: Int) async throws {
        try await wait { $0.pending.count >= count }
    }

    /// Until every request has its response.
    func waitForEnd() async throws {
        try await wait { $0.answered == $0.requests }
    }

    private func wait(_ condition: @escaping @Sendable (State) -> Bool) async throws {
        let reached = SharedResult<Void>()
        change { $0.observers.append((condition, reached)) }
        try await reached.wait()
    }

    /// Changes the state and notifies the waiters.
    private func change<Value: Sendable>(_ body: (inout State) -> Value) -> Value {
        let (result, reached) = state.withLock { state in
            let result = body(&state)
            let reached = state.observers.filter { $0.condition(state) }.map(\.reached)
            let left = state.observers.filter { !$0.condition(state) }
            state.observers = left
            return (result, reached)
        }
        for shot in reached { shot.finish(.success(())) }
        return result
    }

    private func receive(_ token: String) -> SharedResult<Answer> {
        change { state in
            state.requests += 1
            if state.exchanged.contains(token) { state.violations.append("\(token) was exchanged before") }
            if !state.underWay.insert(token).inserted { state.violations.append("\(token) twice at once") }
            let gate = SharedResult<Answer>()
            if state.isOpen { gate.finish(.success(.tokens)) } else { state.pending.append((token, gate)) }
            return gate
        }
    }

    private func respond(_ token: String, _ answer: Answer) throws -> Tokens {
        try change { state in
            Result { try Self.respond(token, answer, &state) }
        }.get()
    }

    private static func respond(_ token: String, _ answer: Answer, _ state: inout State) throws -> Tokens {
        state.answered += 1
        state.underWay.remove(token)
        let isCurrent = state.isGood && token == Self.tokens(state).refreshToken
        switch answer {
        case .unavailable: throw NetworkError(statusCode: 503)
        case .unauthorized: throw NetworkError(statusCode: 401)
        case .page:
            throw NetworkError(
                statusCode: 400, headers: [.contentType: "text/html"], body: Data("<p>invalid_grant</p>".utf8))
        case .tokens where isCurrent:
            state.exchanged.insert(token)
            state.generation += 1
            return Self.tokens(state)
        case .tokens, .invalidGrant:
            if isCurrent { state.isGood = false }
            throw NetworkError(
                statusCode: 400, headers: [.contentType: "application/json"],
                body: Data(#"{"error":"invalid_grant","error_description":"unknown or revoked"}"#.utf8))
        }
    }

    private static func tokens(_ state: State) -> Tokens {
        Tokens(
            accessToken: "a\(state.session).\(state.generation)", refreshToken: "r\(state.session).\(state.generation)")
    }
}
