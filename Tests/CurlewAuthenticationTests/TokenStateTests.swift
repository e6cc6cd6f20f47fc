// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewAuthentication
@testable import CurlewCore

/// The refresh coordinator as a table: no I/O, no time of its own.
@Suite(.timeLimit(.minutes(1)))
struct TokenStateTests {
    static let start = Date(timeIntervalSinceReferenceDate: 0)

    static func tokens(_ name: String, lifetime: Double? = nil, renewable: Bool = true) -> Tokens {
        Tokens(
            accessToken: name, refreshToken: renewable ? "r-\(name)" : nil,
            expiresAt: lifetime.map { start.addingTimeInterval($0) })
    }

    static func instant(_ seconds: Double) -> SystemTime.Instant {
        SystemTime.Instant(nanoseconds: 0).advanced(by: .seconds(seconds))
    }

    /// A state that is signed in, and asks at `seconds` after the start.
    struct Account {
        var state: TokenState

        init(_ tokens: Tokens, policy: TokenStore.RefreshPolicy = .standard) {
            state = TokenState(policy)
            state.signIn(tokens, date: start)
        }

        mutating func step(refused: UInt64? = nil, canRefresh: Bool = true, at seconds: Double = 0) -> TokenState.Step {
            state.step(
                refused: refused, canRefresh: canRefresh, now: instant(seconds),
                date: start.addingTimeInterval(seconds))
        }

        mutating func finish(_ refreshID: UInt64, _ outcome: TokenState.RefreshOutcome, at seconds: Double = 0)
            -> TokenState.Outcome
        {
            let outcome = state.finish(refreshID, with: outcome)
            if outcome == .arrived, !state.commit(refreshID, date: start.addingTimeInterval(seconds)) {
                return .discarded
            }
            return outcome
        }
    }

    @Test("Signed out, there is nothing to use or refresh")
    func signedOut() {
        var state = TokenState(.standard)
        #expect(state.step(now: Self.instant(0), date: Self.start) == .signedOut)
        #expect(state.step(refused: 3, now: Self.instant(0), date: Self.start) == .signedOut)
    }

    @Test(
        "The age of tokens decides: used, refreshed ahead, or waited for",
        arguments: [(0, "use"), (939, "use"), (940, "ahead"), (999, "ahead"), (1000, "wait"), (5000, "wait")])
    func ages(seconds: Double, what: String) throws {
        var account = Account(Self.tokens("a", lifetime: 1000))
        let current = try #require(account.state.current)
        let expected: [String: TokenState.Step] = [
            "use": .use(current), "ahead": .useAndRefresh(current, refreshID: 1),
            "wait": .refresh(current, refreshID: 1),
        ]
        #expect(account.step(at: seconds) == expected[what])
    }

    @Test("The leeway is never more than the last quarter of a life")
    func shortLife() throws {
        var account = Account(Self.tokens("a", lifetime: 40))
        let current = try #require(account.state.current)
        #expect(account.step(at: 29) == .use(current))
        #expect(account.step(at: 30) == .useAndRefresh(current, refreshID: 1))
    }

    @Test("Without a way to refresh, tokens are used to the end, and a refusal is final")
    func notRenewable() throws {
        var account = Account(Self.tokens("a", lifetime: 10))
        let current = try #require(account.state.current)
        #expect(account.step(canRefresh: false, at: 100) == .use(current))
        #expect(account.step(refused: current.version, canRefresh: false, at: 100) == .giveUp)
    }

    @Test("A version has one refresh: the first caller starts it, the others wait")
    func singleFlight() throws {
        var account = Account(Self.tokens("a"))
        let old = try #require(account.state.current)
        #expect(account.step(refused: old.version) == .refresh(old, refreshID: 1))
        #expect(account.step(refused: old.version) == .wait(refreshID: 1))
        #expect(account.step() == .use(old), "a call that was not refused does not wait")
        let outcome = account.finish(1, .tokens(Self.tokens("b")))
        let new = try #require(account.state.current)
        #expect(outcome == .arrived && new.version > old.version && new.tokens.accessToken == "b")
    }

    @Test("A late refusal of older tokens continues with the present ones")
    func lateRefusal() throws {
        var account = Account(Self.tokens("a"))
        let old = try #require(account.state.current)
        _ = account.step(refused: old.version)
        _ = account.finish(1, .tokens(Self.tokens("b")))
        let new = try #require(account.state.current)
        #expect(account.step(refused: old.version) == .use(new))
        #expect(account.step(refused: new.version) == .refresh(new, refreshID: 2))
    }

    @Test("Received tokens are unused before they are stored, and dropped after a sign-out")
    func commits() throws {
        var account = Account(Self.tokens("a"))
        let old = try #require(account.state.current)
        _ = account.step(refused: old.version)
        let arrival = account.state.finish(1, with: .tokens(Self.tokens("b")))
        #expect(arrival == .arrived)
        #expect(account.state.newest?.accessToken == "b" && account.state.current == old)
        #expect(account.step(refused: old.version) == .wait(refreshID: 1))
        #expect(account.step() == .use(old))
        let second = account.state.finish(1, with: .refused)
        #expect(second == .discarded, "a flight lands once")
        var other = account
        _ = other.state.signOut()
        var isUsed = other.state.commit(1, date: Self.start)
        #expect(!isUsed && other.state.current == nil && other.state.newest == nil)
        isUsed = account.state.commit(1, date: Self.start)
        #expect(isUsed && account.state.current?.tokens.accessToken == "b")
        isUsed = account.state.commit(1, date: Self.start)
        #expect(!isUsed)
    }

