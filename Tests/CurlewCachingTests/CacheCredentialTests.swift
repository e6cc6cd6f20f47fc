// SPDX-License-Identifier: MIT

import ConformanceCases
import Testing

@testable import CurlewAuthentication
@testable import CurlewCaching
@testable import CurlewCookies
@testable import CurlewCore

/// The credentials of the package and the connection: each user receives only responses of their own.
@Suite(.timeLimit(.minutes(1)))
struct CacheCredentialTests {
    /// Whether the cache knows the user: it sees what is outside of it, and interceptors inside report theirs. Some
    /// cannot, and tokens of a store are another principal after each sign-in, of which each call here makes
    /// one.
    private static func isKept(_ way: CredentialWay) -> Bool {
        let own: Placement = way.kind == .jar ? .cookies : .authentication
        return (way.placement ?? own) < .caching || ![.bearer, .signature, .jar, .tokens].contains(way.kind)
    }

    @Test("Two users share nothing on one store, by any credential at any placement; second calls hit")
    func leaks() async throws {
        var (calls, hits, leaks) = (0, 0, [String]())
        for way in CredentialWay.all {
            for visibility in ["private", "public"] {
                let cache = CacheInterceptor(store: HTTPCache.MemoryStore())
                for user in ["ann", "bob", "ann", "bob"] {
                    calls += 1
                    try await IdentityWay.$user.withValue(user) {
                        let (client, call) = try await way.client(through: cache, .init(visibility))
                        let response = try await client.response(for: call)
                        if response.value != user { leaks.append("\(way): \(user) got that of \(response.value)") }
                        if case .cache = response.served { hits += 1 }
                    }
                }
            }
        }
        #expect(hits == CredentialWay.all.filter(Self.isKept).count * 2 * 2)
        #expect(calls == CredentialWay.all.count * 8)
        #expect(leaks.isEmpty, "\(leaks.count) leaks in \(calls) calls; first: \(leaks.prefix(3))")
    }

