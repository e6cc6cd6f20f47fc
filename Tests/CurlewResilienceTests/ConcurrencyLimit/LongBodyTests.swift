// SPDX-License-Identifier: MIT

import CurlewHTTP
import CurlewTesting
import Testing

@testable import CurlewCore
@testable import CurlewResilience

/// Bodies that stay open for long, under a limit that is learned.
@Suite(.timeLimit(.minutes(1)))
struct LongBodyTests {
    let bench = ConcurrencyLimitTests()
    let limit = ConcurrencyLimit(ConcurrencyLimit.Adaptive(probeInterval: .seconds(30)), per: .all)

    /// A response that comes at once.
    func answer(_ response: HTTPResponse = .status(200)) async throws -> HTTPResponse {
        let gate = ConcurrencyLimitTests.Gate()
        gate.open(response)
        return try await bench.call(limit, "/", gate).value
    }

    @Test("Four open bodies do not keep others out while the base is measured")
    func probe() async throws {
        for _ in 0..<8 { _ = try await answer() }
        #expect(limit.permits(of: .all) == 20)
        bench.clock.advance(by: .seconds(30))
        for _ in 0..<20 { _ = try await answer() }
        #expect(limit.permits(of: .all) == 4, "the base is measured anew")
        // They are sent while the last ones settle, so they say nothing about the base.
        var held: [HTTPResponse] = []
        for _ in 0..<4 { held.append(try await answer(bench.streamed())) }
        #expect(limit.load == (4, 0))
        #expect(limit.permits(of: .all) == 8)
        bench.clock.advance(by: .seconds(30))
        for _ in 0..<8 { _ = try await answer() }
        #expect(limit.permits(of: .all) == 20, "the measurement is over")
        #expect(limit.load == (4, 0))
        for response in held {
            let text = try await response.text()
            #expect(text == "abc")
        }
        #expect(limit.load == (0, 0))
        #expect(limit.permits(of: .all) == 20)
    }

    @Test("What the heads of open bodies say is learned before the bodies end")
    func heads() async throws {
        var held: [HTTPResponse] = []
        for _ in 0..<8 { held.append(try await answer(bench.streamed())) }
        #expect(limit.load == (8, 0))
        #expect(limit.permits(of: .all) == 20)
        for response in held { response.body.cancel() }
        #expect(limit.load == (0, 0))
    }

    @Test("The head of an open body lets the next one in the queue through while the base is measured")
    func turn() async throws {
        var (calls, gates) = ([Task<HTTPResponse, any Error>](), [ConcurrencyLimitTests.Gate]())
        for number in 0..<5 {
            gates.append(ConcurrencyLimitTests.Gate())
            calls.append(bench.call(limit, "/\(number)", gates[number]))
            try await bench.until(limit, min(4, number + 1), max(0, number - 3))
        }
        gates[0].open(bench.streamed())
        let held = try await calls[0].value
        #expect(limit.load == (5, 0))
        for number in 1..<5 {
            gates[number].open()
            _ = try await calls[number].value
        }
        #expect(limit.load == (1, 0))
        held.body.cancel()
        #expect(limit.load == (0, 0))
        #expect(limit.permits(of: .all) == 4)
    }
}
