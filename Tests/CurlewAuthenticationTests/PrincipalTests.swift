// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewAuthentication
@testable import CurlewCaching
@testable import CurlewCookies
@testable import CurlewCore
@testable import CurlewHTTP
@testable import CurlewObservability
@testable import CurlewResilience

/// The principal of a request, on which caches and coalescing rely.
@Suite(.timeLimit(.minutes(1)))
struct PrincipalTests {
    /// Asks before and after, as a cache does.
    private struct Probe: Interceptor {
        let seen: Locked<[Principal]>
        let traits = InterceptorTraits(placement: .caching)

        func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
            let before = next.principal(of: request)
            let response = try await next(request)
            let after = next.principal(of: request)
            seen.withLock { $0 += [before, after] }
            return response
        }
    }

    private func principals(
        _ pipeline: Pipeline, _ request: Request<Void> = .get("/"), headers: HTTPHeaders = [:]
    ) async throws -> [Principal] {
        let probe = Probe(seen: Locked([]))
        let mock = MockTransport.answering { _ in HTTPResponse() }
        var configuration = APIClient.Configuration()
        configuration.headers = headers
        try await APIClient(
            baseURL: "https://api.test", pipeline: pipeline.adding(probe), transport: mock, configuration: configuration
        ).send(request)
        return probe.seen.withLock { $0 }
    }

    private func principal(
        _ pipeline: Pipeline, _ request: Request<Void> = .get("/"), headers: HTTPHeaders = [:]
    ) async throws -> Principal {
        try #require(try await principals(pipeline, request, headers: headers).first)
    }

    @Test("Without a credential, and where none is sent, the principal is anonymous")
    func anonymous() async throws {
        #expect(try await principal([]) == .anonymous)
        let hooks = Pipeline.standard.adding(.onResponse { _, _ in }).adding(.onError { _, _ in })
        #expect(try await principal(hooks) == .anonymous)
        let credentials: [any Interceptor] = [
            .bearer { "t" }, .bearer(TokenStore()), .basic(user: "a", password: "b"), .digest(user: "a", password: "b"),
            .apiKey("k", in: .query("key")), .signing { _, _ in },
        ]
        for credential in credentials {
            var without = Request<Void>.get("/")
            without.options.authentication = .anonymous
            #expect(try await principal([credential], without) == .anonymous, "\(credential)")
            #expect(try await principal([credential], .get(url: "https://cdn.test/")) == .anonymous, "\(credential)")
        }
    }

    @Test("The principal of closures, hooks and silent interceptors is unknown")
    func unknown() async throws {
        struct Tenant: Interceptor {
            func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse { try await next(request) }
        }
        for interceptor in [
            .bearer { "t" }, .bearer({ "t" }, principal: { nil }), .bearer({ "t" }, principal: { "" }),
            .signing { _, _ in }, .onRequest { _, _ in }, Tenant(),
        ] as [any Interceptor] {
            #expect(try await principal([interceptor]) == .unknown)
            // A credential that is known does not make it better.
            let both = Pipeline([interceptor]).adding(.apiKey("k", in: .query("key")))
            #expect(try await principal(both) == .unknown)
        }
    }

    @Test("Equal credentials are one principal, different ones are not; none is shown")
    func credentials() async throws {
        let different: [Pipeline] = [
            [.basic(user: "a", password: "secret")], [.basic(user: "a", password: "secret2")],
            [.digest(user: "a", password: "secret")], [.digest(user: "as", password: "ecret")],
            [.apiKey("secret", in: .query("key"))], [.apiKey("secret2", in: .query("key"))],
            [.bearer({ "secret" }, principal: { "zoe" })], [.bearer({ "secret" }, principal: { "bob" })],
            [.signing({ _, _ in }, principal: { "zoe" })],
            [.bearer({ "secret" }, principal: { "zoe" }), .signing({ _, _ in }, principal: { "zoe" })],
        ]
        var seen: [Principal] = []
        for pipeline in different {
            let principal = try await principal(pipeline)
            #expect(try await self.principal(pipeline) == principal)
            guard case .known(let text, _) = principal else {
                Issue.record("\(pipeline): \(principal)")
                continue
            }
            #expect(!text.contains("secret") && !text.contains("zoe"))
            seen.append(principal)
        }
        #expect(Set(seen).count == seen.count && seen.count == 10)
    }

    @Test("A credential of the call counts in place of the source")
    func ownCredential() async throws {
        let first = try await principal([.bearer { "t" }], .get("/").header("Authorization", "Mine 1"))
        let again = try await principal([], .get("/").header("Authorization", "Mine 1"))
        let second = try await principal([], .get("/").header("Authorization", "Mine 2"))
        let cookie = try await principal([], .get("/").header("Cookie", "Mine 1"))
        guard case .known(_, isLasting: false) = first else {
            Issue.record("\(first)")
            return
        }
        #expect(first == again && Set([first, second, cookie]).count == 3)
    }

    @Test("A field of any name distinguishes requests, of client and call; harmless fields do not")
    func fields() async throws {
        let first = try await principal([], headers: ["X-Customer": "1"])
        let second = try await principal([], headers: ["X-Customer": "2"])
        #expect(first != second && first != .anonymous)
        #expect(try await principal([], .get("/").header("x-customer", "1")) == first)
        guard case .known(let text, isLasting: false) = first else {
            Issue.record("\(first)")
            return
        }
        #expect(text.hasPrefix("holder-"))
        let ordered = try await principal([], .get("/").header("X-A", "1").header("X-B", "2"))
        #expect(try await principal([], .get("/").header("X-B", "2").header("X-A", "1")) == ordered)
        #expect(try await principal([], .get("/").header("X-A", "2").header("X-B", "1")) != ordered)
        let harmless = HTTPHeaders(HTTPField.Name.harmless.map { HTTPField(name: $0, value: "1") })
        #expect(try await principal([], headers: harmless) == .anonymous)
    }

    @Test("A harmless field that is declared secret counts, by the client's policy and the call's")
    func declared() async throws {
        let policy = RedirectPolicy.standard.keeping(secret: [.xRequestID])
        let call = Request<Void>.get("/").header(.xRequestID, "1")
        #expect(try await principal(.standard, call) == .anonymous)
        #expect(try await principal([.redirects(policy)], call) != .anonymous)
        #expect(try await principal(.standard, call.options { $0.redirects = policy }) != .anonymous)
        let other = Request<Void>.get("/").header(.xRequestID, "2")
        let (one, two) = (
            try await principal([.redirects(policy)], call), try await principal([.redirects(policy)], other)
        )
        #expect(one != two)
    }

    @Test("A silent interceptor and a hook are unknown at every placement", arguments: Placement.allCases)
    func placements(placement: Placement) async throws {
        struct Silent: Interceptor {
            let placement: Placement
            var traits: InterceptorTraits { InterceptorTraits(placement: placement) }
            func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse { try await next(request) }
        }
        for interceptor in [Silent(placement: placement), .onRequest(at: placement) { _, _ in }] as [any Interceptor] {
            let next = Next(
                context: ExchangeContext(),
                chain: Chain([interceptor], ClosureTransport(changesPrincipal: false) { _, _ in HTTPResponse() }))
            #expect(next.principal(of: try HTTPRequest(url: "https://api.test/")) == .unknown)
        }
    }

    @Test("The package's interceptors name their principal, at every placement")
    func own() async throws {
        let budget = RetryBudget()
        let harmless: [any Interceptor] = [
            .logging(.off), .retry(), .hedging(after: .seconds(1), budget: budget), .circuitBreaker(),
            .rateLimit(1, every: .seconds(1)), .concurrencyLimit(1), .attemptTimeout(.seconds(1)),
            .coalescing(), .caching(), .onResponse { _, _ in }, .onError { _, _ in },
        ]
        let request = try HTTPRequest(url: "https://api.test/")
        for interceptor in harmless {
            #expect(interceptor.traits.principal(request, ExchangeContext()) == .anonymous, "\(interceptor)")
        }
        // Right of a cache these make the response depend on what it cannot see.
        let cookies: any Interceptor = .cookies()
        #expect(cookies.traits.principal(request, ExchangeContext()) == .unknown)
        let redirects: any Interceptor = .redirects()
        #expect(redirects.traits.principal(request, ExchangeContext()) == .unknown)
        var withCookie = request
        withCookie.headers[.cookie] = "a=b"
        #expect(cookies.traits.principal(withCookie, ExchangeContext()) == .anonymous)
    }

    @Test("A signed-in account is one principal through refreshes, and another after a new sign-in")
    func sessions() async throws {
        let server = AccountServer()
        let store = TokenStore()
        let probe = Probe(seen: Locked([]))
        let client = APIClient.testing(
            server, baseURL: "https://api.test", pipeline: [probe, .bearer(store, refresh: renew)])
        try await store.signIn(server.tokens)
        try await client.send(.get("/") as Request<Void>)
        server.expire()
        try await client.send(.get("/") as Request<Void>)
        #expect(server.refreshes == 1)
        let first = probe.seen.withLock { $0 }
        #expect(Set(first).count == 1 && first.count == 4)
        guard case .known(_, isLasting: true)? = first.first else {
            Issue.record("\(first)")
            return
        }
        // Even the same tokens: the user may be another one.
        try await store.signIn(try #require(try await store.tokens))
        try await client.send(.get("/") as Request<Void>)
        let second = try #require(probe.seen.withLock { $0.last })
        #expect(second != first[0])
        try await store.signOut()
        _ = try? await client.send(.get("/") as Request<Void>)
        #expect(store.principal == .anonymous)
    }

    @Test("An account that changes during the exchange is seen by asking again")
    func changesMeanwhile() async throws {
        let store = TokenStore()
        try await store.signIn(Tokens(accessToken: "a"))
        let pipeline: Pipeline = [
            .bearer(store),
            .onResponse(at: .attemptTimeout) { _, _ in try await store.signIn(Tokens(accessToken: "b")) },
        ]
        let seen = try await principals(pipeline)
        #expect(seen.count == 2 && seen[0] != seen[1] && !seen.contains(.anonymous) && !seen.contains(.unknown))
    }

    @Test(
        "The next process finds the account again; until then the principal is unknown"
    )
    func kept() async throws {
        let shelf = RecordedTokens()
        let store = TokenStore(shelf, time: ManualClock())
        #expect(store.principal == .unknown)
        let forged = try JSONDecoder().decode(
            Tokens.self, from: Data(#"{"access_token":"a","curlew_session":"someone"}"#.utf8))
        try await store.signIn(forged)
        #expect(store.principal != .known("session-someone", isLasting: true) && store.principal != .anonymous)

        let bytes = try JSONEncoder().encode(try #require(shelf.last.flatMap { $0 }))
        let next = TokenStore(
            OneLoad(tokens: try JSONDecoder().decode(Tokens.self, from: bytes)), time: ManualClock())
        #expect(next.principal == .unknown)
        _ = try await next.tokens
        #expect(next.principal == store.principal)
    }

    @Test("A client with obtained tokens is unknown until it has some")
    func obtained() async throws {
        let store = TokenStore()
        let seen = try await principals([.bearer(store, obtain: { _ in Tokens(accessToken: "a") })])
        #expect(seen == [.unknown, store.principal] && store.principal != .anonymous)
    }

    private struct OneLoad: TokenStore.Persistence {
        let tokens: Tokens

        func load() async throws -> Tokens? { tokens }

        func save(_ tokens: Tokens?) async throws {}
    }
}
