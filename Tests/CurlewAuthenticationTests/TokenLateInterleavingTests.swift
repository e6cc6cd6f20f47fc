// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewAuthentication
@testable import CurlewCore

/// Callers that come and go, time that passes, responses that come when they want, sign-ins and sign-outs, in any
/// order.
@Suite(.timeLimit(.minutes(2)))
struct TokenLateInterleavingTests {
    @Test("The stored tokens are the last ones that the server issued to the present session")
    func random() async throws {
        let first = UInt64.random(in: .min ... .max)
        for number in 0..<250 { try await run(first &+ UInt64(number)) }
    }

    private func run(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let (clock, issuer) = (ManualClock(), TokenIssuer())
        let policy = TokenStore.RefreshPolicy(timeout: .seconds(10), limit: 10_000, maximumRefreshTime: .seconds(3600))
        let store = TokenStore(policy: policy, time: clock)
        try await store.signIn(issuer.signIn())
        var changes = await store.changes().makeAsyncIterator()
        var isSignedIn = true
        var calls: [Task<Void, any Error>] = []
        for _ in 0..<40 {
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<8: calls.append(Task { try await call(store, issuer, clock, seed) })
            case 8, 9: calls.randomElement(using: &random)?.cancel()
            case 10..<13: clock.advance(by: .seconds([1, 10, 11].randomElement(using: &random) ?? 0))
            case 13..<18:
                let isGood = Int.random(in: 0..<4, using: &random) > 0
                let answer = isGood ? .tokens : TokenIssuer.Answer.allCases.randomElement(using: &random)
                issuer.answer(answer ?? .tokens, at: Int.random(in: 0..<max(1, issuer.pending), using: &random))
            case 18:
                try await store.signIn(issuer.signIn())
                isSignedIn = true
            default:
                guard Int.random(in: 0..<3, using: &random) == 0 else { continue }
                try await store.signOut()
                isSignedIn = false
            }
            for _ in 0..<Int.random(in: 0...12, using: &random) { await Task.yield() }
        }
        issuer.open()
        // A call that nothing wakes would wait forever: time stands still from here.
        for call in calls { _ = await call.result }
        // A refresh may be in progress that no call waits for.
        try await issuer.waitForEnd()
        let expected = isSignedIn ? issuer.tokens : nil
        // Its result may be on its way into the store, which reports its arrival.
        while try await store.tokens != expected, await changes.next() != nil {}
        #expect(try await store.tokens == expected, "seed \(seed)")
        #expect(issuer.violations.isEmpty, "seed \(seed): \(issuer.violations)")
    }

    /// A call whose tokens are refused once.
    private func call(_ store: TokenStore, _ issuer: TokenIssuer, _ clock: ManualClock, _ seed: UInt64) async throws {
        guard let first = try await store.issued(until: .never, on: clock, by: issuer.renewal) else { return }
        let second = try await store.issued(refused: first.version, until: .never, on: clock, by: issuer.renewal)
        guard let second else { return }
        let sessions = [first, second].map { $0.tokens.accessToken.prefix { $0 != "." } }
        #expect(sessions[0] == sessions[1] && first.version < second.version, "seed \(seed): \(sessions)")
    }
}
