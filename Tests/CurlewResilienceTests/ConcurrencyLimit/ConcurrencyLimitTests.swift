// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore
@testable import CurlewResilience

@Suite(.timeLimit(.minutes(1)))
struct ConcurrencyLimitTests {
    let clock = ManualClock()
    let begun = Locked<[String]>([])

    /// A response that arrives on request.
    final class Gate: Sendable {
        let release = SharedResult<HTTPResponse>()

        func open(_ response: HTTPResponse = .status(200)) { release.finish(.success(response)) }
    }

    func call(
        _ limit: ConcurrencyLimit, _ path: String, _ gate: Gate, priority: RequestOptions.Priority? = nil,
        total: Duration? = nil
    ) -> Task<HTTPResponse, any Error> {
        var options = RequestOptions()
        options.priority = priority
        let context = ExchangeContext(options: options, timeouts: Timeouts(total: total), time: clock)
        let begun = begun
        let next = Next(context: context) { request, _ in
            begun.withLock { $0.append(request.target) }
            return try await gate.release.wait()
        }
        return Task {
            let request = try HTTPRequest(url: "https://a.test\(path)")
            return try await ConcurrencyLimitInterceptor(limit: limit).intercept(request, next: next)
        }
    }

    /// Waits until this many are in progress and this many wait.
    func until(_ limit: ConcurrencyLimit, _ running: Int, _ waiting: Int) async throws {
        try await yieldUntil { limit.load == (running, waiting) }
    }

    func streamed(_ text: String = "abc") -> HTTPResponse {
        HTTPResponse(
            body: ResponseBody(
                AsyncStream<Data> {
                    $0.yield(Data(text.utf8))
                    $0.finish()
                }))
    }

    @Test("Scopes have separate permits, also when those of others are forgotten")
    func scopes() async throws {
        let limit = ConcurrencyLimit(1, per: .route)
        func key(_ number: Int) -> LimitScope.Key { .text("\(number)") }
        // More than are kept when none is in use.
        for number in 0..<300 { try await limit.acquire(key(number), ExchangeContext(time: clock)) }
        #expect(limit.load == (300, 0))
        for number in 0..<300 {
            #expect(!limit.enterAtOnce(key(number)), "\(number)")
            limit.leave(key(number))
            // The first of them are forgotten now, and begin again.
            try await limit.acquire(key(number), ExchangeContext(time: clock))
            #expect(limit.load == (300 - number, 0))
            limit.leave(key(number))
        }
        #expect(limit.load == (0, 0))
        for number in [299, 0, 43, 299] {
            try await limit.acquire(key(number), ExchangeContext(time: clock))
            #expect(!limit.enterAtOnce(key(number)))
            #expect(limit.load == (1, 0))
            limit.leave(key(number))
            #expect(limit.load == (0, 0))
        }
    }

    @Test("As many calls run at a time as allowed, the others in their order")
    func order() async throws {
        let limit = ConcurrencyLimit(2)
        var (calls, gates) = ([Task<HTTPResponse, any Error>](), [Gate]())
        let priorities: [RequestOptions.Priority?] = [nil, nil, .low, nil, .high, .high]
        for (number, priority) in priorities.enumerated() {
            gates.append(Gate())
            calls.append(call(limit, "/\(number)", gates[number], priority: priority))
            try await until(limit, min(2, number + 1), max(0, number - 1))
        }
        for (count, number) in [0, 1, 4, 5, 3, 2].enumerated() {
            gates[number].open()
            _ = try await calls[number].value
            try await yieldUntil { begun.withLock { $0.count } >= min(6, count + 3) }
        }
        #expect(begun.withLock { $0 } == ["/0", "/1", "/4", "/5", "/3", "/2"])
        #expect(limit.load == (0, 0))
    }

    @Test("A permit is held until the body is read, has failed, was cancelled, or is released")
    func bodies() async throws {
        let limit = ConcurrencyLimit(1)
        func answer(_ response: HTTPResponse) async throws -> HTTPResponse {
            let gate = Gate()
            gate.open(response)
            return try await call(limit, "/", gate).value
        }
        _ = try await answer(.status(200))
        #expect(limit.load == (0, 0), "a body that came with its head is over")

        let read = try await answer(streamed())
        #expect(limit.load == (1, 0))
        #expect(try await read.text() == "abc")
        #expect(limit.load == (0, 0))

        let given = try await answer(streamed())
        given.body.cancel()
        #expect(limit.load == (0, 0))

        do {
            let dropped = try await answer(streamed())
            #expect(limit.load == (1, 0) && dropped.status == .ok)
        }
        try await until(limit, 0, 0)

        let breaking = AsyncThrowingStream<Data, any Error> { $0.finish(throwing: BrokenOff()) }
        let broken = try await answer(HTTPResponse(body: ResponseBody(breaking)))
        #expect(limit.load == (1, 0))
        await #expect(throws: BrokenOff.self) { try await broken.data() }
        #expect(limit.load == (0, 0))

        let held = try await answer(streamed())
        let gate = Gate()
        let next = call(limit, "/next", gate)
        try await until(limit, 1, 1)
        #expect(try await held.data().count == 3)
        gate.open()
        _ = try await next.value
        #expect(limit.load == (0, 0))
    }

    struct BrokenOff: Error {}

