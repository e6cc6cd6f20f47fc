// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCaching
@testable import CurlewCore
@testable import CurlewResilience

/// Requests that want more than what is stored, and changes whose responses were lost.
@Suite(.timeLimit(.minutes(1)))
struct CacheChangeTests {
    private static func isStored(_ fixture: CacheFixture) async throws -> Bool {
        try await fixture.send { $0.cachePolicy = .onlyIfCached }.status == .ok
    }

    @Test(
        "A validating request gets the server's failure, unless it says how stale a response may be",
        arguments: [
            ("no-cache", false), ("max-age=0", false), ("min-fresh=100", false),
            ("no-cache, stale-if-error=600", true), ("", true),
        ], [false, true])
    func staleIfError(asked: (directives: String, isServed: Bool), isError: Bool) async throws {
        let isDown = Locked(false)
        let fixture = CacheFixture { _ in
            guard isDown.withLock({ $0 }) else {
                return .data(
                    Data("stored".utf8), headers: [.cacheControl: "max-age=60, stale-if-error=600", .eTag: "\"1\""])
            }
            if isError { throw NetworkError(.unreachable) }
            return .status(503)
        }
        _ = try await fixture.text()
        isDown.withLock { $0 = true }
        fixture.clock.advance(by: .seconds(asked.directives.isEmpty ? 100 : 5))
        let headers: HTTPHeaders = asked.directives.isEmpty ? [:] : [.cacheControl: asked.directives]
        let response = try? await fixture.send(.get, "/", headers: headers)
        #expect((response?.status == .ok) == asked.isServed)
    }

    @Test(
        "Whitespace is significant in fields that are not known to be lists",
        arguments: [
            ("User-Agent", "Smith , John", "Smith,John", false), ("User-Agent", "a b", "a  b", false),
            ("User-Agent", "Smith, John", "Smith, John", true), ("Accept", "a/b , c/d", "a/b,c/d", true),
            ("Prefer", "a , b", "a,b", true),
        ])
    func vary(name: String, one: String, other: String, isSame: Bool) async throws {
        let fixture = CacheFixture { _ in
            .data(Data(), headers: [.cacheControl: "max-age=60", .vary: name])
        }
        let field = HTTPField.Name(name)
        _ = try await fixture.send(.get, "/", headers: [field: one])
        _ = try await fixture.send(.get, "/", headers: [field: other])
        #expect(fixture.transport.requestCount == (isSame ? 1 : 2))
    }

    @Test(
        "A change whose response was lost removes what is stored; an unsent one does not",
        arguments: [
            (.connectionLost(.requestMayHaveArrived), false), (.timedOut(.firstByte), false), (.badResponse, false),
            (.connectionLost(.requestNotSent), true), (.unreachable, true),
        ] as [(NetworkError.Reason, Bool)])
    func lostChange(reason: NetworkError.Reason, isKept: Bool) async throws {
        let fixture = CacheFixture { call in
            guard call.request.method == .get else { throw NetworkError(reason) }
            return .data(Data("1".utf8), headers: [.cacheControl: "max-age=60"])
        }
        _ = try await fixture.text()
        await #expect(throws: (any Error).self) { _ = try await fixture.send(.put) }
        #expect(try await Self.isStored(fixture) == isKept)
    }

    @Test("A change that an interceptor refuses removes nothing")
    func refusedChange() async throws {
        struct Refusing: Interceptor {
            let traits = InterceptorTraits(placement: .circuitBreaker) { _, _ in .anonymous }
            func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
                if request.method == .put { throw NetworkError(.refused(by: .circuitBreaker)) }
                return try await next(request)
            }
        }
        let fixture = CacheFixture { _ in .data(Data("1".utf8), headers: [.cacheControl: "max-age=60"]) }
        _ = try await fixture.send(inner: [Refusing()])
        await #expect(throws: (any Error).self) { _ = try await fixture.send(.put, inner: [Refusing()]) }
        #expect(try await fixture.send(inner: [Refusing()]).served != .network)
    }

    @Test("An earlier attempt may have arrived although the last one did not")
    func earlierAttempt() async throws {
        let changes = Locked(0)
        let fixture = CacheFixture { call in
            guard call.request.method == .put else {
                return .data(Data("1".utf8), headers: [.cacheControl: "max-age=6000"])
            }
            let isFirst = changes.next() == 1
            throw NetworkError(isFirst ? .timedOut(.firstByte) : .unreachable)
        }
        let retry: [any Interceptor] = [RetryInterceptor(random: { 0 })]
        _ = try await fixture.send(inner: retry)
        let isOver = Locked(false)
        let change = Task {
            defer { isOver.withLock { $0 = true } }
            return try await fixture.send(.put, inner: retry)
        }
        try await yieldUntil {
            if fixture.clock.sleeperCount > 0 { fixture.clock.advance(by: .seconds(1)) }
            return isOver.withLock { $0 }
        }
        #expect(await ending(change).reason == .unreachable)
        #expect(changes.withLock { $0 } > 1)
        #expect(try await fixture.send(inner: retry).served == .network)
    }

    @Test("A cancelled change may have been made")
    func cancelledChange() async throws {
        let fixture = CacheFixture { call in
            if call.request.method == .put { try await waitForCancellation() }
            return .data(Data("1".utf8), headers: [.cacheControl: "max-age=60"])
        }
        _ = try await fixture.text()
        let change = Task { try await fixture.send(.put) }
        try await yieldUntil { fixture.transport.requestCount >= 2 }
        change.cancel()
        _ = await ending(change)
        #expect(try await !Self.isStored(fixture))
    }
}
