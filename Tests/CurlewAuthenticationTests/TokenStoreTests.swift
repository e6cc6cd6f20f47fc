// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewAuthentication
@testable import CurlewCore

/// What a token store keeps, and what it reports.
@Suite(.timeLimit(.minutes(1)))
struct TokenStoreTests {
    /// Keeps tokens in memory, slowly, and fails on demand.
    private final class Shelf: TokenStore.Persistence {
        struct Trouble: Error {}

        let state = Locked((kept: Tokens?.none, loads: 0, saves: 0, isBroken: false, isBusy: false, overlaps: 0))

        init(_ tokens: Tokens? = nil) {
            state.withLock { $0.kept = tokens }
        }

        func load() async throws -> Tokens? {
            state.withLock { $0.loads += 1 }
            for _ in 0..<5 { await Task.yield() }
            return try state.withLock { state in
                if state.isBroken { throw Trouble() }
                return state.kept
            }
        }

        func save(_ tokens: Tokens?) async throws {
            state.withLock { state in
                state.saves += 1
                if state.isBusy { state.overlaps += 1 }
                state.isBusy = true
            }
            for _ in 0..<5 { await Task.yield() }
            try state.withLock { state in
                state.isBusy = false
                if state.isBroken { throw Trouble() }
                state.kept = tokens
            }
        }
    }

    private static let tokens = (0..<100).map { Tokens(accessToken: "a\($0)", refreshToken: "r\($0)") }

    @Test("Persisted tokens are loaded once, by the first call")
    func loading() async throws {
        let shelf = Shelf(Self.tokens[1])
        let store = TokenStore(shelf)
        #expect(shelf.state.withLock { $0.loads } == 0)
        try await withThrowingTaskGroup(of: Tokens?.self) { group in
            for _ in 0..<50 { group.addTask { try await store.tokens } }
            for try await tokens in group { #expect(tokens == Self.tokens[1]) }
        }
        #expect(shelf.state.withLock { $0.loads } == 1)
    }

    @Test("A persistence that cannot be read is an error each time, until a user signs in")
    func unreadable() async throws {
        let shelf = Shelf()
        shelf.state.withLock { $0.isBroken = true }
        let store = TokenStore(shelf)
        for _ in 0..<2 {
            #expect(await failureReason { try await store.tokens } == .storage)
        }
        #expect(await failureReason { try await store.signIn(Self.tokens[2]) } == .storage)
        #expect(try await store.tokens == Self.tokens[2], "they are used all the same")
    }

    @Test("Concurrent changes are written one at a time, and the last state is the one kept", arguments: 0..<20)
    func writing(round: Int) async throws {
        let shelf = Shelf()
        let store = TokenStore(shelf)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for tokens in Self.tokens.shuffled() {
                group.addTask {
                    if tokens.accessToken.hasSuffix("7") {
                        try await store.signOut()
                    } else {
                        try await store.signIn(tokens)
                    }
                }
            }
            try await group.waitForAll()
        }
        let last = try await store.tokens
        let state = shelf.state.withLock { $0 }
        #expect(state.kept == last)
        #expect(state.overlaps == 0 && state.saves <= 100)
    }

    @Test("A cancelled caller does not stop the writing")
    func cancelled() async throws {
        let shelf = Shelf()
        let store = TokenStore(shelf)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await store.signIn(Self.tokens[3])
        }
        _ = await task.result
        try await store.signIn(Self.tokens[4])
        #expect(shelf.state.withLock { $0.kept } == Self.tokens[4])
    }

    @Test("Observers receive each change, and the stream ends with the store")
    func changes() async throws {
        var store: TokenStore? = TokenStore()
        let changes = try #require(await store?.changes())
        try await store?.signOut()
        try await store?.signIn(Self.tokens[0])
        try await store?.signOut()
        store = nil
        var heard: [TokenStore.Change] = []
        for await change in changes { heard.append(change) }
        #expect(heard == [.signedIn, .signedOut])
    }
}
