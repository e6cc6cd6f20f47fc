// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewAuthentication
@testable import CurlewCore

/// The result of a refresh is stored before it is used, and belongs to the sign-in that it was made for.
@Suite(.timeLimit(.minutes(1)))
struct TokenCommitTests {
    /// A persistence whose saves wait, fail, or never end.
    private final class Shelf: TokenStore.Persistence {
        struct Trouble: Error {}

        let kept = Locked<[Tokens?]>([])
        let gate = Locked<SharedResult<Void>?>(nil)
        let begun = Locked<SharedResult<Void>?>(nil)

        func load() async throws -> Tokens? { kept.withLock { $0.last } ?? nil }

        func save(_ tokens: Tokens?) async throws {
            begun.withLock { $0 }?.finish(.success(()))
            if let gate = gate.withLock({ $0 }) { try await gate.wait() }
            kept.withLock { $0.append(tokens) }
        }

        /// From now on saves wait until `open`, and the first one is reported.
        func close() -> (begun: SharedResult<Void>, gate: SharedResult<Void>) {
            let shots = (begun: SharedResult<Void>(), gate: SharedResult<Void>())
            begun.withLock { $0 = shots.begun }
            gate.withLock { $0 = shots.gate }
            return shots
        }

        func open() { gate.withLock { $0 = nil } }
    }

    private let server = AccountServer()
    private let shelf = Shelf()

