// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore

@Suite(.timeLimit(.minutes(1)))
struct BackoffTests {
    @Test(
        "The bound of exponential waits doubles up to the cap, from a higher base when throttled",
        arguments: [
            (1, false, 100), (2, false, 200), (3, false, 400), (8, false, 12_800), (9, false, 20_000),
            (64, false, 20_000), (.max, false, 20_000), (0, false, 100), (-5, false, 100),
            (1, true, 1_000), (2, true, 2_000), (5, true, 16_000), (6, true, 20_000), (200, true, 20_000),
        ])
    func exponential(repetition: Int, isThrottled: Bool, bound: Int) {
        func wait(_ random: Double) -> Duration {
            RetryPolicy.Backoff.exponential.wait(before: repetition, isThrottled: isThrottled, random: random)
        }
        #expect(wait(1) == .milliseconds(bound))
        #expect(wait(0.5) == .milliseconds(bound) / 2)
        #expect(wait(0) == .zero)
    }

    @Test("Decorrelated waits lie between the base and three times the wait before")
    func decorrelated() {
        let backoff = RetryPolicy.Backoff.decorrelated(base: .seconds(1), throttled: .seconds(4), cap: .seconds(10))
        #expect(backoff.wait(before: 1, random: 0) == .seconds(1))
        #expect(backoff.wait(before: 1, random: 1) == .seconds(3))
        #expect(backoff.wait(before: 2, after: .seconds(2), random: 1) == .seconds(6))
        #expect(backoff.wait(before: 2, after: .seconds(2), random: 0.5) == .seconds(3.5))
        #expect(backoff.wait(before: 9, after: .seconds(9), random: 1) == .seconds(10))
        #expect(backoff.wait(before: 9, after: .milliseconds(1), random: 1) == .seconds(3))
        #expect(backoff.wait(before: 1, isThrottled: true, random: 0) == .seconds(4))
    }

    @Test("Constant waits have no randomness")
    func constant() {
        for random in [0, 0.3, 0.999] {
            #expect(
                RetryPolicy.Backoff.constant(.seconds(2)).wait(before: 7, isThrottled: true, random: random)
                    == .seconds(2))
        }
    }

    @Test("No wait is negative or longer than the cap, also at the ends of the clock")
    func bounds() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let durations: [Duration] = [
            .zero, .nanoseconds(1), .milliseconds(100), .seconds(20), .seconds(1 << 33), .seconds(-5),
            .seconds(Int64.max),
        ]
        for _ in 0..<2000 {
            func any() -> Duration { durations.randomElement(using: &random) ?? .zero }
            let (base, throttled, cap) = (any(), any(), any())
            for backoff in [
                RetryPolicy.Backoff.exponential(base: base, throttled: throttled, cap: cap),
                .decorrelated(base: base, throttled: throttled, cap: cap),
            ] {
                let wait = backoff.wait(
                    before: .random(in: -3...200, using: &random), isThrottled: .random(using: &random),
                    after: Bool.random(using: &random) ? any() : nil, random: .random(in: 0..<1, using: &random))
                #expect(wait >= .zero && wait <= max(.zero, cap), "seed \(seed): \(backoff) gave \(wait)")
            }
        }
    }

    @Test("Full jitter covers its range evenly")
    func jitter() {
        var random = SeededGenerator(seed: 7)
        var counts = [Int](repeating: 0, count: 10)
        for _ in 0..<10_000 {
            let wait = RetryPolicy.Backoff.exponential.wait(before: 4, random: .random(in: 0..<1, using: &random))
            counts[Int(wait / .milliseconds(80))] += 1
        }
        #expect(counts.allSatisfy { (850...1150).contains($0) }, "\(counts)")
    }
}
