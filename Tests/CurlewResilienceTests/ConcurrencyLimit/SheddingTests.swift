// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore
@testable import CurlewResilience

/// A call whose turn comes too late, in a chain.
@Suite(.timeLimit(.minutes(1)))
struct SheddingTests {
    let bench = ConcurrencyLimitTests()

    /// A limit of one place, whose calls take 100 ms.
    func limit(_ waiting: Int = 1000) async throws -> ConcurrencyLimit {
        let limit = ConcurrencyLimit(1, waiting: waiting)
        for _ in 0..<10 {
            let gate = ConcurrencyLimitTests.Gate()
            let call = bench.call(limit, "/warm", gate)
            try await bench.until(limit, 1, 0)
            try await yieldUntil { bench.begun.withLock { !$0.isEmpty } }
            bench.begun.withLock { $0 = [] }
            bench.clock.advance(by: .milliseconds(100))
            gate.open()
            _ = try await call.value
        }
        return limit
    }

    @Test("A call with less time left than a typical call takes is refused, and the next one goes")
    func front() async throws {
        let limit = try await limit()
        let (first, gate) = (ConcurrencyLimitTests.Gate(), ConcurrencyLimitTests.Gate())
        gate.open()
        let busy = bench.call(limit, "/busy", first)
        try await bench.until(limit, 1, 0)
        let late = bench.call(limit, "/late", gate, total: .milliseconds(150))
        try await bench.until(limit, 1, 1)
        let early = bench.call(limit, "/early", gate, total: .milliseconds(900))
        try await bench.until(limit, 1, 2)
        bench.clock.advance(by: .milliseconds(100))
        first.open()
        _ = try await busy.value
        let error = await #expect(throws: NetworkError.self) { try await late.value }
        #expect(error?.reason == .refused(by: .concurrencyLimit))
        #expect(
            error?.detail.contains("has 50 ms left and a typical one takes 100 ms") == true, "\(error?.detail ?? "")")
        _ = try await early.value
        #expect(limit.load == (0, 0))
    }

    @Test("Heads of open bodies are learned from before the bodies end")
    func heads() async throws {
        let limit = ConcurrencyLimit(11)
        var held: [HTTPResponse] = []
        for _ in 0..<10 {
            let gate = ConcurrencyLimitTests.Gate()
            let call = bench.call(limit, "/held", gate)
            try await yieldUntil { bench.begun.withLock { !$0.isEmpty } }
            bench.begun.withLock { $0 = [] }
            bench.clock.advance(by: .milliseconds(100))
            gate.open(bench.streamed())
            held.append(try await call.value)
        }
        #expect(limit.load == (10, 0))
        let gate = ConcurrencyLimitTests.Gate()
        let busy = bench.call(limit, "/busy", gate)
        try await bench.until(limit, 11, 0)
        let late = bench.call(limit, "/late", gate, total: .milliseconds(50))
        try await bench.until(limit, 11, 1)
        gate.open()
        _ = try await busy.value
        #expect(await failureReason { try await late.value } == .refused(by: .concurrencyLimit))
        for response in held { response.body.cancel() }
        #expect(limit.load == (0, 0))
    }

    @Test("Cancellation, deadlines and refusals in any order lose no place", arguments: 0..<20 as Range<UInt64>)
    func interleaving(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let limit = try await limit()
        var (calls, gates) = ([Task<HTTPResponse, any Error>](), [ConcurrencyLimitTests.Gate]())
        for number in 0..<30 {
            let gate = ConcurrencyLimitTests.Gate()
            gates.append(gate)
            calls.append(
                bench.call(limit, "/\(number)", gate, total: .milliseconds(Int.random(in: 50...2000, using: &random))))
            if Bool.random(using: &random) { await Task.yield() }
        }
        for gate in gates.shuffled(using: &random) {
            gate.open()
            if Int.random(in: 0..<3, using: &random) == 0 { calls.randomElement(using: &random)?.cancel() }
            bench.clock.advance(by: .milliseconds(Int.random(in: 0...80, using: &random)))
            for _ in 0..<Int.random(in: 0...5, using: &random) { await Task.yield() }
        }
        for call in calls { _ = await call.result }
        try await bench.until(limit, 0, 0)
        #expect(limit.load == (0, 0), "seed \(seed)")
        let gate = ConcurrencyLimitTests.Gate()
        gate.open()
        _ = try await bench.call(limit, "/after", gate).value
    }
}
