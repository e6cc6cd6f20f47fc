// SPDX-License-Identifier: MIT

import CurlewAuthentication
import CurlewCore
import CurlewCurl
import CurlewHTTP
import CurlewResilience
import CurlewTesting
import Foundation
import TestServers
import Testing

/// Tokens that refresh themselves, over real sockets, under what goes wrong in production.
@Suite(.timeLimit(.minutes(1)))
struct TokenServiceTests {
    /// How a token has come to its end: the client knows, or the server says.
    enum End: CaseIterable { case known, refused }

    private func store(
        _ service: AccountService, _ end: End, _ persistence: any TokenPersistence = .memory
    ) async throws -> TokenStore {
        let clock = ManualClock()
        let store = TokenStore(persistence, time: clock)
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

    @Test("401s that come late, in any order, over three rotations: one refresh for each", arguments: UInt64(0)..<3)
    func late(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let gates = Locked<[Signal]>([])
        let service = try AccountService(onStale: {
            let gate = Signal()
            gates.withLock { $0.append(gate) }
            gate.block()
            return nil
        })
        let store = TokenStore()
        try await store.signIn(service.tokens)
        let client = try service.client(store)
        for rotation in 1...3 {
            service.expire()
            let done = Locked(0)
            let calls = (0..<20).map { _ in
                Task {
                    defer { done.withLock { $0 += 1 } }
                    return await client.me()
                }
            }
            #expect(await eventually { gates.withLock { $0.count } == 20 }, "seed \(seed)")
            let held = gates.withLock { held -> [Signal] in
                defer { held = [] }
                return held
            }
            // Each 401 comes when the calls before it are over: but for the first, all are late.
            for (count, gate) in held.shuffled(using: &random).enumerated() {
                gate.fire()
                #expect(await eventually { done.withLock { $0 } == count + 1 }, "seed \(seed)")
            }
            for call in calls { #expect(await call.value == nil, "seed \(seed)") }
            #expect(service.refreshes == rotation, "seed \(seed)")
        }
        #expect(service.violations.isEmpty, "seed \(seed)")
    }

    @Test("the first caller is cancelled in the middle of the refresh: the others succeed", arguments: End.allCases)
    func cancelled(end: End) async throws {
        let (begun, gate) = (Signal(), Signal())
        let service = try AccountService(onRefresh: { _ in
            begun.fire()
            gate.block()
            return nil
        })
        let client = try service.client(try await store(service, end))
        let first = Task { await client.me() }
        await begun.wait()
        let others = (0..<10).map { _ in Task { await client.me() } }
        first.cancel()
        #expect(await first.value == .cancelled)
        gate.fire()
        for other in others { #expect(await other.value == nil) }
        #expect(service.refreshes == 1 && service.violations.isEmpty)
    }

    @Test("signing out in the middle of a refresh: nothing is stored afterwards, and waiting calls are notified")
    func signOut() async throws {
        let (begun, gate) = (Signal(), Signal())
        let service = try AccountService(onRefresh: { _ in
            begun.fire()
            gate.block()
            return nil
        })
        let folder = try TemporaryFolder()
        let file = folder.path + "/tokens.json"
        let store = try await store(service, .known, .file(file))
        let client = try service.client(store)
        let calls = (0..<10).map { _ in Task { await client.me() } }
        await begun.wait()
        // All of them ask the store before the sign-out does: it takes one after the other.
        for _ in 0..<1000 { await Task.yield() }
        try await store.signOut()
        let reasons = await calls.reduceValues()
        #expect(reasons.contains(.notAuthenticated(.signedOut)))
        // One that came too late to wait went without a token.
        #expect(reasons.allSatisfy { $0 == .notAuthenticated(.signedOut) || $0 == .status(.unauthorized) })
        gate.fire()
        #expect(await eventually { service.state.withLock { $0.generation } == 1 })
        #expect(await client.me() == .status(.unauthorized))
        #expect(try await store.tokens == nil)
        #expect(!FileManager.default.fileExists(atPath: file))
        #expect(service.refreshes == 1)
    }

    @Test("a server that answers 401 to everything gets a bounded number of requests, and the caller a clear error")
    func refusesEverything() async throws {
        let service = try AccountService()
        let store = TokenStore(policy: TokenStore.RefreshPolicy(limit: 4), time: ManualClock())
        try await store.signIn(service.tokens)
        service.state.withLock { $0.refusesAll = true }
        let client = try service.client(store)
        var reasons: [NetworkError.Reason?] = []
        for _ in 0..<10 { reasons.append(await client.me()) }
        #expect(reasons.prefix(4).allSatisfy { $0 == .status(.unauthorized) })
        #expect(reasons.suffix(6).allSatisfy { $0 == .notAuthenticated(.tooManyRefreshes) })
        #expect(service.refreshes == 4 && service.violations.isEmpty)
        #expect(service.server.requestCount == 4 * 3 + 6)
    }

    @Test("one call at a time, on one connection, and an expired token: no deadlock", arguments: End.allCases)
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

    @Test("a refused response that is not read to its end releases its connection to the refresh")
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

extension [Task<NetworkError.Reason?, Never>] {
    fileprivate func reduceValues() async -> [NetworkError.Reason?] {
        var values: [NetworkError.Reason?] = []
        for task in self { values.append(await task.value) }
        return values
    }
}