    @Test("New tokens are stored before any call is sent with them, also later calls")
    func order() async throws {
        let store = TokenStore(shelf, policy: .patient)
        try await store.signIn(server.tokens)
        server.expire()
        let (begun, gate) = shelf.close()
        let client = server.client(store)
        var calls = [Task { await client.outcome() }]
        try await begun.wait()
        // Refused with the old tokens: the new ones have arrived, and are not handed out.
        calls += (0..<10).map { _ in Task { await client.outcome() } }
        try await yieldUntil { server.state.withLock { $0.calls } >= 11 }
        for _ in 0..<100 { await Task.yield() }
        #expect(server.state.withLock { $0.calls } == 11)
        #expect(try await store.tokens == AccountServer.tokens(0))
        gate.finish(.success(()))
        for call in calls { #expect(await call.value == nil) }
        #expect(server.refreshes == 1)
        #expect(shelf.kept.withLock { $0 } == [AccountServer.tokens(0), AccountServer.tokens(1)])
        // A process that starts after a crash continues with them.
        let next = TokenStore(shelf, policy: .patient)
        #expect(await server.client(next).outcome() == nil)
        #expect(server.refreshes == 1)
    }

    @Test("Tokens that cannot be stored are used and reported, and storing can be repeated")
    func failing() async throws {
        let store = TokenStore(shelf, policy: .patient)
        try await store.signIn(server.tokens)
        var changes = await store.changes().makeAsyncIterator()
        server.expire()
        let (_, gate) = shelf.close()
        gate.finish(.failure(Shelf.Trouble()))
        #expect(await server.client(store).outcome() == nil)
        #expect(await store.problem?.reason == .storage)
        #expect(await changes.next() == .notKept)
        #expect(await changes.next() == .refreshed)
        await #expect(throws: NetworkError.self) { try await store.save() }
        shelf.open()
        try await store.save()
        #expect(await store.problem == nil)
        #expect(shelf.kept.withLock { $0.last } == AccountServer.tokens(1))
        #expect(server.refreshes == 1)
    }

    @Test("Signing out while new tokens are being stored leaves nothing behind")
    func signOut() async throws {
        let store = TokenStore(shelf, policy: .patient)
        try await store.signIn(server.tokens)
        server.expire()
        let (begun, gate) = shelf.close()
        let client = server.client(store)
        let call = Task { await client.outcome() }
        try await begun.wait()
        let signOut = Task { try await store.signOut() }
        #expect(await call.value == .notAuthenticated(.signedOut))
        gate.finish(.success(()))
        try await signOut.value
        #expect(shelf.kept.withLock { $0.last } == .some(nil))
        #expect(try await store.tokens == nil)
        #expect(store.principal == .anonymous)
    }

    @Test("A persistence that never responds delays no call beyond the time of a refresh")
    func hanging() async throws {
        let clock = ManualClock()
        let store = TokenStore(shelf, policy: TokenStore.RefreshPolicy(timeout: .seconds(10)), time: clock)
        try await store.signIn(server.tokens)
        server.expire()
        let (begun, _) = shelf.close()
        let client = server.client(store, time: clock)
        let call = Task { await client.outcome() }
        try await begun.wait()
        // The call itself, which has 300 s, and the write.
        try await clock.waitForSleepers(2, .all)
        clock.advance(by: .seconds(10))
        #expect(await call.value == nil)
        #expect(await store.problem?.detail.contains("10 s") == true)
    }

    @Test("A persistence that never responds ends calls at their deadline")
    func endlessLoad() async throws {
        struct Deaf: TokenStore.Persistence {
            func load() async throws -> Tokens? { try await SharedResult<Tokens?>().wait() }
            func save(_ tokens: Tokens?) async throws {}
        }
        let clock = ManualClock()
        let store = TokenStore(Deaf(), time: clock)
        let client = server.client(store, time: clock)
        let call = Task { await client.outcome() }
        let look = Task { try await store.tokens }
        try await clock.waitForSleepers(2, .all)
        clock.advance(by: .seconds(30))
        #expect(await failureReason { try await look.value } == .storage)
        clock.advance(by: .seconds(270))
        #expect(await call.value == .timedOut(.total))
    }

    @Test("A call is never repeated with another sign-in's tokens: its late 401 is the response")
    func otherAccount() async throws {
        let (begun, gate) = (SharedResult<Void>(), SharedResult<Void>())
        let server = AccountServer(onCall: {
            begun.finish(.success(()))
            try await gate.wait()
        })
        let store = TokenStore()
        try await store.signIn(Tokens(accessToken: "ada", refreshToken: "r-ada"))
        let client = server.client(store)
        let call = Task { await client.outcome() }
        try await begun.wait()
        // Ada's call is in progress when Bob signs in. As Bob it would succeed.
        try await store.signIn(server.signIn())
        gate.finish(.success(()))
        #expect(await call.value == .status(.unauthorized))
        #expect(server.state.withLock { $0.calls } == 1)
        #expect(server.refreshes == 0)
        #expect(await client.outcome() == nil)
    }

    @Test("A call that waits for a refresh fails when another user signs in meanwhile")
    func replaced() async throws {
        let (server, begun, gate) = AccountServer.gated()
        let store = TokenStore()
        try await store.signIn(server.tokens)
        server.expire()
        let client = server.client(store)
        let call = Task { await client.outcome() }
        try await begun.wait()
        try await store.signIn(server.signIn())
        #expect(await call.value == .notAuthenticated(.signedOut))
        gate.finish(.success(()))
        #expect(await client.outcome() == nil)
        #expect(try await store.tokens == server.tokens)
    }

    @Test("A refresh through the client of its own tokens does not wait for itself")
    func roundabout() async throws {
        let whole = Locked<APIClient?>(nil)
        let store = TokenStore()
        let client = APIClient(
            baseURL: "https://api.test",
            pipeline: [
                .bearer(store) { refresh in
                    let client = try #require(whole.withLock { $0 })
                    return try await client.send(
                        Request<Tokens>.post("/refresh").header("X-Refresh", refresh.tokens.refreshToken ?? ""))
                }
            ], transport: server)
        whole.withLock { $0 = client }
        try await store.signIn(server.tokens)
        server.expire()
        #expect(await client.outcome() == nil)
        #expect(server.refreshes == 1)
    }

    @Test("A broken token endpoint is asked a bounded number of times; the error stays retryable")
    func broken() async throws {
        let store = TokenStore(policy: TokenStore.RefreshPolicy(limit: 3), time: ManualClock())
        try await store.signIn(server.tokens)
        server.state.withLock { ($0.mode, $0.isValid) = (.failing, false) }
        let client = server.client(store)
        for _ in 0..<6 { #expect(await client.outcome() == .notAuthenticated(.refreshFailed)) }
        #expect(server.refreshes == 3)
        server.state.withLock { $0.mode = .good }
        try await store.signIn(server.signIn())
        #expect(await client.outcome() == nil)
    }
}