    @Test("A call that fails releases its permit")
    func failing() async throws {
        let limit = ConcurrencyLimit(1)
        for _ in 0..<3 {
            let next = Next(context: ExchangeContext(time: clock)) { _, _ in throw NetworkError(.unreachable) }
            await #expect(throws: NetworkError.self) {
                let request = try HTTPRequest(url: "https://a.test/")
                return try await ConcurrencyLimitInterceptor(limit: limit).intercept(request, next: next)
            }
        }
        #expect(limit.load == (0, 0))
    }

    @Test("Calls beyond the queue's length are refused, and those that wait too long")
    func refusals() async throws {
        let limit = ConcurrencyLimit(1, waiting: 1)
        let gate = Gate()
        let first = call(limit, "/1", gate)
        try await until(limit, 1, 0)
        let second = call(limit, "/2", gate, total: .seconds(3))
        try await until(limit, 1, 1)
        let full = await #expect(throws: NetworkError.self) { try await call(limit, "/3", gate).value }
        #expect(full?.reason == .refused(by: .concurrencyLimit) && full?.isRetryable == true)
        #expect(full?.detail.contains("1 calls already wait for a permit") == true)
        try await clock.waitForSleepers(1, .all)
        clock.advance(by: .seconds(3))
        let late = await #expect(throws: NetworkError.self) { try await second.value }
        #expect(
            late?.reason == .timedOut(.queue) && late?.isTimeout == true && late?.detail.contains("deadline") == true)
        gate.open()
        _ = try await first.value
        #expect(begun.withLock { $0 } == ["/1"] && limit.load == (0, 0))
        let none = ConcurrencyLimit(1, waiting: 0)
        let busy = Gate()
        let running = call(none, "/4", busy)
        try await until(none, 1, 0)
        await #expect(throws: NetworkError.self) { try await call(none, "/5", busy).value }
        busy.open()
        _ = try await running.value
    }

    @Test("A cancelled call leaves at once, waiting or in progress")
    func cancellation() async throws {
        let limit = ConcurrencyLimit(1)
        let gate = Gate()
        let (first, second) = (call(limit, "/1", gate), Gate())
        try await until(limit, 1, 0)
        let waiting = call(limit, "/2", second)
        try await until(limit, 1, 1)
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(limit.load == (1, 0))
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(limit.load == (0, 0))
    }

    @Test("The time spent waiting shows in the metrics and the history")
    func waits() async throws {
        let limit = ConcurrencyLimit(1)
        let (gate, second) = (Gate(), Gate())
        let first = call(limit, "/1", gate)
        try await until(limit, 1, 0)
        let waiting = call(limit, "/2", second)
        try await until(limit, 1, 1)
        clock.advance(by: .milliseconds(250))
        gate.open()
        second.open()
        #expect(try await first.value.metrics.queue == nil)
        let response = try await waiting.value
        #expect(response.metrics.queue == .milliseconds(250))
        #expect(response.notes == ["waited 250 ms for a place"])
    }

    @Test("A limit that lets nothing through is a problem of the pipeline")
    func problems() {
        #expect(Pipeline([.concurrencyLimit(0)]).problems().count == 1)
        let pipeline = Pipeline([.concurrencyLimit(8, per: .all)])
        #expect(pipeline.problems().isEmpty && pipeline.description == "ConcurrencyLimit(8 per all) → transport")
    }

    @Test(
        "Any order of calls, bodies and cancellations keeps the limit and loses no call",
        arguments: 0..<30 as Range<UInt64>)
    func interleaving(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let permits = Int.random(in: 1...4, using: &random)
        let limit = ConcurrencyLimit(permits, per: .all, waiting: 50)
        let load = Locked((running: 0, most: 0))
        var calls: [Task<Bool, Never>] = []
        for _ in 0..<150 {
            guard Int.random(in: 0..<5, using: &random) > 0 else {
                calls.randomElement(using: &random)?.cancel()
                continue
            }
            let (yields, kind) = (Int.random(in: 0...5, using: &random), Int.random(in: 0..<4, using: &random))
            let context = ExchangeContext(time: clock)
            let answer = streamed()
            let next = Next(context: context) { _, _ in
                load.withLock { $0 = ($0.running + 1, max($0.most, $0.running + 1)) }
                defer { load.withLock { $0.running -= 1 } }
                for _ in 0..<yields { await Task.yield() }
                if kind == 0 { throw NetworkError(.unreachable) }
                return kind == 1 ? .status(200) : answer
            }
            calls.append(
                Task {
                    do {
                        let response = try await ConcurrencyLimitInterceptor(limit: limit).intercept(
                            HTTPRequest(url: "https://a.test/"), next: next)
                        if kind == 2 { _ = try await response.data() }
                        return true
                    } catch {
                        return false
                    }
                })
            for _ in 0..<Int.random(in: 0...2, using: &random) { await Task.yield() }
        }
        var through = 0
        for call in calls where await call.value { through += 1 }
        calls = []
        #expect(through > 0 && load.withLock { $0.most } <= permits, "seed \(seed)")
        try await until(limit, 0, 0)
    }

    @Test("Cancellation and deadlines in any order lose no permit", arguments: 0..<20 as Range<UInt64>)
    func deadlines(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let limit = ConcurrencyLimit(1)
        var (calls, gates) = ([Task<HTTPResponse, any Error>](), [Gate]())
        for number in 0..<30 {
            let gate = Gate()
            gates.append(gate)
            calls.append(
                call(limit, "/\(number)", gate, total: .milliseconds(Int.random(in: 50...2000, using: &random))))
            if Bool.random(using: &random) { await Task.yield() }
        }
        for gate in gates.shuffled(using: &random) {
            gate.open()
            if Int.random(in: 0..<3, using: &random) == 0 { calls.randomElement(using: &random)?.cancel() }
            clock.advance(by: .milliseconds(Int.random(in: 0...80, using: &random)))
            for _ in 0..<Int.random(in: 0...5, using: &random) { await Task.yield() }
        }
        for call in calls { _ = await call.result }
        try await until(limit, 0, 0)
        #expect(limit.load == (0, 0), "seed \(seed)")
        let gate = Gate()
        gate.open()
        _ = try await call(limit, "/after", gate).value
    }
}
