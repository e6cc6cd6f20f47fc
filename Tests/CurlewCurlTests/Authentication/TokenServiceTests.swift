// SPDX-License-Identifier: MIT

import CurlewAuthentication
import CurlewResilience
import Testing

/// Tokens that refresh themselves, over real sockets, under what goes wrong in production.
@Suite(.timeLimit(.minutes(1)))
struct TokenServiceTests {
    /// How a token has come to its end: the client knows, or the server says.
    enum End: CaseIterable { case known, refused }

    private func store(_ service: AccountService, _ end: End) async throws -> TokenStore {
        let clock = ManualClock()
        let store = TokenStore(time: clock)
        let expiry = end == .known ? clock.date.addingTimeInterval(-1) : nil
        try await store.signIn(AccountService.tokens(0, expiresAt: expiry))
        service.expire()
        return store
    }

    @Test("200 concurrent calls meet an expired token: one refresh, 200 successes", arguments: End.allCases)
    func concurrent(end: End) async throws {
        let service = try AccountService()
        let client = try service.client(try await store(service, end))
        let reasons = await withTaskGroup(of: NetworkError.Reason?.self) { group in
            for _ in 0..<200 { group.addTask { await client.me() } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(reasons.count == 200 && reasons.allSatisfy { $0 == nil })
        #expect(service.refreshes == 1 && service.violations.isEmpty)
        // Known to have ended, no call goes out before there are new ones; else each goes out twice at most.
        #expect(end == .known ? service.server.requestCount == 201 : service.server.requestCount <= 401)
    }

    @Test("With one call at a time on one connection, an expired token causes no deadlock", arguments: End.allCases)
    func narrow(end: End) async throws {
        let service = try AccountService()
        let client = try service.client(
            try await store(service, end), pipeline: [.concurrencyLimit(1)],
            pool: TransportConfiguration.Pool(perHost: 1))
        let reasons = await withTaskGroup(of: NetworkError.Reason?.self) { group in
            for _ in 0..<20 { group.addTask { await client.me() } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(reasons.count == 20 && reasons.allSatisfy { $0 == nil })
        #expect(service.refreshes == 1)
    }

    @Test("A refused response that is not read to its end releases its connection to the refresh")
    func largeRefusal() async throws {
        let service = try AccountService(onStale: {
            var answer = MockResponse.generated(bytes: 64 << 20)
            answer.status = .unauthorized
            return answer
        })
        let client = try service.client(
            try await store(service, .refused), pool: TransportConfiguration.Pool(perHost: 1),
            timeouts: Timeouts(total: .seconds(20)))
        #expect(await client.me() == nil)
        #expect(service.refreshes == 1)
    }
}
