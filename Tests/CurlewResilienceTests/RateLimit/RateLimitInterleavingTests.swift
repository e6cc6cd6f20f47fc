// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore
@testable import CurlewResilience

/// Calls, cancellations, pauses and time in any order, on many threads.
@Suite(.timeLimit(.minutes(2)))
struct RateLimitInterleavingTests {
    private struct Sending {
        let at: SystemTime.Instant
        let pausedUntil: SystemTime.Instant
    }

    @Test("No call is lost, no token is created, none is early", arguments: 0..<30 as Range<UInt64>)
    func interleaving(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let clock = ManualClock()
        let burst = Int.random(in: 1...4, using: &random)
        let limit = RateLimit(10, every: .seconds(1), burst: burst, per: .all, waiting: 40)
        let sent = Locked<[SystemTime.Instant]>([])
        var calls: [Task<NetworkError.Reason?, Never>] = []
        for _ in 0..<120 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<6:
                var options = RequestOptions()
                options.priority = RequestOptions.Priority.allCases.randomElement(using: &random)
                let total: Duration? =
                    Bool.random(using: &random) ? nil : .milliseconds(Int.random(in: 1...4000, using: &random))
                let context = ExchangeContext(options: options, timeouts: Timeouts(total: total), time: clock)
                let pause = Int.random(in: 0..<25, using: &random) == 0
                let next = Next(context: context) { _, _ in
                    sent.withLock { $0.append(clock.now) }
                    return pause ? .status(429, headers: ["Retry-After": "1"]) : .status(200)
                }
                calls.append(
                    Task {
                        do {
                            _ = try await RateLimitInterceptor(limit: limit).intercept(
                                HTTPRequest(url: "https://a.test/"), next: next)
                            return nil
                        } catch {
                            return NetworkError(error).reason
                        }
                    })
            case 6: calls.randomElement(using: &random)?.cancel()
            case 7: clock.advanceToNextSleeper()
            case 8: clock.advance(by: .milliseconds(Int.random(in: 0...400, using: &random)))
            default: for _ in 0..<Int.random(in: 0...8, using: &random) { await Task.yield() }
            }
        }
        // Time advances until all have ended; no caller waits forever, or the suite's limit would end the test.
        let all = calls
        let rest = Task {
            var reasons: [NetworkError.Reason?] = []
            for call in all { reasons.append(await call.value) }
            return reasons
        }
        let drive = Task {
            while !Task.isCancelled {
                clock.advanceToNextSleeper()
                await Task.yield()
            }
        }
        let reasons = await withTaskCancellationHandler {
            await rest.value
        } onCancel: {
            for call in all { call.cancel() }
        }
        drive.cancel()
        #expect(
            reasons.allSatisfy { [nil, .cancelled, .refused(by: .rateLimit), .timedOut(.queue)].contains($0) },
            "seed \(seed)")
        #expect(limit.waitingCount == 0, "seed \(seed)")
        // The clock moves between the token and the note, so only the pace as a whole can be seen from here.
        let times = sent.withLock { $0 }
        let span = times.first.flatMap { first in times.last.map { first.duration(to: $0) } } ?? .zero
        let most = burst + Int(span.wholeNanoseconds / 100_000_000) + 1
        #expect(times.count <= most, "seed \(seed): \(times.count) in \(span)")
        #expect(reasons.count { $0 == nil } == times.count, "seed \(seed)")
    }
}
