// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// Limits how often a client sends requests again, with a token bucket for each origin. A retry or a hedged request
/// takes tokens. A retry that succeeds returns them, and a success without a retry adds one.
///
/// A budget prevents clients from multiplying the load of a server that is down: by default, a client has 35 retries
/// for an origin, then one for every fourteen successes. An empty bucket never makes a call wait or fail: the call
/// receives the response or error of its last attempt, and its history contains `.budgetExhausted`.
///
///     let budget = RetryBudget()
///     pipeline.adding(.retry(budget: budget))      // retries and hedging of one client share one budget
///
/// Only buckets that are not full are remembered, for the 256 most recently used origins; a forgotten bucket is full
/// again. Buckets do not refill with time: without successes, an origin gets no further retries.
public final class RetryBudget: CustomStringConvertible, Sendable {
    let capacity: Int
    let price: Int
    private let timeoutPrice: Int

    private static let maximumOrigins = 256
    private let accounts = Locked(Accounts())

    /// Creates a budget whose buckets are full. A number below its minimum counts as the minimum.
    ///
    /// - `capacity`: the number of tokens in a full bucket, at least 0. Zero allows no retries. Default 500.
    /// - `price`: the number of tokens that a retry or a hedged request takes, at least 1. Default 14.
    /// - `timeoutPrice`: the price of a retry after a timeout, at least 1. Default 50, because the server may not
    ///   respond to the next attempt either: a client then retries ten times instead of 35 (see <doc:Resilience>).
    public init(capacity: Int = 500, price: Int = 14, timeoutPrice: Int = 50) {
        self.capacity = max(0, capacity)
        self.price = max(1, price)
        self.timeoutPrice = max(1, timeoutPrice)
    }

    /// The receipt for the tokens that one retry took. Call `succeeded()` after a success; otherwise discard the
    /// receipt.
    package final class Receipt: Sendable {
        private let budget: RetryBudget
        private let origin: Origin
        private let price: Locked<Int>

        fileprivate init(_ budget: RetryBudget, _ origin: Origin, _ price: Int) {
            self.budget = budget
            self.origin = origin
            self.price = Locked(price)
        }

        /// Returns the tokens to the bucket because the retry succeeded. A second call has no effect.
        public func succeeded() {
            let price = price.withLock { price in
                defer { price = 0 }
                return price
            }
            budget.add(price, for: origin)
        }
    }

    /// Takes the tokens for one retry from the bucket of `origin`. Returns nil if the bucket has too few tokens.
    ///
    /// - `afterTimeout`: whether the previous attempt timed out, so that the retry costs `timeoutPrice`.
    package func withdraw(for origin: Origin, afterTimeout: Bool = false) -> Receipt? {
        let price = afterTimeout ? timeoutPrice : price
        let isCharged = accounts.withLock { accounts in
            let missing = accounts.missing[origin]?.tokens ?? 0
            guard capacity - missing >= price else { return false }
            accounts.set(missing + price, for: origin, maximum: Self.maximumOrigins)
            return true
        }
        return isCharged ? Receipt(self, origin, price) : nil
    }

    /// Adds one token for a call that succeeded without a retry. For a call that was retried, call
    /// `Receipt.succeeded()` instead.
    package func deposit(for origin: Origin) {
        add(1, for: origin)
    }

    private func add(_ tokens: Int, for origin: Origin) {
        accounts.withLock { accounts in
            guard !accounts.missing.isEmpty, let account = accounts.missing[origin] else { return }
            accounts.set(account.tokens - tokens, for: origin, maximum: Self.maximumOrigins)
        }
    }

    /// Returns the number of tokens in the bucket of `origin`.
    public func tokens(for origin: Origin) -> Int {
        capacity - accounts.withLock { $0.missing[origin]?.tokens ?? 0 }
    }

    /// The number of missing tokens of each bucket. A full bucket has no account.
    private struct Accounts {
        struct Account {
            var tokens: Int
            var lastUse: UInt64
        }

        private(set) var missing: [Origin: Account] = [:]
        private var uses: UInt64 = 0

        mutating func set(_ tokens: Int, for origin: Origin, maximum: Int) {
            guard tokens > 0 else {
                missing[origin] = nil
                return
            }
            uses &+= 1
            missing[origin] = Account(tokens: tokens, lastUse: uses)
            guard missing.count > maximum, let oldest = missing.min(by: { $0.value.lastUse < $1.value.lastUse }) else {
                return
            }
            missing[oldest.key] = nil
        }
    }

    /// The capacity, and the price of a retry: `500 tokens, 14 each`.
    public var description: String { "\(capacity) tokens, \(price) each" }
}

extension Pipeline {
    /// The budget that the retries and second requests of this pipeline draw on; nil without `.retry()` and `.hedging`.
    ///
    /// Interceptors that were created without a budget share one: the budget that the app passed to another
    /// interceptor, or else the budget of the first interceptor.
    public var retryBudget: RetryBudget? {
        let budgets = entries.compactMap(\.traits.budget)
        return (budgets.first(where: \.isChosen) ?? budgets.first)?.value
    }
}