    @Test("A client's two concurrent users share no exchange")
    func sharing() async throws {
        for way in CredentialWay.all where way.isAskedEachTime {
            let (client, call) = try await way.client(through: .coalescing(), .init("private"))
            let tasks = ["ann", "bob", "ann", "bob"].map { user in
                (user, IdentityWay.$user.withValue(user) { Task { try await client.send(call) } })
            }
            for (user, task) in tasks { #expect(try await task.value == user, "\(way)") }
        }
    }

    private func client(
        _ pipeline: Pipeline, _ transport: any Transport = Transcript("private, max-age=60"),
        _ configuration: APIClient.Configuration = APIClient.Configuration()
    ) -> APIClient {
        APIClient.testing(transport, baseURL: "https://api.test", pipeline: pipeline, configuration: configuration)
    }

    @Test(
        "A hook that is declared harmless leaves the cache unchanged, at every placement", arguments: Placement.allCases
    )
    func harmlessHook(placement: Placement) async throws {
        let hook = BuiltInInterceptor.onRequest(at: placement, changesPrincipal: false) { request, _ in
            request.headers[.xRequestID] = "\(UInt64.random(in: .min ... .max))"
        }
        struct Silent: Interceptor {
            func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse { try await next(request) }
        }
        let server = Transcript("private, max-age=60")
        let client = client(
            Pipeline.standard.adding(.caching()).adding(hook)
                .adding(Silent(), at: placement, changesPrincipal: false), server)
        #expect(client.problems.isEmpty)
        for _ in 0..<3 { _ = try await client.send(Request<String>.get("/a")) }
        #expect(server.count == 1)
    }

    @Test("A field that may identify a user and changes with each call is named until it stays")
    func changingField() async throws {
        let (number, server) = (Locked(0), Transcript("private, max-age=60"))
        let client = client(
            .standard.adding(.caching()).adding(
                .onRequest(at: .cookies) { request, _ in
                    request.headers["X-Tenant"] = "one"
                    request.headers["X-Call-Number"] = "\(number.withLock { $0 })"
                }), server)
        let call = Request<String>.get("/a")
        for round in 0...ChangingFields.limit {
            #expect(client.problems.isEmpty, "\(round)")
            let reason = try await client.response(for: call).cacheStatus.reason
            #expect(reason.contains("X-") == (round == ChangingFields.limit), "\(reason)")
            number.withLock { $0 += 1 }
        }
        #expect(client.problems.count == 1 && client.problems[0].contains("because X-Call-Number may identify"))
        let reason = try await client.response(for: call).cacheStatus.reason
        #expect(reason.contains("because X-Call-Number may identify a user and changed with each call"))
        #expect(server.count == ChangingFields.limit + 2)
        #expect(try await client.response(for: call).served != .network)
        #expect(client.problems.isEmpty)
    }

    @Test("An interceptor that keeps a cache or sharing from working is named, and calls succeed")
    func named() async throws {
        struct Mystery: Interceptor {
            func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse { try await next(request) }
        }
        let pipeline = Pipeline.standard.adding(.caching()).adding(.coalescing()).adding(Mystery())
            .adding(.onRequest { _, _ in })
        let client = client(pipeline)
        #expect(client.problems.count == 2)
        for problem in client.problems { #expect(problem.contains("Mystery and onRequest")) }
        #expect(client.description.contains("warning    Caching stores nothing"))
        let response = try await client.response(for: Request<String>.get("/a"))
        #expect(response.cacheStatus.reason.contains("Mystery and onRequest cannot"))

        let foreign = self.client(.standard.adding(.caching()), ClosureTransport { _, _ in HTTPResponse() })
        #expect(foreign.problems.count == 1 && foreign.problems[0].contains("ClosureTransport"))
        let wrapped = self.client(
            .standard.adding(.caching()), ClosureTransport(changesPrincipal: false) { _, _ in HTTPResponse() })
        #expect(wrapped.problems.isEmpty)
        // What stands outside is seen on the request.
        #expect(self.client(.standard.adding(.caching()).adding(.onRequest(at: .cookies) { _, _ in })).problems.isEmpty)
        // Tokens that are not loaded yet will be.
        let tokens = TokenStore(Kept(nil))
        #expect(self.client(.standard.adding(.caching()).adding(.bearer(tokens))).problems.isEmpty)
        #expect(self.client(.standard.adding(.caching()).adding(.bearer { "t" })).problems.count == 1)
    }

    @Test("Tokens are loaded before the cache asks, so the first call of a process is a hit")
    func firstCall() async throws {
        let store = HTTPCache.MemoryStore()
        let server = Transcript("private, max-age=60")
        let kept = Kept(nil)
        let first = TokenStore(kept)
        try await first.signIn(Tokens(accessToken: "a"))
        _ = try await client(.standard.adding(.caching(store: store)).adding(.bearer(first)), server)
            .send(Request<String>.get("/a"))
        for _ in 0..<2 {
            let next = TokenStore(kept)
            #expect(next.principal == .unknown)
            let client = client(.standard.adding(.caching(store: store)).adding(.bearer(next)), server)
            _ = try await client.send(Request<String>.get("/a"))
            #expect(next.principal == first.principal)
        }
        #expect(server.count == 1)
        // Ten at once, at the start of a process: one request.
        let cold = Sharing(.standard.adding(.coalescing()).adding(.bearer(TokenStore(kept)))) { _ in .answer("1") }
        let tasks = try await cold.begin(10)
        #expect(cold.origin.sent.count == 1 && cold.joins.tally.count == 9)
        cold.origin.open()
        for task in tasks { #expect(try await task.value == 1) }
    }

    @Test("A sign-out can take what was stored with it, and nothing else")
    func signOut() async throws {
        let cache = HTTPCache.MemoryStore()
        let (ann, bob) = (TokenStore(), TokenStore())
        try await ann.signIn(Tokens(accessToken: "a"))
        try await bob.signIn(Tokens(accessToken: "b"))
        for tokens in [ann, bob] {
            let client = client(.standard.adding(.caching(store: cache)).adding(.bearer(tokens)))
            _ = try await client.send(Request<String>.get("/a"))
            // Beside the account another field of an unknown name distinguishes principals.
            _ = try await client.send(Request<String>.get("/b").header("X-Device", "phone"))
        }
        #expect(await cache.statistics().entries == 4)
        let principal = ann.principal
        try await ann.signOut()
        #expect(ann.principal == .anonymous)
        #expect(await cache.remove(.principal(principal)) == 2)
        #expect(await cache.remove(.principal(.unknown)) == 0)
        #expect(await cache.remove(.principal(bob.principal)) == 2)
    }

    @Test("Declared harmless fields and cookies distinguish no users; credentials always do")
    func rules() async throws {
        var configuration = APIClient.Configuration()
        configuration.fields.harmless = ["X-App-Version", .authorization]
        configuration.fields.harmlessCookies = ["__cf_bm"]
        let server = Transcript("private, max-age=60")
        let client = client(.standard.adding(.caching()), server, configuration)
        for value in ["1", "2", "3"] {
            _ = try await client.send(Request<String>.get("/a").header("X-App-Version", value))
        }
        #expect(server.count == 1)
        for value in ["1", "2"] {
            let call = Request<String>.get("/b").header(.cookie, "__cf_bm=\(value); theme=dark")
            _ = try await client.send(call)
        }
        #expect(server.count == 2)
        for value in ["x", "y"] { _ = try await client.send(Request<String>.get("/c").header(.cookie, "sid=\(value)")) }
        #expect(server.count == 4)
        for value in ["x", "y"] { _ = try await client.send(Request<String>.get("/d").header(.authorization, value)) }
        #expect(server.count == 6)
        var rules = Redaction.Rules(secret: [.accept])
        #expect(!rules.isHarmless(.accept) && rules.isHarmless(.acceptLanguage))
        rules.harmlessCookies = ["a"]
        #expect(rules.identifying(cookie: "a=1; a\u{301}=2;b=3") == " a\u{301}=2;b=3")
        #expect(rules.identifying(cookie: "a=1;  a") == nil)
    }
}

/// Keeps tokens in memory, for several stores one after the other.
private final class Kept: TokenStore.Persistence {
    private let tokens: Locked<Tokens?>
    init(_ tokens: Tokens?) { self.tokens = Locked(tokens) }
    func load() async throws -> Tokens? { tokens.withLock { $0 } }
    func save(_ tokens: Tokens?) async throws { self.tokens.withLock { $0 = tokens } }
}

/// Responses with the value of `X-Key`, counts requests, and validates by the tag that it sends.
private final class Transcript: Transport {
    private let state: Locked<(control: String, more: HTTPHeaders, count: Int)>

    init(_ control: String, _ more: HTTPHeaders = [:]) {
        state = Locked((control, more, 0))
    }

    var count: Int { state.withLock { $0.count } }

    func set(_ control: String, _ more: HTTPHeaders) {
        state.withLock { ($0.control, $0.more) = (control, more) }
    }

    func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

    func send(_ request: HTTPRequest, in context: ExchangeContext) async throws -> HTTPResponse {
        let (control, more) = state.withLock { state in
            state.count += 1
            return (state.control, state.more)
        }
        var headers = more
        headers[.cacheControl] = control
        if let tag = request.headers[.ifNoneMatch], tag == more[.eTag] {
            return HTTPResponse(status: .notModified, headers: headers)
        }
        return HTTPResponse(headers: headers, body: ResponseBody(Data((request.headers["X-Key"] ?? "nobody").utf8)))
    }
}
