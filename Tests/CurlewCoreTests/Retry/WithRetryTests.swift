// SPDX-License-Identifier: MIT

import CurlewHTTP
import CurlewTesting
import Testing

@testable import CurlewCore

@Suite(.timeLimit(.minutes(1)))
struct WithRetryTests {
    struct Odd: Error, Equatable { let attempt: Int }

    let bench = RetryBench()

    @Test("Work is done again after the waits of the policy, and gets the number of the attempt")
    func success() async throws {
        let clock = bench.clock
        let (result, waits) = try await bench.waits {
            try await withRetry(.attempts(4), time: clock, random: { 0.5 }) { attempt in
                if attempt < 4 { throw NetworkError(.timedOut(.idle)) }
                return attempt
            }
        }
        #expect(try result.get() == 4)
        #expect(waits == [50, 100, 200].map { .milliseconds($0) })
    }

    @Test("The last error comes as it is; errors of others are tried again only when asked for")
    func failure() async throws {
        let clock = bench.clock
        let (alone, noWaits) = try await bench.waits {
            try await withRetry(time: clock) { attempt in throw Odd(attempt: attempt) }
        }
        #expect(throws: Odd(attempt: 1)) { try alone.get() }
        #expect(noWaits.isEmpty)
        let (asked, waits) = try await bench.waits {
            try await withRetry(time: clock, random: { 0.5 }, mayPass: { $0 is Odd }) { throw Odd(attempt: $0) }
        }
        #expect(throws: Odd(attempt: 3)) { try asked.get() }
        #expect(waits == [.milliseconds(50), .milliseconds(100)])
    }

    @Test("A server's wish, its veto, the deadline and the budget count here too")
    func rules() async throws {
        let clock = bench.clock
        let origin = try #require(Origin(scheme: "https", host: "a.test"))
        let budget = RetryBudget(capacity: 50)
        let plain = NetworkError(.timedOut(.idle))
        func count(_ error: NetworkError, deadline: Deadline = .never, isPaid: Bool = false) async throws -> (
            [Duration], Int
        ) {
            let calls = Locked(0)
            let (_, waits) = try await bench.waits {
                try await withRetry(
                    deadline: deadline, budget: isPaid ? budget : nil, origin: origin, time: clock, random: { 0.5 }
                ) { _ -> Int in
                    calls.withLock { $0 += 1 }
                    throw error
                }
            }
            return (waits, calls.withLock { $0 })
        }
        let asking = NetworkError(statusCode: 503, headers: [.retryAfter: "2"])
        #expect(try await count(asking).0 == [.seconds(2.5), .seconds(3)])
        #expect(try await count(NetworkError(statusCode: 503, headers: ["X-Should-Retry": "false"])).1 == 1)
        #expect(try await count(plain, deadline: Deadline(.milliseconds(60), after: clock.now)).1 == 2)
        #expect(try await count(plain, isPaid: true).1 == 2)
        #expect(try await count(NetworkError(.cancelled)).1 == 1)
    }

    @Test("Cancellation ends the wait at once")
    func cancellation() async throws {
        let clock = bench.clock
        let task = Task {
            try await withRetry(time: clock) { _ in throw NetworkError(.unreachable) }
        }
        try await clock.waitForSleepers(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("On the system's clock no wait is shorter than decided")
    func neverEarly() async throws {
        let time = SystemTime()
        for wait in [Duration.microseconds(300), .milliseconds(1), .milliseconds(7), .milliseconds(20)] {
            let ends = Locked<[MonotonicInstant]>([])
            try? await withRetry(.attempts(4).with { $0.backoff = .constant(wait) }) { _ in
                ends.withLock { $0.append(time.now) }
                throw NetworkError(.unreachable)
            }
            let times = ends.withLock { $0 }
            #expect(times.count == 4)
            for (early, late) in zip(times, times.dropFirst()) { #expect(early.duration(to: late) >= wait) }
        }
    }
}
