// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewAuthentication
@testable import CurlewCore

/// Stores that share one file, as those of two processes do.
@Suite(.timeLimit(.minutes(1)))
final class TokenSharingTests: Sendable {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tokens-\(UUID().uuidString)").path
    var path: String { folder + "/tokens.json" }

    init() throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    private func store(_ time: any TimeSource = SystemTime()) -> TokenStore { TokenStore(.file(path), time: time) }

    @Test("Stores that meet ended tokens at the same moment refresh once between them")
    func once() async throws {
        let server = AccountServer()
        let stores = (0..<4).map { _ in store() }
        try await stores[0].signIn(server.tokens)
        for store in stores { #expect(try await store.tokens == server.tokens) }
        for round in 1...10 {
            server.expire()
            let reasons = await withTaskGroup(of: NetworkError.Reason?.self) { group in
                for store in stores + stores {
                    group.addTask { await server.client(store).outcome() }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(reasons.allSatisfy { $0 == nil }, "round \(round): \(reasons)")
            #expect(server.refreshes == round && server.reused == 0)
            #expect(try await TokenStore.FilePersistence(path).load() == server.tokens)
        }
    }

    @Test("Tokens that another store has refreshed are used, and are the same sign-in")
    func adopted() async throws {
        let server = AccountServer()
        let (one, other) = (store(), store())
        try await one.signIn(server.tokens)
        #expect(try await other.tokens == server.tokens)
        server.expire()
        #expect(await server.client(one).outcome() == nil)
        let changes = await other.changes()
        #expect(await server.client(other).outcome() == nil)
        #expect(server.refreshes == 1)
        #expect(try await other.tokens == AccountServer.tokens(1))
        #expect(one.principal == other.principal && one.principal != .anonymous)
        var iterator = changes.makeAsyncIterator()
        #expect(await iterator.next() == .refreshed)
    }

    @Test("A file without a session, written by the app's own tool, is one sign-in to all")
    func withoutSession() async throws {
        let server = AccountServer()
        let text = #"{"version":1,"tokens":{"access_token":"a0","refresh_token":"r0"}}"#
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        let (one, other) = (store(), store())
        #expect(try await one.tokens == other.tokens)
        server.expire()
        #expect(await server.client(one).outcome() == nil)
        #expect(await server.client(other).outcome() == nil)
        #expect(server.refreshes == 1)
    }

    @Test("Newer tokens of another store that have ended too are the ones to refresh")
    func newerButEnded() async throws {
        let (clock, server) = (ManualClock(), AccountServer())
        let (one, other) = (store(clock), store(clock))
        try await one.signIn(server.tokens)
        #expect(try await other.tokens != nil)
        // The other store's process has refreshed, long ago.
        server.state.withLock { $0.generation = 1 }
        var kept = try #require(try await TokenStore.FilePersistence(path).load())
        (kept.accessToken, kept.refreshToken, kept.expiresAt) = ("a1", "r1", clock.date.addingTimeInterval(-1))
        try await TokenStore.FilePersistence(path).save(kept)
        server.expire()
        #expect(await server.client(other).outcome() == nil)
        #expect(server.state.withLock { $0.presented } == ["r1": 1])
    }

    @Test("A sign-out in another process is noticed by the refresh: nothing is sent")
    func signedOutElsewhere() async throws {
        let server = AccountServer()
        let (one, other) = (store(), store())
        try await one.signIn(server.tokens)
        #expect(try await other.tokens != nil)
        try await one.signOut()
        server.expire()
        #expect(await server.client(other).outcome() == .notAuthenticated(.signedOut))
        #expect(server.refreshes == 0)
        #expect(try await other.tokens == nil && other.principal == .anonymous)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
    }

    enum Meanwhile: CaseIterable { case signedOut, signedIn, signedInWhileRefused }

    @Test("A change in another process during a refresh is not overwritten by it", arguments: Meanwhile.allCases)
    func meanwhile(_ event: Meanwhile) async throws {
        let (server, begun, gate) = AccountServer.gated()
        let (one, other) = (store(), store())
        try await one.signIn(server.tokens)
        #expect(try await other.tokens != nil)
        server.expire()
        let call = Task { await server.client(one).outcome() }
        try await begun.wait()
        let anew = Tokens(accessToken: "new", refreshToken: "new")
        if event == .signedOut { try await other.signOut() } else { try await other.signIn(anew) }
        if event == .signedInWhileRefused { server.state.withLock { $0.mode = .refusing } }
        gate.finish(.success(()))
        let reason = await call.value
        // A refusal is reported before it is known what is stored.
        let isRefused = reason == .notAuthenticated(.refreshRefused)
        #expect(reason == .notAuthenticated(.signedOut) || event == .signedInWhileRefused && isRefused)
        #expect(try await TokenStore.FilePersistence(path).load() == (event == .signedOut ? nil : anew))
        #expect(try await one.tokens == (event == .signedOut ? nil : anew))
        #expect(one.principal == other.principal)
    }

    @Test("A process that holds the lock too long ends the others' refresh, and nothing is sent")
    func held() async throws {
        let (clock, server) = (ManualClock(), AccountServer())
        let store = store(clock)
        try await store.signIn(server.tokens)
        server.expire()
        let lock = try #require(try FileLock.attempt(path + ".renewal"))
        let call = Task { await server.client(store).outcome() }
        // Time passes until the refresh has waited for the lock long enough, whenever it begins to.
        let time = Task {
            while !Task.isCancelled {
                clock.advance(by: .seconds(600))
                await Task.yield()
            }
        }
        // The call may give up before the refresh does.
        let reason = await call.value
        #expect(reason == .storage || reason == .timedOut(.total))
        try await yieldUntil { await !store.state.isUnderWay(1) }
        time.cancel()
        #expect(server.refreshes == 0)
        lock.release()
        #expect(await server.client(store).outcome() == nil)
        #expect(server.refreshes == 1)
    }

    @Test("A service's tokens are obtained once for all processes, and again without the file")
    func obtained() async throws {
        let (server, obtained) = (AccountServer(), Locked(0))
        func client(_ store: TokenStore) -> APIClient {
            APIClient(
                baseURL: "https://api.test",
                pipeline: [
                    .bearer(
                        store,
                        obtain: { _ in
                            obtained.withLock { $0 += 1 }
                            return server.signIn()
                        })
                ], transport: server)
        }
        let (one, other) = (client(store()), client(store()))
        #expect(await one.outcome() == nil)
        #expect(await other.outcome() == nil)
        #expect(obtained.withLock { $0 } == 1)
        server.expire()
        try FileManager.default.removeItem(atPath: path)
        #expect(await one.outcome() == nil)
        #expect(await other.outcome() == nil)
        #expect(obtained.withLock { $0 } == 2)
    }

    @Test("Everything that a store throws is one error type")
    func typed() async {
        let store = TokenStore(.file("/dev/null/tokens.json"), time: ManualClock())
        do throws(NetworkError) {
            try await store.signIn(Tokens(accessToken: "a"))
        } catch { #expect(error.reason == .storage) }
        do throws(NetworkError) {
            _ = try await store.tokens
            try await store.save()
        } catch { #expect(error.reason == .storage) }
        do throws(NetworkError) { try await store.signOut() } catch { #expect(error.reason == .storage) }
    }
}
