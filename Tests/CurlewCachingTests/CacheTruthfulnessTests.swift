// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCaching
@testable import CurlewCore

/// What a cache keeps, drops and says about it, where a response contradicts what is stored.
@Suite(.timeLimit(.minutes(1)))
struct CacheTruthfulnessTests {
    private static func answer(_ text: String, _ fields: HTTPHeaders) -> HTTPResponse {
        .data(Data(text.utf8), headers: fields)
    }

    private typealias Answer = @Sendable (RecordedRequest) async throws -> HTTPResponse

    private static let good: HTTPHeaders = [.cacheControl: "max-age=60", .eTag: "\"1\""]

    /// A server that answers each call in turn; the last response stays.
    private static func turns(_ answers: Answer...) -> Answer {
        let number = Locked(0)
        return { call in
            let turn = number.withLock { number in
                defer { number += 1 }
                return min(number, answers.count - 1)
            }
            return try await answers[turn](call)
        }
    }

    enum Superseding: CaseIterable { case notFound, gone, redirected, notKept }

    @Test("A reload drops what its response supersedes", arguments: Superseding.allCases)
    func reload(_ kind: Superseding) async throws {
        let fixture = CacheFixture(
            answer: Self.turns(
                { _ in Self.answer("old", Self.good) },
                { _ in
                    switch kind {
                    case .notFound: .status(404, headers: [.cacheControl: "no-store"])
                    case .gone: .status(410, headers: [.cacheControl: "no-store"])
                    case .redirected: .status(302, headers: [.location: "/new"])
                    case .notKept: Self.answer("new", [.cacheControl: "no-store"])
                    }
                }, { _ in Self.answer("newer", [.cacheControl: "no-store"]) }))
        #expect(try await fixture.text() == "old")
        _ = try await fixture.send { $0.cachePolicy = .reload }
        #expect(try await fixture.text() == "newer")
    }

    @Test("A reload that is refused, or meets a server that fails, drops nothing", arguments: [401, 403, 500, 503])
    func reloadRefused(status: Int) async throws {
        let fixture = CacheFixture(
            answer: Self.turns({ _ in Self.answer("old", Self.good) }, { _ in .status(HTTPStatus(status)) }))
        #expect(try await fixture.text() == "old")
        _ = try await fixture.send { $0.cachePolicy = .reload }
        #expect(try await fixture.text() == "old")
    }

    @Test("A response that was requested earlier never replaces a later one")
    func overtaken() async throws {
        let gate = SharedResult<Void>()
        let fixture = CacheFixture(
            answer: Self.turns(
                { _ in
                    try await gate.wait()
                    return Self.answer("first", Self.good)
                }, { _ in Self.answer("second", Self.good) }))
        let slow = Task { try await fixture.text() }
        try await yieldUntil { fixture.transport.requestCount > 0 }
        fixture.clock.advance(by: .seconds(1))
        #expect(try await fixture.send { $0.cachePolicy = .reload }.text() == "second")
        gate.finish(.success(()))
        #expect(try await slow.value == "first")
        #expect(try await fixture.text() == "second")
    }

    @Test(
        "A 304 with the other form of the sent tag validates, and the stored form stays",
        arguments: [("W/\"x\"", "\"x\""), ("\"x\"", "W/\"x\""), ("W/\"x\"", "W/\"x\""), ("\"x\"", "\"x\"")])
    func otherForm(stored: String, sent: String) async throws {
        let fixture = CacheFixture { call in
            guard call.request.headers[.ifNoneMatch] != stored else { return .status(304, headers: [.eTag: sent]) }
            return Self.answer("body", [.cacheControl: "max-age=0", .eTag: stored])
        }
        #expect(try await fixture.text() == "body")
        for _ in 0..<3 {
            let response = try await fixture.send()
            #expect(response.served == .revalidated && response.headers[.eTag] == stored)
            #expect(try await response.text() == "body")
        }
        #expect(fixture.transport.requestCount == 4)
    }

    @Test("A 304 with another tag is no response: the whole is fetched")
    func otherTag() async throws {
        let fixture = CacheFixture { call in
            if call.request.headers[.ifNoneMatch] != nil { return .status(304, headers: [.eTag: "\"y\""]) }
            return Self.answer("body", [.cacheControl: "max-age=0", .eTag: "\"x\""])
        }
        #expect(try await fixture.text() == "body")
        #expect(try await fixture.send().served == .network)
    }

