// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCaching
@testable import CurlewCore

@Suite(.timeLimit(.minutes(1)))
struct CacheInterceptorTests {
    private static func answer(_ text: String, _ directives: String) -> HTTPResponse {
        .data(
            Data(text.utf8),
            headers: [.cacheControl: directives, .eTag: "\"\(text)\"", .contentLength: "\(text.utf8.count)"])
    }

    @Test
    func theVerdictIsOnEveryResponseInWords() async throws {
        let fixture = CacheFixture { _ in Self.answer("a", "max-age=60, stale-if-error=60") }
        #expect(
            try await fixture.send().cacheStatus.description
                == "from the network: nothing is stored for it; the response is stored after its body was read"
        )
        fixture.clock.advance(by: .seconds(12))
        #expect(
            try await fixture.send().cacheStatus.description
                == "from the cache: it is fresh; 12 s old, fresh for another 48 s")
        #expect(
            try await fixture.send(.options).cacheStatus.description
                == "from the network: OPTIONS is not served from the cache")
        #expect(fixture.observer.all.count == 3)
        #expect(fixture.observer.all[1].hasPrefix("from the cache"))
    }

    @Test
    func typedCallsTellItToo() async throws {
        let client = APIClient.mock(pipeline: [.caching()]) {
            $0.on(.get, "/") { _ in Self.answer("1", "max-age=60") }
        }
        let request = Request<String>.get("/")
        #expect(try await client.response(for: request).served == .network)
        guard case .cache = try await client.response(for: request).served else {
            Issue.record("the second answer is not from the cache")
            return
        }
        #expect(try await client.response(for: request).cacheStatus.reason == "it is fresh")
    }

    @Test
    func withoutACacheTheVerdictIsTheNetwork() async throws {
        let client = APIClient.mock { $0.on(.get, "/", .status(204)) }
        let response = try await client.response(for: Request<HTTPResponse>(.get, "/"))
        #expect(response.served == .network)
        #expect(response.cacheStatus.reason == "there is no cache in the pipeline")
    }

    @Test(arguments: FailingStore.Place.allCases)
    func aStoreThatFailsNeverFailsACall(place: FailingStore.Place) async throws {
        let fixture = CacheFixture(store: FailingStore(place)) { call in
            call.request.method == .put ? .status(204) : Self.answer("x", "max-age=5")
        }
        for _ in 0..<3 {
            #expect(try await fixture.text() == "x")
            fixture.clock.advance(by: .seconds(3))
        }
        _ = try await fixture.send(.put)
        #expect(try await fixture.text() == "x")
        if place != .update { #expect(fixture.observer.all.contains("store: storage")) }
    }

    @Test
    func anUnknownPrincipalStoresNothing() async throws {
        let fixture = CacheFixture { _ in Self.answer("x", "max-age=60, public") }
        let custom = BuiltInInterceptor.onRequest { request, _ in request.headers["X-Tenant"] = "a" }
        for _ in 0..<2 {
            let response = try await fixture.send(inner: [custom])
            #expect(
                response.cacheStatus.reason
                    == "not stored, because its principal is unknown: onRequest cannot name it")
        }
        #expect(try await fixture.entries == 0)
        #expect(fixture.transport.requestCount == 2)
        #expect(try await fixture.send(inner: [custom]) { $0.cachePolicy = .onlyIfCached }.status == 504)
    }

    @Test
    func aPersistentStoreGetsNoPrincipalOfThisProcess() async throws {
        let fixture = CacheFixture(store: LastingStore()) { _ in Self.answer("x", "max-age=60") }
        let response = try await fixture.send(headers: [.authorization: "Bearer secret"])
        #expect(response.cacheStatus.reason.contains("only this process knows"))
        #expect(try await fixture.entries == 0)
        #expect(try await fixture.send().cacheStatus.isKept)
    }

    @Test
    func aSignInDuringTheCallStoresNothing() async throws {
        let user = Locked("ann")
        let fixture = CacheFixture { _ in
            user.withLock { $0 = "bob" }
            return Self.answer("ann's", "max-age=60")
        }
        let response = try await fixture.send(inner: [NamedUser { user.withLock { $0 } }])
        #expect(response.cacheStatus.reason.contains("principal changed"))
        #expect(try await fixture.entries == 0)
    }

    @Test
    func aRefreshOutlivesItsCallerAndHappensOnce() async throws {
        let (release, go) = AsyncStream.makeStream(of: Void.self)
        let fixture = CacheFixture { call in
            if call.request.headers.contains(.ifNoneMatch) { for await _ in release { break } }
            return Self.answer("v", "max-age=10, stale-while-revalidate=100")
        }
        _ = try await fixture.text()
        fixture.clock.advance(by: .seconds(20))
        let callers = (0..<10).map { _ in Task { try await fixture.text() } }
        for caller in callers { #expect(try await caller.value == "v") }
        callers.forEach { $0.cancel() }
        go.yield()
        try await fixture.cache.settle()
        #expect(fixture.transport.requestCount == 2)
        guard case .cache = try await fixture.send().served else {
            Issue.record("it is not fresh again")
            return
        }
    }

    @Test
    func refreshesAreBoundedInNumber() async throws {
        let (release, go) = AsyncStream.makeStream(of: Void.self)
        var rules = HTTPCache.Options()
        rules.backgroundLimit = 2
        let fixture = CacheFixture(rules: rules) { call in
            if call.request.headers.contains(.ifNoneMatch) { for await _ in release { break } }
            return Self.answer("v", "max-age=10, stale-while-revalidate=100")
        }
        for number in 0..<5 { _ = try await fixture.text("/\(number)") }
        fixture.clock.advance(by: .seconds(20))
        for number in 0..<5 { #expect(try await fixture.text("/\(number)") == "v") }
        go.finish()
        try await fixture.cache.settle()
        #expect(fixture.transport.requestCount == 7)
    }

    @Test
    func aRefreshHasATimeOfItsOwn() async throws {
        let deadlines = Locked<[SystemTime.Deadline]>([])
        let fixture = CacheFixture { call in
            deadlines.withLock { $0.append(call.context.totalDeadline) }
            return Self.answer("v", "max-age=10, stale-while-revalidate=100")
        }
        let timeouts = Timeouts(total: .seconds(30))
        _ = try await fixture.send(timeouts: timeouts).text()
        fixture.clock.advance(by: .seconds(20))
        let start = fixture.clock.now
        _ = try await fixture.send(timeouts: timeouts).text()
        try await fixture.cache.settle()
        #expect(deadlines.withLock { $0.last } == SystemTime.Deadline(.seconds(30), after: start))
    }

    @Test
    func aCallThatRequiresACredentialIsNotServedWithoutOne() async throws {
        let fixture = CacheFixture { _ in Self.answer("x", "max-age=60") }
        _ = try await fixture.text()
        await #expect(throws: NetworkError.self) { _ = try await fixture.send { $0.authentication = .required } }
        // Nor with a field of an unknown name, which makes a principal, but is no credential.
        let headers: HTTPHeaders = ["X-App": "1"]
        _ = try await fixture.send(headers: headers).text()
        guard case .cache = try await fixture.send(headers: headers).served else {
            Issue.record("nothing is stored for the field")
            return
        }
        await #expect(throws: NetworkError.self) {
            _ = try await fixture.send(headers: headers) { $0.authentication = .required }
        }
    }

    @Test
    func rawBytesAndDecodedOnesAreKeptApart() async throws {
        let fixture = CacheFixture { call in
            Self.answer(call.context.options.skipsContentDecoding == true ? "raw" : "text", "max-age=60")
        }
        for _ in 0..<2 {
            #expect(try await fixture.send { $0.skipsContentDecoding = true }.text() == "raw")
            #expect(try await fixture.send().text() == "text")
        }
        #expect(fixture.transport.requestCount == 2)
    }

    @Test
    func theCacheStandsBeforeTheRetries() {
        #expect(CacheInterceptor().traits.placement == .caching)
        #expect(Pipeline.standard.adding(.caching()).problems().isEmpty)
        #expect("\(CacheInterceptor())" == "Caching")
        #expect("\(CacheInterceptor(store: LastingStore()))" == "Caching(LastingStore)")
    }
}

/// Names a user who may change.
private struct NamedUser: Interceptor {
    let name: @Sendable () -> String

    var traits: InterceptorTraits {
        InterceptorTraits(placement: .authentication) { _, _ in .known(name(), isLasting: true) }
    }

    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse { try await next(request) }
}

/// A store in memory that says it outlives the process.
private struct LastingStore: StoreOverMemory {
    let memory = HTTPCache.MemoryStore()
    let isLasting = true
}
