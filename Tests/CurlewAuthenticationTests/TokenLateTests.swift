// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewAuthentication
@testable import CurlewCore

/// A refresh whose callers have gone: its tokens are the only good ones, since the server has exchanged the old ones.
@Suite(.timeLimit(.minutes(1)))
struct TokenLateTests {
    private let clock = ManualClock()
    private let issuer = TokenIssuer()
    private let kept = RecordedTokens()

    private func store(_ timeout: Duration = .seconds(10)) async throws -> TokenStore {
        let store = TokenStore(kept, policy: TokenStore.RefreshPolicy(timeout: timeout), time: clock)
        try await store.signIn(issuer.signIn())
        return store
    }

    /// Asks for tokens after those of now were refused.
    private func call(_ store: TokenStore) async throws -> Tokens? {
        let now = try await store.issued(until: .never, on: clock, by: issuer.renewal)
        return try await store.issued(refused: now?.version, until: .never, on: clock, by: issuer.renewal)?.tokens
    }

    private func reason(_ call: Task<Tokens?, any Error>) async -> NetworkError.Reason? {
        do {
            _ = try await call.value
            return nil
        } catch {
            return NetworkError(error).reason
        }
    }

    /// A call whose time has passed while its refresh is in progress.
    private func overdue(_ store: TokenStore) async throws {
        let late = Task { try await call(store) }
        try await issuer.waitForRequests(1)
        clock.advance(by: .seconds(10))
        #expect(await reason(late) == .timedOut(.total))
    }

    @Test("Tokens that come after calls have stopped waiting are kept")
    func timeout() async throws {
        let store = try await store()
        var changes = await store.changes().makeAsyncIterator()
        try await overdue(store)
        issuer.answer(.tokens)
        #expect(await changes.next() == .refreshed)
        #expect(try await store.tokens == issuer.tokens)
        #expect(kept.last == .some(issuer.tokens))
        #expect(try await store.issued(until: .never, on: clock, by: issuer.renewal)?.tokens == issuer.tokens)
        #expect(issuer.violations.isEmpty && issuer.requests == 1)
    }

    @Test("Tokens that come after all calls were cancelled are kept")
    func cancelled() async throws {
        let store = try await store()
        var changes = await store.changes().makeAsyncIterator()
        let calls = (0..<3).map { _ in Task { try await call(store) } }
        try await issuer.waitForRequests(1)
        for call in calls { call.cancel() }
        for call in calls { #expect(await reason(call) == .cancelled) }
        clock.advance(by: .seconds(60))
        issuer.answer(.tokens)
        #expect(await changes.next() == .refreshed)
        #expect(try await store.tokens == issuer.tokens)
        #expect(issuer.violations.isEmpty)
    }

    @Test("A call during a late refresh waits for it, and presents no refresh token again")
    func joins() async throws {
        let store = try await store()
        try await overdue(store)
        let calls = (0..<5).map { _ in Task { try await call(store) } }
        try await clock.waitForSleepers(2, .all)
        issuer.answer(.tokens)
        for call in calls { #expect(try await call.value == issuer.tokens) }
        #expect(issuer.requests == 1 && issuer.violations.isEmpty)
    }

    @Test("A call that joins a late refresh waits for the time of one call, and no longer")
    func bounded() async throws {
        let store = try await store()
        try await overdue(store)
        for _ in 0..<3 {
            let next = Task { try await call(store) }
            try await clock.waitForSleepers(2, .all)
            clock.advance(by: .seconds(10))
            #expect(await reason(next) == .timedOut(.total))
        }
        #expect(issuer.requests == 1)
    }

    @Test("Late tokens belong to the sign-in that they were requested for", arguments: [true, false])
    func otherSession(signsIn: Bool) async throws {
        let store = try await store()
        try await overdue(store)
        if signsIn { try await store.signIn(issuer.signIn()) } else { try await store.signOut() }
        let expected = signsIn ? issuer.tokens : nil
        issuer.answer(.tokens)
        try await issuer.waitForEnd()
        for _ in 0..<50 { await Task.yield() }
        #expect(try await store.tokens == expected)
        #expect(kept.last == .some(expected))
    }

    @Test("A late failure keeps the tokens, unless the server refuses the refresh token")
    func failures() async throws {
        for answer in [TokenIssuer.Answer.unavailable, .page, .unauthorized] {
            let store = try await store()
            let tokens = try await store.tokens
            try await overdue(store)
            let next = Task { try await call(store) }
            try await clock.waitForSleepers(2, .all)
            issuer.answer(answer)
            #expect(await reason(next) == .notAuthenticated(.refreshFailed), "\(answer)")
            #expect(try await store.tokens == tokens, "\(answer)")
        }
        let store = try await store()
        var changes = await store.changes().makeAsyncIterator()
        try await overdue(store)
        issuer.answer(.invalidGrant)
        #expect(await changes.next() == .signedOut)
        #expect(try await store.tokens == nil)
        // The write ends after the store has reported.
        try await yieldUntil { kept.last == .some(nil) }
    }
}