    @Test("A refusal of another sign-in's tokens is final: no request is repeated as another user")
    func otherSession() throws {
        var account = Account(Self.tokens("a"))
        let first = try #require(account.state.current)
        account.state.signIn(Self.tokens("b"), date: Self.start)
        #expect(account.step(refused: first.version) == .giveUp)
        _ = account.state.signOut()
        #expect(account.step(refused: first.version) == .giveUp)
        account.state.signIn(Self.tokens("c"), date: Self.start)
        let third = try #require(account.state.current)
        #expect(account.step(refused: third.version) == .refresh(third, refreshID: 1))
    }

    @Test("An end that was counted here does not follow the server's clock")
    func counted() throws {
        let tokens = Tokens(accessToken: "a", refreshToken: "r", lifetime: .seconds(1000), from: Self.start)
        let decoded = try JSONDecoder().decode(Tokens.self, from: try JSONEncoder().encode(tokens))
        for tokens in [tokens, decoded] {
            var account = Account(tokens)
            account.state.learn(serverDate: Self.start.addingTimeInterval(5000), at: Self.start)
            let current = try #require(account.state.current)
            #expect(account.step(at: 900) == .use(current))
        }
    }

    @Test("A refresh token that is not exchanged stays")
    func unrotated() throws {
        var account = Account(Self.tokens("a"))
        let version = try #require(account.state.current).version
        _ = account.step(refused: version)
        _ = account.finish(1, .tokens(Tokens(accessToken: "b")))
        #expect(account.state.current?.tokens == Tokens(accessToken: "b", refreshToken: "r-a"))
    }

    @Test("The result of a refresh after a sign-out or another sign-in is dropped")
    func discarded() throws {
        var account = Account(Self.tokens("a"))
        let version = try #require(account.state.current).version
        _ = account.step(refused: version)
        let wasSignedIn = account.state.signOut()
        #expect(wasSignedIn)
        #expect(account.finish(1, .tokens(Self.tokens("b"))) == .discarded)
        #expect(account.state.current == nil)

        account.state.signIn(Self.tokens("c"), date: Self.start)
        let third = try #require(account.state.current)
        _ = account.step(refused: third.version)
        account.state.signIn(Self.tokens("d"), date: Self.start)
        #expect(account.finish(2, .refused) == .discarded)
        #expect(account.state.current?.tokens.accessToken == "d")
    }

    @Test("A refusal signs out, a failure keeps the tokens")
    func landings() throws {
        var account = Account(Self.tokens("a"))
        let current = try #require(account.state.current)
        _ = account.step(refused: current.version)
        #expect(account.finish(1, .failed) == .kept)
        #expect(account.step() == .use(current))
        #expect(account.step(refused: current.version) == .refresh(current, refreshID: 2))
        #expect(account.finish(2, .refused) == .signedOut)
        #expect(account.step() == .signedOut)
    }

    @Test("A server that refuses everything is asked a bounded number of times in each window")
    func storm() throws {
        var account = Account(Self.tokens("a"), policy: TokenStore.RefreshPolicy(limit: 3, window: .seconds(60)))
        for number in 1...3 {
            let current = try #require(account.state.current)
            #expect(
                account.step(refused: current.version, at: Double(number))
                    == .refresh(current, refreshID: UInt64(number)))
            _ = account.finish(UInt64(number), .tokens(Self.tokens("\(number)")), at: Double(number))
        }
        let current = try #require(account.state.current)
        #expect(account.step(refused: current.version, at: 11) == .tooMany(retryAfter: .seconds(50)))
        #expect(account.step(at: 11) == .use(current))
        #expect(account.step(refused: current.version, at: 61) == .refresh(current, refreshID: 4))
    }

    @Test("Refreshes ahead leave half of the window to calls that wait")
    func aheadIsModest() throws {
        var account = Account(
            Self.tokens("a", lifetime: 100), policy: TokenStore.RefreshPolicy(leeway: .seconds(60), limit: 4))
        for refreshID in 1...2 {
            _ = account.step(at: 80)
            #expect(account.finish(UInt64(refreshID), .failed, at: 80) == .kept)
        }
        let current = try #require(account.state.current)
        #expect(account.step(at: 81) == .use(current))
        #expect(account.step(refused: current.version, at: 81) == .refresh(current, refreshID: 3))
    }

    @Test("Tokens end by the server's clock")
    func skew() throws {
        var account = Account(Self.tokens("a", lifetime: 1000))
        account.state.learn(serverDate: Self.start.addingTimeInterval(501), at: Self.start.addingTimeInterval(1))
        let current = try #require(account.state.current)
        #expect(account.step(at: 430) == .use(current))
        #expect(account.step(at: 500) == .refresh(current, refreshID: 1))
        account.state.learn(serverDate: Self.start.addingTimeInterval(2), at: Self.start.addingTimeInterval(1))
        #expect(account.state.current?.life?.end == Self.start.addingTimeInterval(1000))
    }
}
