// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewAuthentication
@testable import CurlewCore

/// The refresh coordinator under everything that goes wrong in production.
@Suite(.timeLimit(.minutes(1)))
struct TokenRefreshTests {
    @Test("200 concurrent calls meet an expired token: one refresh, 200 successes")
    func concurrent() async throws {
        let server = AccountServer()
        let store = TokenStore()
        try await store.signIn(server.tokens)
        server.expire()
        let client = server.client(store)
        let failures = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<200 { group.addTask { await client.outcome() != nil } }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(failures == 0)
        #expect(server.refreshes == 1)
    }

    @Test("Late 401s over three rotations: one refresh for each, none with a spent token")
    func late() async throws {
        let gates = Locked<[SharedResult<Void>]>([])
        let server = AccountServer(onCall: {
            let gate = gates.withLock { $0.popLast() }
            try await gate?.wait()
        })
        let store = TokenStore()
        try await store.signIn(server.tokens)
        let client = server.client(store)
        for rotation in 1...3 {
            server.expire()
            let mine = (0..<20).map { _ in SharedResult<Void>() }
            gates.withLock { $0 = mine }
            let calls = (0..<20).map { _ in Task { await client.outcome() } }
            try await yieldUntil { gates.withLock { $0.isEmpty } }
            // The responses come one after the other, each when the calls before it are over or waiting.
            for gate in mine.shuffled() {
                gate.finish(.success(()))
                for _ in 0..<20 { await Task.yield() }
            }
            for call in calls { #expect(await call.value == nil) }
            #expect(server.refreshes == rotation)
        }
        #expect(server.reused == 0)
    }

    @Test("The first caller is cancelled during the refresh: the others succeed")
    func cancelled() async throws {
        let (server, begun, gate) = AccountServer.gated()
        let store = TokenStore()
        try await store.signIn(server.tokens)
        server.expire()
        let client = server.client(store)
        let first = Task { await client.outcome() }
        try await begun.wait()
        let others = (0..<10).map { _ in Task { await client.outcome() } }
        first.cancel()
        #expect(await first.value == .cancelled)
        gate.finish(.success(()))
        for other in others { #expect(await other.value == nil) }
        #expect(server.refreshes == 1)
        #expect(try await store.tokens == AccountServer.tokens(1))
    }

    @Test("Signing out during a refresh stores nothing, and notifies waiting calls")
    func signOut() async throws {
        let (server, begun, gate) = AccountServer.gated()
        let kept = RecordedTokens()
        let store = TokenStore(kept, policy: .patient)
        try await store.signIn(server.tokens)
        server.expire()
        let client = server.client(store)
        let calls = (0..<10).map { _ in Task { await client.outcome() } }
        try await begun.wait()
        try await yieldUntil { server.state.withLock { $0.calls } >= 10 }
        for _ in 0..<50 { await Task.yield() }
        try await store.signOut()
        gate.finish(.success(()))
        for call in calls { #expect(await call.value == .notAuthenticated(.signedOut)) }
        try await yieldUntil { server.refreshes > 0 && server.state.withLock { $0.generation } > 0 }
        for _ in 0..<50 { await Task.yield() }
        #expect(try await store.tokens == nil)
        #expect(kept.last == .some(nil))
    }

    @Test("A refused refresh signs out once; all waiting calls get the one error")
    func refused() async throws {
        let server = AccountServer()
        let store = TokenStore()
        try await store.signIn(server.tokens)
        var changes = await store.changes().makeAsyncIterator()
        server.state.withLock { ($0.mode, $0.isValid) = (.refusing, false) }
        let client = server.client(store)
        let calls = (0..<20).map { _ in Task { await client.outcome() } }
        for call in calls {
            let reason = await call.value
            // A call that arrived after the others were notified is sent without a token, and is refused by the server.
            #expect(reason == .notAuthenticated(.refreshRefused) || reason == .status(401))
        }
        #expect(server.refreshes == 1)
        #expect(try await store.tokens == nil)
        #expect(await changes.next() == .signedOut)
    }

    @Test("A refresh that fails keeps the tokens, throws a retryable error, and works the next time")
    func failing() async throws {
        let server = AccountServer()
        let store = TokenStore()
        try await store.signIn(server.tokens)
        server.state.withLock { ($0.mode, $0.isValid) = (.failing, false) }
        let client = server.client(store)
        let error = await #expect(throws: NetworkError.self) { try await client.send(.get("/") as Request<Void>) }
        #expect(error?.reason == .notAuthenticated(.refreshFailed))
        #expect(error?.isRetryable == true)
        #expect(try await store.tokens == AccountServer.tokens(0))
        server.state.withLock { $0.mode = .good }
        #expect(await client.outcome() == nil)
        #expect(server.refreshes == 2)
    }

    @Test(
        "A refresh that never ends holds no call beyond its time, and is dropped at its limit"
    )
    func endless() async throws {
        let clock = ManualClock()
        let (isStuck, begun) = (Locked(true), SharedResult<Void>())
        let server = AccountServer(onRefresh: {
            begun.finish(.success(()))
            // Does not end even when cancelled.
            if isStuck.withLock({ $0 }) { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
        })
        let policy = TokenStore.RefreshPolicy(timeout: .seconds(10), maximumRefreshTime: .seconds(25))
        let store = TokenStore(policy: policy, time: clock)
        try await store.signIn(server.tokens)
        server.expire()
        let client = server.client(store, time: clock, timeouts: Timeouts(total: .seconds(60)))
        // Each waits, and the one refresh has its limit.
        for _ in 0..<2 {
            let call = Task { await client.outcome() }
            try await begun.wait()
            try await clock.waitForSleepers(2, .all)
            clock.advance(by: .seconds(10))
            #expect(await call.value == .timedOut(.total))
        }
        #expect(server.refreshes == 1)
        isStuck.withLock { $0 = false }
        let call = Task { await client.outcome() }
        try await clock.waitForSleepers(2, .all)
        clock.advance(by: .seconds(5))
        #expect(await call.value == .timedOut(.total))
        #expect(await client.outcome() == nil)
        #expect(server.refreshes == 2)
    }

    @Test("A call does not wait for a refresh beyond its own deadline; the refresh continues")
    func deadline() async throws {
        let clock = ManualClock()
        let (server, begun, gate) = AccountServer.gated()
        let store = TokenStore(time: clock)
        try await store.signIn(server.tokens)
        server.expire()
        let client = server.client(store, time: clock, timeouts: Timeouts(total: .seconds(5)))
        let call = Task { await client.outcome() }
        try await begun.wait()
        try await clock.waitForSleepers(2, .all)
        clock.advance(by: .seconds(5))
        #expect(await call.value == .timedOut(.total))
        gate.finish(.success(()))
        #expect(await client.outcome() == nil)
        #expect(server.refreshes == 1)
    }

    @Test("A server that refuses all tokens gets bounded refreshes, and the call a clear error")
    func refusesEverything() async throws {
        let server = AccountServer()
        let store = TokenStore(policy: TokenStore.RefreshPolicy(limit: 4), time: ManualClock())
        let client = server.client(store)
        try await store.signIn(server.tokens)
        var reasons: [NetworkError.Reason?] = []
        for _ in 0..<10 {
            server.expire()
            let call = Task { await client.outcome() }
            reasons.append(await call.value)
        }
        #expect(server.refreshes == 4)
        #expect(reasons.prefix(4).allSatisfy { $0 == nil })
        #expect(reasons.dropFirst(4).allSatisfy { $0 == .notAuthenticated(.tooManyRefreshes) })
    }

    @Test(
        "A call is sent twice and refreshes twice at most, also if each new token is refused",
        arguments: [(false, 401, 2, 1), (true, 401, 2, 2), (true, 200, 1, 1)])
    func noLoop(hasExpired: Bool, status: Int, sent: Int, refreshed: Int) async throws {
        let mock = MockTransport.answering { call in
            guard call.request.target == "/refresh" else { return HTTPResponse(status: HTTPStatus(status)) }
            let tokens = Tokens(
                accessToken: "new", refreshToken: "r", expiresAt: hasExpired ? Date(timeIntervalSince1970: 1) : nil)
            return HTTPResponse(body: ResponseBody(try JSONEncoder().encode(tokens)))
        }
        let store = TokenStore(time: ManualClock())
        try await store.signIn(
            Tokens(accessToken: "a", refreshToken: "r", expiresAt: hasExpired ? Date(timeIntervalSince1970: 1) : nil))
        let client = APIClient.testing(mock, baseURL: "https://api.test", pipeline: [.bearer(store, refresh: renew)])
        #expect(await client.outcome() == (status == 200 ? nil : .status(.unauthorized)))
        let refreshes = { mock.requests.count { $0.request.target == "/refresh" } }
        #expect(mock.requestCount - refreshes() == sent && refreshes() == refreshed)
        // All calls together have the limit of the store.
        for _ in 0..<30 { _ = await client.outcome() }
        #expect(refreshes() == TokenStore.RefreshPolicy.standard.limit)
    }
}

/// Remembers what a store wanted to be kept.
final class RecordedTokens: TokenStore.Persistence {
    private let saved = Locked<[Tokens?]>([])

    var last: Tokens?? { saved.withLock { $0.last } }

    func load() async throws -> Tokens? { nil }

    func save(_ tokens: Tokens?) async throws {
        await Task.yield()
        saved.withLock { $0.append(tokens) }
    }
}
