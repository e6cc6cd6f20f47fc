// SPDX-License-Identifier: MIT

import CurlewHTTP
import CurlewTesting
import Testing

@testable import CurlewCore

@Suite(.timeLimit(.minutes(1)))
struct RetryBudgetTests {
    static func origin(_ number: Int = 0) throws -> Origin {
        try #require(Origin(scheme: "https", host: "h\(number).test"))
    }

    @Test("A full bucket pays for 35 repetitions, 100 that were throttled, or 10 after timeouts, and then for none")
    func empty() throws {
        let (origin, other) = (try Self.origin(), try Self.origin(1))
        let (budget, throttled, timedOut) = (RetryBudget(), RetryBudget(), RetryBudget())
        #expect((0..<100).count { _ in budget.withdraw(for: origin) } == 35)
        #expect(budget.tokens(for: origin) == 10)
        #expect((0..<200).count { _ in throttled.withdraw(for: origin, after: .throttled) } == 100)
        #expect((0..<200).count { _ in timedOut.withdraw(for: origin, after: .timedOut) } == 10)
        #expect(budget.withdraw(for: other), "each origin has its own bucket")
        #expect(!RetryBudget(capacity: 0).withdraw(for: origin))
    }

    @Test(
        "Fourteen successes pay for one more; a success after a repetition gives back what it took; never beyond full")
    func deposit() throws {
        let origin = try Self.origin()
        let budget = RetryBudget(capacity: 14)
        #expect(budget.withdraw(for: origin))
        for count in 1...14 {
            #expect(!budget.withdraw(for: origin))
            budget.deposit(for: origin)
            #expect(budget.tokens(for: origin) == count)
        }
        #expect(budget.withdraw(for: origin))
        budget.deposit(for: origin, refund: 14)
        budget.deposit(for: origin, refund: 14)
        #expect(budget.tokens(for: origin) == 14)
        #expect(budget.withdraw(for: origin))
        #expect(!budget.withdraw(for: origin))
    }

    @Test("The buckets of the last 256 origins are remembered; the one not used for longest is forgotten, full again")
    func forgetting() throws {
        let budget = RetryBudget()
        for number in 0..<256 { #expect(budget.withdraw(for: try Self.origin(number))) }
        #expect(budget.withdraw(for: try Self.origin(0)))
        #expect(budget.withdraw(for: try Self.origin(999)))
        #expect(try budget.tokens(for: Self.origin(0)) == 500 - 28)
        #expect(try budget.tokens(for: Self.origin(1)) == 500)
        #expect(try budget.tokens(for: Self.origin(2)) == 500 - 14)
    }

    @Test("Many tasks at once never get more than the bucket holds")
    func concurrent() async throws {
        let origin = try Self.origin()
        let budget = RetryBudget()
        let paid = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<16 {
                group.addTask { (0..<50).count { _ in budget.withdraw(for: origin) } }
            }
            return await group.reduce(0, +)
        }
        #expect(paid == 35)
    }
}