    @Test("A HEAD whose tag has the other form keeps what is stored")
    func head() async throws {
        let fixture = CacheFixture { call in
            call.request.method == .head
                ? .status(200, headers: [.eTag: "\"x\"", .cacheControl: "max-age=60"])
                : Self.answer("body", [.cacheControl: "max-age=60", .eTag: "W/\"x\""])
        }
        #expect(try await fixture.text() == "body")
        _ = try await fixture.send(.head) { $0.cachePolicy = .reload }
        #expect(try await fixture.text() == "body")
        #expect(fixture.transport.requestCount == 2)
    }

    @Test("The age of a response begins with the attempt that brought it")
    func age() async throws {
        let fixture = CacheFixture(
            answer: Self.turns(
                { _ in .status(503, headers: [.retryAfter: "30"]) },
                { _ in Self.answer("late", [.cacheControl: "max-age=20"]) }))
        let call = Task { try await fixture.send(inner: [RetryInterceptor(random: { 0 })]).text() }
        try await fixture.clock.waitForSleepers(1)
        fixture.clock.advance(by: .seconds(35))
        #expect(try await call.value == "late")
        guard case .cache(let age, _) = try await fixture.send().served else {
            Issue.record("the answer was stale on arrival")
            return
        }
        #expect(age == .zero)
    }

    @Test("A refresh in the background is a separate call, within its own time")
    func refresh() async throws {
        var rules = HTTPCache.Options()
        rules.backgroundLimit = 1
        let events = EventLog { event, context -> (call: UInt64, word: String)? in
            switch event {
            case .began: (context.id, "began")
            case .feature(HTTPCache.Event.decided): (context.id, "decided")
            case .succeeded, .failed: (context.id, "ended")
            default: nil
            }
        }
        let fixture = CacheFixture(
            rules: rules,
            answer: Self.turns(
                { _ in Self.answer("old", [.cacheControl: "max-age=1, stale-while-revalidate=600"]) },
                { _ in Self.answer("other", [.cacheControl: "max-age=1, stale-while-revalidate=600"]) },
                { _ in
                    try await waitForCancellation()
                    return .status(200)
                }))
        func send(_ path: String) async throws -> HTTPResponse {
            let exchanger = Pipeline.Runner(pipeline: Pipeline([fixture.cache]), transport: fixture.transport)
            let context = ExchangeContext(observers: [events], time: fixture.clock)
            return try await exchanger.exchange(HTTPRequest(url: "https://api.example" + path), in: context)
        }
        _ = try await send("/")
        _ = try await send("/other")
        fixture.clock.advance(by: .seconds(2))
        let stale = try await send("/")
        #expect(stale.cacheStatus.description.contains("refreshed in the background"))
        let second = try await send("/other")
        #expect(second.cacheStatus.description.contains("not refreshed now"))
        // The refresh is the fifth, and begins when it may.
        try await yieldUntil { Set(events.entries.map(\.call)).count >= 5 }
        let calls = Dictionary(grouping: events.entries, by: \.call).mapValues { $0.map(\.word) }
        #expect(calls.count == 5)
        for call in calls.values { #expect(call.count { $0 == "decided" } <= 1 && call.first == "began") }
        #expect(calls.values.count { $0.last == "ended" } == 4)
    }

    @Test("An entry that a store failed to remove is not used, and removed later")
    func debts() async throws {
        let (isBroken, store) = (Locked(false), HTTPCache.MemoryStore())
        let version = Locked(1)
        let fixture = CacheFixture(store: RemovalFailingStore(isBroken, store)) { call in
            guard call.request.method == .get else {
                version.withLock { $0 += 1 }
                return .status(204)
            }
            return Self.answer("\(version.withLock { $0 })", Self.good)
        }
        let other = CacheFixture(store: fixture.store) { _ in Self.answer("\(version.withLock { $0 })", Self.good) }
        #expect(try await fixture.text() == "1")
        isBroken.withLock { $0 = true }
        _ = try await fixture.send(.put)
        #expect(try await fixture.text() == "2", "the old one must not be used")
        #expect(try await other.text() == "2", "nor by another client of the store")
        #expect(try await fixture.send().served == .network)
        isBroken.withLock { $0 = false }
        #expect(try await fixture.text() == "2")
        #expect(try await fixture.send().served != .network)
    }
}

private final class RemovalFailingStore: StoreOverMemory {
    let isBroken: Locked<Bool>
    let memory: HTTPCache.MemoryStore

    init(_ isBroken: Locked<Bool>, _ memory: HTTPCache.MemoryStore) {
        self.isBroken = isBroken
        self.memory = memory
    }

    func remove(_ selection: HTTPCache.Removal) async throws -> Int {
        if isBroken.withLock({ $0 }) { throw FailingStore.Broken() }
        return await memory.remove(selection)
    }
}
