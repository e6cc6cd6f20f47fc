// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewAuthentication
@testable import CurlewCaching
@testable import CurlewCore
@testable import CurlewResilience

/// Random pipelines over parts that are slow, fail or hang, on a clock that stands still until every call whose time is
/// over has ended. `CURLEW_DEADLINE_PIPELINES` makes more of them than a usual run.
@Suite(.timeLimit(.minutes(5)))
struct DeadlinePropertyTests {
    static let seeds: Range<UInt64> = {
        let count = ProcessInfo.processInfo.environment["CURLEW_DEADLINE_PIPELINES"].flatMap { UInt64($0) } ?? 400
        return 0..<max(1, count / 20)
    }()

    @Test("No call ends after its deadline, whatever hangs", arguments: seeds)
    func property(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        for round in 0..<20 {
            let scene = Scene(seed: random.next())
            if let late = try await scene.run() {
                Issue.record("seed \(seed), round \(round): \(late)")
                return
            }
        }
    }
}

/// One pipeline, and a few calls through it.
private final class Scene: Sendable {
    private let clock = ManualClock()
    private let random: Locked<SeededGenerator>
    private let begun = EventLog { event, _ -> Bool? in if case .began = event { true } else { nil } }
    private let pipeline: Pipeline

    init(seed: UInt64) {
        random = Locked(SeededGenerator(seed: seed))
        let parts = Parts(clock: clock, random: random)
        func chance() -> Bool { parts.number(2) == 0 }
        var pipeline: Pipeline = [.redirects()]
        let budget = RetryBudget()
        if chance() { pipeline = pipeline.adding(.coalescing()) }
        if chance() { pipeline = pipeline.adding(.caching(store: parts.store())) }
        if chance() { pipeline = pipeline.adding(.retry(.attempts(4), budget: budget)) }
        if chance() { pipeline = pipeline.adding(.hedging(after: .milliseconds(300), budget: budget)) }
        if chance() { pipeline = pipeline.adding(.circuitBreaker(CircuitBreaker.Policy(minimumCalls: 3))) }
        if chance() { pipeline = pipeline.adding(.rateLimit(1, every: .milliseconds(700))) }
        if chance() { pipeline = pipeline.adding(.concurrencyLimit(1)) }
        if chance() { pipeline = pipeline.adding(parts.bearer()) }
        if chance() { pipeline = pipeline.adding(.attemptTimeout(.seconds(2))) }
        self.pipeline = pipeline
    }

    private struct Call {
        let total: Duration
        let end: SharedResult<Void>
        let isOver = Locked(false)
    }

    /// What went wrong; nil if nothing did.
    func run() async throws -> String? {
        let parts = Parts(clock: clock, random: random)
        let client = APIClient.testing(
            parts.transport(), baseURL: "https://a.test", pipeline: pipeline, observers: [begun], time: clock)
        let calls = (0..<6).map { _ in Call(total: .milliseconds(500 + parts.number(8000)), end: SharedResult()) }
        let start = clock.now
        for call in calls {
            let method = parts.number(4) == 0 ? HTTPMethod.put : .get
            let path: RequestPath = parts.number(3) == 0 ? "/1" : "/2"
            let timeouts = Timeouts(connect: nil, firstByte: nil, idle: nil, total: call.total)
            Task {
                _ = try? await client.send(Request<HTTPResponse>(method, path).options { $0.timeouts = timeouts })
                call.isOver.withLock { $0 = true }
                call.end.finish(.success(()))
            }
        }
        try await yieldUntil { begun.entries.count >= calls.count }
        defer { clock.advance(by: .seconds(100_000_000)) }
        while true {
            try Task.checkCancellation()
            for _ in 0..<10 { await Task.yield() }
            let open = calls.filter { !$0.isOver.withLock { $0 } }
            guard let nearest = open.map(\.total).min() else { return nil }
            let passed = start.duration(to: clock.now)
            if passed < nearest {
                clock.advance(by: min(nearest - passed, .milliseconds(1 + parts.number(900))))
                continue
            }
            // Its time is over, and the clock stands still: it has to end by itself.
            for call in open where call.total <= passed {
                do {
                    try await call.end.wait(until: SystemTime.Deadline(.seconds(60), after: SystemTime().now))
                } catch {
                    return "a call of \(call.total.brief) through \(pipeline) is still under way after its time"
                }
            }
        }
    }
}

