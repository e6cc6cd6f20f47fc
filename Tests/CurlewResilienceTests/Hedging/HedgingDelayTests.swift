// SPDX-License-Identifier: MIT

import CurlewHTTP
import CurlewTesting
import Testing

@testable import CurlewCore
@testable import CurlewResilience

/// A hedging delay that is measured.
@Suite(.timeLimit(.minutes(1)))
struct HedgingDelayTests {
    @Test("A percentile is known from 20 times on, is one of them, and forgets all but the last 128")
    func window() {
        var window = LatencyWindow()
        for number in 1...19 { window.add(.milliseconds(number)) }
        #expect(window.time(of: 0.95) == nil)
        window.add(.milliseconds(20))
        #expect(window.time(of: 0.95) == .milliseconds(19))
        #expect(window.time(of: 0.5) == .milliseconds(10) && window.time(of: 1) == .milliseconds(20))
        for _ in 0..<200 { window.add(.seconds(1)) }
        #expect(window.time(of: 0.01) == .seconds(1))
    }

    @Test("The share of times that a percentile covers is what it says", arguments: 0..<50 as Range<UInt64>)
    func share(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var window = LatencyWindow()
        // A multiple of the step, so that the last one is sorted in.
        let times = (0..<(20 + 8 * Int.random(in: 0...13, using: &random))).map { _ in
            Duration.microseconds(Int.random(in: 1...100_000, using: &random))
        }
        for time in times { window.add(time) }
        let percentile = Double.random(in: 0.5..<1, using: &random)
        let time = try #require(window.time(of: percentile))
        let below = Double(times.count { $0 <= time }) / Double(times.count)
        #expect(below >= percentile, "seed \(seed)")
        #expect(Double(times.count { $0 < time }) < percentile * Double(times.count), "seed \(seed)")
    }

    /// Calls one after the other, each answered after `time`, which is not the delay; gives how many were sent twice.
    func hedged(_ hedging: HedgingInterceptor, _ count: Int, _ time: Duration, host: String = "a.test") async throws
        -> Int
    {
        let clock = ManualClock()
        let sent = Locked(0)
        for _ in 0..<count {
            let next = Next(context: ExchangeContext(time: clock)) { _, context in
                sent.withLock { $0 += 1 }
                try await context.time.sleep(for: time)
                return .status(200)
            }
            let call = Task { try await hedging.intercept(HTTPRequest(url: "https://\(host)/"), next: next) }
            try await clock.waitForSleepers(2)
            if let delay = clock.advanceToNextSleeper(), delay < time {
                try await clock.waitForSleepers(2)
                clock.advance(by: time - delay)
            }
            _ = try await call.value
        }
        return sent.withLock { $0 } - count
    }

    @Test("Until enough is known the given delay counts, then the measured one, for each origin apart")
    func measured() async throws {
        let hedging = HedgingInterceptor(after: .seconds(1), percentile: 0.9)
        #expect(try await hedged(hedging, 20, .milliseconds(50)) == 0)
        #expect(try await hedged(hedging, 1, .milliseconds(60)) == 1, "60 ms are late where 50 ms are usual")
        #expect(try await hedged(hedging, 1, .milliseconds(60), host: "b.test") == 0)
        #expect(try await hedged(HedgingInterceptor(after: .seconds(1)), 30, .milliseconds(60)) == 0)
    }

    @Test("A percentile that is none is a problem")
    func problems() {
        for percentile in [0, 0.49, 1, .nan, .infinity, 95] {
            let pipeline: Pipeline = [.hedging(after: .seconds(1), percentile: percentile)]
            #expect(pipeline.problems().count == 1 && pipeline.description.contains("Hedging("))
        }
        let pipeline: Pipeline = [.hedging(after: .seconds(1), percentile: 0.95)]
        #expect(pipeline.problems().isEmpty && pipeline.description == "Hedging(95 %) → transport")
    }
}
