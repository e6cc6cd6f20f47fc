// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore
@testable import CurlewResilience

@Suite(.timeLimit(.minutes(1)))
struct TokenBucketTests {
    let start = SystemTime.Instant(nanoseconds: 5_000_000_000)

    func after(_ duration: Duration) -> SystemTime.Instant { start.advanced(by: duration) }

    @Test("A full bucket allows its burst, then one token in each interval, none early")
    func pace() {
        var bucket = TokenBucket(10, every: .seconds(1), burst: 3)
        #expect(bucket.tokens(at: start) == 3)
        var taken = (0..<5).map { _ in bucket.take(at: start) }
        #expect(taken == [true, true, true, false, false])
        #expect(bucket.availability(at: start) == after(.milliseconds(100)))
        #expect(bucket.availability(at: start, after: 4) == after(.milliseconds(500)))
        taken = [
            bucket.take(at: after(.nanoseconds(99_999_999))), bucket.take(at: after(.milliseconds(100))),
            bucket.take(at: after(.milliseconds(150))), bucket.take(at: after(.milliseconds(200))),
        ]
        #expect(taken == [false, true, false, true])
        #expect(bucket.tokens(at: after(.milliseconds(499))) == 2)
        #expect(bucket.tokens(at: after(.milliseconds(500))) == 3)
        #expect(bucket.tokens(at: after(.seconds(500))) == 3)
    }

    @Test("A pace that does not divide is rounded down, and odd values are taken for the nearest")
    func rounding() {
        #expect(TokenBucket(3, every: .seconds(1)).interval == .nanoseconds(333_333_334))
        #expect(TokenBucket(7, every: .seconds(60)).interval == .nanoseconds(8_571_428_572))
        #expect(TokenBucket(0, every: .zero, burst: 0) == TokenBucket(1, every: .nanoseconds(1), burst: 1))
        #expect(TokenBucket(.max, every: .seconds(1)).interval == .nanoseconds(1))
        var slow = TokenBucket(1, every: .seconds(Int64.max), burst: .max)
        #expect(slow.burst == 100 && slow.take(at: start))
        slow.pause(until: after(.seconds(Int64.max)))
        #expect(slow.availability(at: start) > start)
    }

    @Test("A pause lets one token through at its end, a lower count takes tokens away")
    func pause() {
        var bucket = TokenBucket(1, every: .seconds(1), burst: 5)
        bucket.pause(until: after(.seconds(30)))
        #expect(bucket.availability(at: start) == after(.seconds(30)))
        #expect(bucket.tokens(at: after(.seconds(30))) == 1)
        bucket.pause(until: after(.seconds(3)))
        #expect(bucket.availability(at: start) == after(.seconds(30)), "a shorter pause ends no longer one")
        var lowered = TokenBucket(1, every: .seconds(1), burst: 5)
        lowered.lower(to: 2, at: start)
        #expect(lowered.tokens(at: start) == 2)
        lowered.lower(to: 9, at: start)
        #expect(lowered.tokens(at: start) == 2)
        lowered.lower(to: 0, at: start)
        #expect(lowered.availability(at: start) == after(.seconds(1)))
    }

    @Test("No span of time sees more tokens than its own and the burst", arguments: 0..<100 as Range<UInt64>)
    func fuzz(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let count = Int.random(in: 1...50, using: &random)
        let period = Duration.nanoseconds(Int64.random(in: 1...5_000_000_000, using: &random))
        let burst = Int.random(in: 1...20, using: &random)
        var bucket = TokenBucket(count, every: period, burst: burst)
        var (now, taken, earliest) = (start, [SystemTime.Instant](), start)
        for _ in 0..<600 {
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<6:
                let promised = bucket.availability(at: now)
                let isDue = promised <= now
                #expect((bucket.tokens(at: now) > 0) == isDue, "seed \(seed)")
                let got = bucket.take(at: now)
                #expect(got == isDue && (!got || now >= earliest), "seed \(seed)")
                if got { taken.append(now) }
            case 6..<9: now = now.advanced(by: bucket.interval * Double.random(in: 0...3, using: &random))
            case 9: now = bucket.availability(at: now, after: Int.random(in: 0...3, using: &random))
            case 10 where !taken.isEmpty && Bool.random(using: &random):
                bucket.giveBack()
                taken.removeLast()
            default:
                guard Int.random(in: 0..<8, using: &random) == 0 else { continue }
                let end = now.advanced(by: bucket.interval * Int.random(in: 0...4, using: &random))
                bucket.pause(until: end)
                earliest = max(earliest, end)
            }
        }
        #expect(taken.count > burst, "seed \(seed)")
        for (index, first) in taken.enumerated() {
            for (count, last) in taken[index...].enumerated() {
                let most = burst + Int(first.duration(to: last).wholeNanoseconds / bucket.interval.wholeNanoseconds)
                guard count + 1 > most else { continue }
                Issue.record("seed \(seed): \(count + 1) tokens, at most \(most)")
                return
            }
        }
    }
}