/// Parts that are prompt, slow, failing or hanging, at random.
private struct Parts: Sendable {
    let clock: ManualClock
    let random: Locked<SeededGenerator>

    struct Broken: Error {}

    func number(_ bound: Int) -> Int { random.withLock { Int.random(in: 0..<bound, using: &$0) } }

    /// Takes its time. A part that hangs does not listen to cancellation either.
    func work() async throws {
        switch number(10) {
        case 0..<5: return
        case 5: throw Broken()
        case 6, 7:
            let time = Duration.milliseconds(number(4000))
            await Task { [clock] in try? await clock.sleep(for: time) }.value
        default: await Task { [clock] in try? await clock.sleep(for: .seconds(50_000_000)) }.value
        }
    }

    func store() -> any HTTPCache.Store { Store(parts: self) }

    func bearer() -> BuiltInInterceptor {
        let store = TokenStore(Persistence(parts: self), time: clock)
        return .bearer(store) { [self] _ in
            try await work()
            return Tokens(accessToken: "a\(number(1000))", refreshToken: "r")
        }
    }

    /// Keeps the deadlines, as transports do.
    func transport() -> ClosureTransport {
        ClosureTransport(changesPrincipal: false) { [self] _, context in
            let answer = clock.now.advanced(by: .milliseconds(number(3) == 0 ? number(6000) : 0))
            if let end = context.deadline.instant, end <= answer {
                try await clock.sleep(until: end)
                let isTotal = context.totalDeadline.instant.map { $0 <= end } ?? false
                throw NetworkError(.timedOut(isTotal ? .total : .attempt))
            }
            try await clock.sleep(until: answer)
            switch number(8) {
            case 0: throw NetworkError(.connectionLost(.requestNotSent))
            case 1: return .status(401)
            case 2: return .status(503, headers: ["Retry-After": "\(number(20))"])
            case 3: return .status(500)
            case 4: return .status(200, headers: [.cacheControl: "max-age=1, stale-while-revalidate=60"])
            default:
                return HTTPResponse(
                    headers: [.cacheControl: "max-age=1", .eTag: "\"1\""], body: ResponseBody(Data("body".utf8)))
            }
        }
    }

    private struct Persistence: TokenStore.Persistence {
        let parts: Parts

        func load() async throws -> Tokens? {
            try await parts.work()
            return Tokens(accessToken: "a", refreshToken: "r")
        }

        func save(_ tokens: Tokens?) async throws { try await parts.work() }
    }

    private final class Store: HTTPCache.Store {
        let parts: Parts
        let isLasting = false
        let bodyLimit: Int64 = 1 << 20
        private let memory = HTTPCache.MemoryStore()

        init(parts: Parts) { self.parts = parts }

        func find(_ key: HTTPCache.Entry.Key) async throws -> HTTPCache.Entry.Lookup {
            try await parts.work()
            return await memory.find(key)
        }

        func body(of response: HTTPCache.Entry) async throws -> (any HTTPCache.Entry.Body)? {
            try await parts.work()
            return await memory.body(of: response)
        }

        func write(_ response: HTTPCache.Entry, since epoch: HTTPCache.Entry.Lookup.Epoch?) async throws
            -> any HTTPCache.Entry.Writer
        {
            try await parts.work()
            return Writer(parts: parts, inner: await memory.write(response, since: epoch))
        }

        func update(_ response: HTTPCache.Entry) async throws -> Bool {
            try await parts.work()
            return await memory.update(response)
        }

        func remove(_ selection: HTTPCache.Removal) async throws -> Int {
            try await parts.work()
            return await memory.remove(selection)
        }

        func statistics() async throws -> HTTPCache.Statistics { await memory.statistics() }
    }

    private struct Writer: HTTPCache.Entry.Writer {
        let parts: Parts
        let inner: any HTTPCache.Entry.Writer

        func append(_ chunk: Data) async throws -> Bool {
            try await parts.work()
            return try await inner.append(chunk)
        }

        func commit(replacing others: [HTTPCache.Entry.ID]) async throws -> Bool {
            try await parts.work()
            return try await inner.commit(replacing: others)
        }

        func abandon() { inner.abandon() }
    }
}
