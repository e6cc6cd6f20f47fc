// SPDX-License-Identifier: MIT

import CurlewAuthentication
import CurlewCore
import CurlewCurl
import CurlewHTTP
import CurlewTesting
import Foundation
import TestServers
import Testing

/// What becomes of a call when the token endpoint does not do its part.
@Suite(.timeLimit(.minutes(1)))
struct RefreshOutcomeTests {
    /// What the endpoint does the first time; afterwards it is good.
    enum Trouble: CaseIterable {
        case refuses401, refuses400, says401, says400, isPage400, fails500, fails503, isNoJSON, hasNoToken, isEmpty,
            isCutOff, isReset, redirects

        var response: MockResponse {
            switch self {
            case .refuses401: .json(text: #"{"error":"invalid_grant"}"#, status: .unauthorized)
            case .refuses400: AccountService.invalidGrant
            case .says401: .status(.unauthorized)
            case .says400: .json(text: #"{"error":"invalid_client"}"#, status: .badRequest)
            case .isPage400: .text("<html>invalid_grant</html>", status: .badRequest)
            case .fails500: .status(.internalServerError)
            case .fails503: .status(.serviceUnavailable)
            case .isNoJSON: .text("<html>please wait</html>")
            case .hasNoToken: .json(text: #"{"token_type":"bearer"}"#)
            case .isEmpty: .status(.ok)
            case .isCutOff: .json(text: #"{"access_token":"a1"}"#).truncated(after: 5)
            case .isReset: .status(.ok).reset(at: .beforeHead)
            case .redirects: .redirect(to: "/elsewhere")
            }
        }

        /// Only `invalid_grant` is final, and no status by itself.
        var signsOut: Bool { self == .refuses401 || self == .refuses400 }

        func isExpected(_ reason: NetworkError.Reason?) -> Bool {
            switch (self, reason) {
            case (.refuses401, .notAuthenticated(.refreshRefused)), (.refuses400, .notAuthenticated(.refreshRefused)),
                (.isCutOff, .connectionLost), (.isReset, .connectionLost):
                true
            case (.refuses401, _), (.refuses400, _), (.isCutOff, _), (.isReset, _): false
            default: reason == .notAuthenticated(.refreshFailed)
            }
        }
    }

    @Test(
        "invalid_grant signs out, all else keeps the tokens and the next call tries again", arguments: Trouble.allCases)
    func outcome(trouble: Trouble) async throws {
        let service = try AccountService(onRefresh: { $0 == 1 ? trouble.response : nil })
        let store = TokenStore()
        try await store.signIn(service.tokens)
        service.expire()
        let client = try service.client(store)
        let reason = await client.me()
        #expect(trouble.isExpected(reason), "\(String(describing: reason))")
        #expect(service.refreshes == 1)
        if trouble.signsOut {
            #expect(try await store.tokens == nil)
            // Without tokens the call goes out without, and nothing is refreshed.
            #expect(await client.me() == .status(.unauthorized))
            #expect(service.refreshes == 1)
        } else {
            #expect(try await store.tokens == AccountService.tokens(0))
            #expect(await client.me() == nil)
            #expect(service.refreshes == 2)
        }
        #expect(service.violations.isEmpty)
    }

    @Test("the error of a refresh that failed says what failed, is worth trying again, and shows no token")
    func texts() async throws {
        let service = try AccountService(onRefresh: { _ in .status(.serviceUnavailable) })
        let store = TokenStore()
        try await store.signIn(service.tokens)
        service.expire()
        let client = try service.client(store)
        let error = await #expect(throws: NetworkError.self) { try await client.send(Request<String>.get("/me")) }
        #expect(error?.isRetryable == true)
        #expect(error?.detail.hasPrefix("The tokens could not be refreshed.") == true)
        let text = error.map { "\($0)" } ?? ""
        for secret in ["a0", "r0"] { #expect(!text.contains(secret), "\(text)") }
    }

    @Test("an endpoint that never responds is dropped at its limit; the tokens stay, and the next call tries again")
    func silent() async throws {
        let service = try AccountService(onRefresh: {
            $0 == 1 ? MockResponse.status(.ok).stalled(at: .beforeHead) : nil
        })
        let clock = ManualClock()
        let policy = TokenStore.RefreshPolicy(timeout: .seconds(10), longestRefresh: .seconds(10))
        let store = TokenStore(policy: policy, time: clock)
        try await store.signIn(service.tokens)
        service.expire()
        let client = try service.client(store)
        let calls = (0..<5).map { _ in Task { await client.me() } }
        try await service.server.waitForRequests(count: 6)
        // The server has counted it: the next refresh is the second one.
        #expect(await eventually { service.refreshes == 1 })
        try await clock.waitForSleepers(1, .all)
        clock.advance(by: .seconds(10))
        // A call that asked after the others were notified has begun the next refresh, which is correct.
        for call in calls {
            let reason = await call.value
            #expect(reason == .timedOut(.total) || reason == nil)
        }
        #expect(try await store.tokens != nil)
        var reason = await client.me()
        // It may have met the refresh that was just being dropped.
        if reason == .timedOut(.total) { reason = await client.me() }
        #expect(reason == nil)
        #expect(service.refreshes == 2 && service.violations.isEmpty)
    }

    @Test("a call does not wait beyond its own deadline; the refresh continues for the others")
    func deadline() async throws {
        let gate = Signal()
        let service = try AccountService(onRefresh: { _ in
            gate.block()
            return nil
        })
        let store = TokenStore()
        try await store.signIn(service.tokens)
        service.expire()
        let client = try service.client(store)
        let hasty = try service.client(store, timeouts: Timeouts(total: .milliseconds(200)))
        let patient = Task { await client.me() }
        try await service.server.waitForRequests(count: 2)
        #expect(await hasty.me() == .timedOut(.total))
        gate.fire()
        #expect(await patient.value == nil)
        #expect(await hasty.me() == nil)
        #expect(service.refreshes == 1)
    }

    @Test("a response that comes after calls have stopped waiting is kept, and later calls wait for it")
    func late() async throws {
        let gate = Signal()
        let service = try AccountService(onRefresh: { number in
            if number == 1 { gate.block() }
            return nil
        })
        let clock = ManualClock()
        let store = TokenStore(policy: TokenStore.RefreshPolicy(timeout: .seconds(10)), time: clock)
        try await store.signIn(service.tokens)
        service.expire()
        let client = try service.client(store)
        let call = Task { await client.me() }
        try await service.server.waitForRequests(count: 2)
        try await clock.waitForSleepers(1, .all)
        clock.advance(by: .seconds(10))
        #expect(await call.value == .timedOut(.total))
        // It meets the refresh that is still in progress, and does not present its refresh token again.
        let next = Task { await client.me() }
        try await service.server.waitForRequests(count: 3)
        gate.fire()
        #expect(await next.value == nil)
        #expect(try await store.tokens == AccountService.tokens(1))
        #expect(service.refreshes == 1 && service.violations.isEmpty)
    }
}
