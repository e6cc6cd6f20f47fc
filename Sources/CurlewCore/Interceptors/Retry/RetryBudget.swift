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
    /// What one repetition takes after the server asked for fewer requests (429, 503 with a wait). Default 5: such an
    /// answer costs the server little, and the wait before the repetition is longer.
    public let throttledPrice: Int
    /// What one repetition takes after an attempt that timed out. Default 50: nothing says that the server did not do the
    /// work, or that it will answer the next one. A server that falls silent makes each client repeat itself ten times,
    /// not 35, and is not met by all that they still had in hand when it comes back (see <doc:Resilience>).
    public let timeoutPrice: Int

    private static let mostOrigins = 256
    private let accounts = Locked(Accounts())

    /// Full buckets.
    ///
    /// - `capacity`: at least 0; 0 allows no repetitions.
    /// - `price`, `throttledPrice`, `timeoutPrice`: at least 1.
    public init(capacity: Int = 500, price: Int = 14, throttledPrice: Int = 5, timeoutPrice: Int = 50) {
        self.capacity = max(0, capacity)
        self.price = max(1, price)
        self.throttledPrice = max(1, throttledPrice)
        self.timeoutPrice = max(1, timeoutPrice)
    }

    /// What made a repetition necessary.
    public enum Occasion: Hashable, Sendable {
        /// A failure that may pass.
        case failed
        /// The server asked for fewer requests.
        case throttled
        /// No answer in time.
        case timedOut
    }

    /// What one repetition takes.
    public func price(after occasion: Occasion) -> Int {
        switch occasion {
        case .failed: price
        case .throttled: throttledPrice
        case .timedOut: timeoutPrice
        }
    }

    /// Pays for one repetition; false when the bucket of `origin` does not hold its price.
    public func withdraw(for origin: Origin, after occasion: Occasion = .failed) -> Bool {
        let price = price(after: occasion)
        return accounts.withLock { accounts in
            let missing = accounts.missing[origin]?.tokens ?? 0
            guard capacity - missing >= price else { return false }
            accounts.set(missing + price, for: origin, most: Self.mostOrigins)
            return true
        }
    }

    /// Takes note of a success: one token, or `refund` after repetitions, where the price of the last one comes back.
    public func deposit(for origin: Origin, refund: Int = 1) {
        accounts.withLock { accounts in
            guard !accounts.missing.isEmpty, let account = accounts.missing[origin] else { return }
            accounts.set(account.tokens - max(0, refund), for: origin, most: Self.mostOrigins)
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

extension RetryBudget.Occasion {
    /// What an outcome is for the budget, given why it is tried again.
    init(_ outcome: Attempt.Outcome, _ cause: Attempt.Cause) {
        switch outcome {
        case .status(.tooManyRequests): self = .throttled
        case .failed(.timedOut): self = .timedOut
        default: self = cause == .serverAsked ? .throttled : .failed
        }
    }
}

extension RetryBudget: CustomStringConvertible {
    /// `500 tokens, 14 each`
    public var description: String { "\(capacity) tokens, \(price) each" }
}
