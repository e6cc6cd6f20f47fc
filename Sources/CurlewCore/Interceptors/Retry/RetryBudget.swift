// SPDX-License-Identifier: MIT

public import CurlewHTTP

/// How much a client may repeat itself: a bucket of tokens for each origin, which repetitions empty and successes fill.
///
/// It keeps clients from multiplying the load of a server that is down: each is left with a few dozen repetitions, and
/// then with one per fourteen successes. An empty bucket never makes a call wait or fail; the call gets what it has,
/// and its history says `.budgetIsEmpty`.
///
///     let budget = RetryBudget()
///     pipeline.adding(.retry(budget: budget))      // all that repeats calls of one client shares one budget
///
/// Only buckets that are not full are remembered, those of the last 256 origins. Nothing refills by time alone: an
/// origin that has not answered well since deserves no more than before.
public final class RetryBudget: Sendable {
    /// Tokens of a full bucket, and of an origin that is not known. Default 500.
    public let capacity: Int
    /// What one repetition takes. Default 14.
    public let price: Int
    /// What one repetition takes after an attempt that timed out. Default 50: nothing says that the server did not do the
    /// work, or that it will answer the next one. A server that falls silent makes each client repeat itself ten times,
    /// not 35, and is not met by all that they still had in hand when it comes back (see <doc:Resilience>).
    public let timeoutPrice: Int

    private static let mostOrigins = 256
    private let accounts = Locked(Accounts())

    /// Full buckets.
    ///
    /// - `capacity`: at least 0; 0 allows no repetitions.
    /// - `price`, `timeoutPrice`: at least 1.
    public init(capacity: Int = 500, price: Int = 14, timeoutPrice: Int = 50) {
        self.capacity = max(0, capacity)
        self.price = max(1, price)
        self.timeoutPrice = max(1, timeoutPrice)
    }

    /// What a repetition was paid with. Hand it back with `succeeded()` if the repetition helped, else let go of it.
    public final class Receipt: Sendable {
        private let budget: RetryBudget
        private let origin: Origin
        private let price: Locked<Int>

        fileprivate init(_ budget: RetryBudget, _ origin: Origin, _ price: Int) {
            self.budget = budget
            self.origin = origin
            self.price = Locked(price)
        }

        /// The repetition was a success: its price comes back, once.
        public func succeeded() {
            let price = price.withLock { price in
                defer { price = 0 }
                return price
            }
            budget.add(price, for: origin)
        }
    }

    /// Pays for one repetition; nil when the bucket of `origin` does not hold its price.
    ///
    /// - `afterTimeout`: the attempt before had no response in time.
    public func withdraw(for origin: Origin, afterTimeout: Bool = false) -> Receipt? {
        let price = afterTimeout ? timeoutPrice : price
        let isPaid = accounts.withLock { accounts in
            let missing = accounts.missing[origin]?.tokens ?? 0
            guard capacity - missing >= price else { return false }
            accounts.set(missing + price, for: origin, most: Self.mostOrigins)
            return true
        }
        return isPaid ? Receipt(self, origin, price) : nil
    }

    /// Takes note of a call that succeeded without a repetition: one token. For others `Receipt.succeeded()`.
    public func deposit(for origin: Origin) {
        add(1, for: origin)
    }

    private func add(_ tokens: Int, for origin: Origin) {
        accounts.withLock { accounts in
            guard !accounts.missing.isEmpty, let account = accounts.missing[origin] else { return }
            accounts.set(account.tokens - tokens, for: origin, most: Self.mostOrigins)
        }
    }

    /// The tokens that the bucket of `origin` holds now.
    public func tokens(for origin: Origin) -> Int {
        capacity - accounts.withLock { $0.missing[origin]?.tokens ?? 0 }
    }

    /// What buckets lack. One that is full has no account.
    private struct Accounts {
        struct Account {
            var tokens: Int
            var lastUse: UInt64
        }

        private(set) var missing: [Origin: Account] = [:]
        private var uses: UInt64 = 0

        mutating func set(_ tokens: Int, for origin: Origin, most: Int) {
            guard tokens > 0 else {
                missing[origin] = nil
                return
            }
            uses &+= 1
            missing[origin] = Account(tokens: tokens, lastUse: uses)
            guard missing.count > most, let oldest = missing.min(by: { $0.value.lastUse < $1.value.lastUse }) else {
                return
            }
            missing[oldest.key] = nil
        }
    }
}

extension RetryBudget: CustomStringConvertible {
    /// `500 tokens, 14 each`
    public var description: String { "\(capacity) tokens, \(price) each" }
}

extension Pipeline {
    /// What repeats calls of this pipeline draws on this budget: the one of `.retry()`, or of `.hedging`. Nil without both.
    ///
    /// Interceptors that were made without a budget share one: that of another interceptor whose budget the app has named,
    /// else the first one's.
    public var retryBudget: RetryBudget? {
        interceptors.lazy.compactMap { $0.paying?.purse as? RetryBudget }.first
    }
}
