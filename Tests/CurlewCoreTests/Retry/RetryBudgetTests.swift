// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore

@Suite(.timeLimit(.minutes(1)))
struct RetryBudgetTests {
    static func origin(_ number: Int = 0) throws -> Origin {
        try #require(Origin(scheme: "https", host: "h\(number).test"))
    }

    @Test("A full bucket pays for 35 repetitions, or 10 after timeouts, and then for none")
    func empty() throws {
        let (origin, other) = (try Self.origin(), try Self.origin(1))
        let (budget, timedOut) = (RetryBudget(), RetryBudget())
        #expect((0..<100).count { _ in budget.withdraw(for: origin) != nil } == 35)
        #expect(budget.tokens(for: origin) == 10)
        #expect((0..<200).count { _ in timedOut.withdraw(for: origin, afterTimeout: true) != nil } == 10)
        #expect(budget.withdraw(for: other) != nil, "each origin has its own bucket")
        #expect(RetryBudget(capacity: 0).withdraw(for: origin) == nil)
    }

    @Test(
        "Fourteen successes pay for one repetition; a receipt is returned once, never beyond full")
    func deposit() throws {
        let origin = try Self.origin()
        let budget = RetryBudget(capacity: 14)
        #expect(budget.withdraw(for: origin) != nil)
        for count in 1...14 {
            #expect(budget.withdraw(for: origin) == nil)
            budget.deposit(for: origin)
            #expect(budget.tokens(for: origin) == count)
        }
        let receipt = try #require(budget.withdraw(for: origin))
        receipt.succeeded()
        #expect(budget.tokens(for: origin) == 14)
        let lost = budget.withdraw(for: origin)
        receipt.succeeded()
        #expect(lost != nil && budget.tokens(for: origin) == 0, "a receipt is worth its price once")
        #expect(budget.withdraw(for: origin) == nil)
        lost?.succeeded()
        budget.deposit(for: origin)
        #expect(budget.tokens(for: origin) == 14)
    }

    @Test("The buckets of 256 origins are remembered; the least recently used is forgotten")
    func forgetting() throws {
        let budget = RetryBudget()
        for number in 0..<256 { #expect(budget.withdraw(for: try Self.origin(number)) != nil) }
        #expect(budget.withdraw(for: try Self.origin(0)) != nil)
        #expect(budget.withdraw(for: try Self.origin(999)) != nil)
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
                group.addTask { (0..<50).count { _ in budget.withdraw(for: origin) != nil } }
            }
            return await group.reduce(0, +)
        }
        #expect(paid == 35)
    }
}
