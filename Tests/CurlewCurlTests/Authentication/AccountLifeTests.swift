// SPDX-License-Identifier: MIT

import CurlewAuthentication
import Testing

/// Lives of an account in random order over real sockets. `TokenInterleavingTests` has a thousand without.
@Suite(.timeLimit(.minutes(2)))
struct AccountLifeTests {
    private enum Mode { case good, failing, refusing }

    @Test(
        "Calls, expiries, cancellations, sign-outs and failures in any order keep the rules", arguments: UInt64(0)..<20)
    func random(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let mode = Locked(Mode.good)
        let service = try AccountService(onRefresh: { _ in
            switch mode.withLock({ $0 }) {
            case .good: nil
            case .failing: .status(.serviceUnavailable)
            case .refusing: AccountService.invalidGrant
            }
        })
        let stranger = try MockServer.always(.text("hello"), to: nil)
        let store = TokenStore(policy: TokenStore.RefreshPolicy(limit: 1000))
        try await store.signIn(service.tokens)
        let client = try service.client(store)
        var calls: [Task<NetworkError.Reason?, Never>] = []
        for _ in 0..<60 {
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<9: calls.append(Task { await client.me() })
            case 9, 10:
                let url = stranger.url + "/"
                calls.append(Task { await client.reason(of: .get(url: url)) })
            case 11..<14: service.expire()
            case 14: calls.randomElement(using: &random)?.cancel()
            case 15: try await store.signOut()
            case 16: try await store.signIn(service.signIn())
            case 17: mode.withLock { $0 = .failing }
            case 18: mode.withLock { $0 = .refusing }
            default: mode.withLock { $0 = .good }
            }
            // Sometimes all that is in progress gets somewhere first.
            if Int.random(in: 0..<4, using: &random) == 0 { _ = await calls.randomElement(using: &random)?.value }
        }
        for call in calls {
            let reason = await call.value
            switch reason {
            case nil, .cancelled, .status(401), .notAuthenticated(.refreshFailed), .notAuthenticated(.signedOut),
                .notAuthenticated(.refreshRefused):
                break
            default: Issue.record("seed \(seed): \(String(describing: reason))")
            }
        }
        #expect(service.violations.isEmpty, "seed \(seed)")
        #expect(stranger.requests.allSatisfy { !$0.headers.contains(.authorization) }, "seed \(seed)")
        // Whatever happened, the account works again after a sign-in.
        mode.withLock { $0 = .good }
        try await store.signIn(service.signIn())
        #expect(await client.me() == nil, "seed \(seed)")
    }
}
