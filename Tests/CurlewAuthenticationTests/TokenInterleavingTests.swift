// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewAuthentication
@testable import CurlewCore

/// A thousand lives of an account in random order.
@Suite(.timeLimit(.minutes(2)))
struct TokenInterleavingTests {
    @Test("Calls, expiries, sign-outs and failures in any order keep the rules", arguments: UInt64(0)..<20)
    func random(block: UInt64) async throws {
        for seed in (block * 50)..<(block * 50 + 50) { try await run(seed) }
    }

    private func run(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let server = AccountServer(seed: seed)
        let store = TokenStore(policy: TokenStore.RefreshPolicy(limit: 1000))
        try await store.signIn(server.tokens)
        let client = APIClient.testing(server, baseURL: "https://api.test", pipeline: [.bearer(store, refresh: renew)])
        var calls: [Task<NetworkError.Reason?, Never>] = []
        for _ in 0..<30 {
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<11:
                let url = Int.random(in: 0..<6, using: &random) == 0 ? "https://other.test/" : "https://api.test/"
                calls.append(
                    Task {
                        do throws(NetworkError) {
                            try await client.send(Request<Void>.get(url: url))
                            return nil
                        } catch {
                            return error.reason
                        }
                    })
            case 11..<14: server.expire()
            case 14: calls.randomElement(using: &random)?.cancel()
            case 15: try await store.signOut()
            case 16: try await store.signIn(server.signIn())
            case 17: server.state.withLock { $0.mode = .failing }
            case 18: server.state.withLock { $0.mode = .refusing }
            default: server.state.withLock { $0.mode = .good }
            }
            for _ in 0..<Int.random(in: 0...6, using: &random) { await Task.yield() }
        }
        // No caller waits forever: the suite's time limit would end the test.
        for call in calls {
            let reason = await call.value
            switch reason {
            case nil, .cancelled, .status(401), .notAuthenticated(.refreshFailed), .notAuthenticated(.signedOut),
                .notAuthenticated(.refreshRefused):
                break
            default: Issue.record("seed \(seed): \(String(describing: reason))")
            }
        }
        let state = server.state.withLock { $0 }
        #expect(state.foreignCredentials == 0, "seed \(seed)")
        #expect(state.spentReused == 0 && state.overlaps == 0, "seed \(seed)")
        // Whatever happened, the account works again after a sign-in.
        server.state.withLock { $0.mode = .good }
        try await store.signIn(server.signIn())
        try await client.send(Request<Void>.get("/"))
    }
}
