// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCaching
@testable import CurlewCore
@testable import CurlewResilience

/// What policies further in see of the deadlines of the calls that share an exchange.
@Suite(.timeLimit(.minutes(1)))
struct CoalescingDeadlineTests {
    private func request(_ total: Duration?) -> Request<Int> {
        .get("/x").options { $0.timeouts = Timeouts(total: total) }
    }

    @Test("A retry's wait beyond every caller's deadline ends the call at once, with its response")
    func retry() async throws {
        let sharing = Sharing([.coalescing(), .retry()]) { _ in .status(429, headers: ["Retry-After": "50"]) }
        sharing.origin.open()
        let error = await sharing.client.failure(request(.seconds(2)))
        #expect(error?.reason == .status(429) && error?.retryAfter == .seconds(50))
    }

    @Test("The wait lasts for the most patient caller; the others leave at their deadlines")
    func patient() async throws {
        let answers = Locked(0)
        let sharing = Sharing([.coalescing(), RetryInterceptor(random: { 0 })]) { _ in
            let isFirst = answers.next() == 1
            return isFirst ? .status(429, headers: ["Retry-After": "50"]) : .answer("7")
        }
        let short = try await sharing.begin(request(.seconds(2)))
        let long = try await sharing.begin(request(.seconds(200)))
        sharing.origin.open()
        // The pause, and the alarm of the earlier deadline.
        try await sharing.clock.waitForSleepers(2, .all)
        sharing.clock.advance(by: .seconds(2))
        #expect(await ending(short).reason == .timedOut(.total))
        // The pause, and the alarm of the later one.
        try await sharing.clock.waitForSleepers(2, .all)
        sharing.clock.advance(by: .seconds(60))
        #expect(try await long.value == 7)
        #expect(sharing.origin.sent.count == 2)
    }

    @Test("A token that comes after the deadline is refused at once")
    func rateLimit() async throws {
        let sharing = Sharing([.coalescing(), .rateLimit(1, every: .seconds(50))])
        sharing.origin.open()
        #expect(try await sharing.client.send(request(.seconds(2))) == 1)
        let error = await sharing.client.failure(request(.seconds(2)))
        #expect(error?.reason == .refused(by: .rateLimit) && error?.retryAfter == .seconds(50))
    }
}
