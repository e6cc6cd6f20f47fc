// SPDX-License-Identifier: MIT

import CurlewCore

extension CircuitBreaker {
    /// The rules that decide when a circuit opens, and for how long. <doc:Resilience> shows the effect of the defaults
    /// under load.
    ///
    ///     .circuitBreaker(CircuitBreaker.Policy(failureRatio: 0.3, slowCall: .seconds(2)))
    public struct Policy: Hashable, Sendable {
        /// The ratio of failed calls in the window at which the circuit opens: above 0, at most 1. Default 0.5, as in
        /// Hystrix and resilience4j.
        public var failureRatio: Double
        /// The minimum number of calls in the window before the circuit can open. Default 20, as in Hystrix.
        public var minimumCalls: Int
        /// The length of the sliding window, at least 10 ms. The window advances in steps of a tenth. Default 30 s, as
        /// in Polly.
        public var window: Duration
        /// The time above which a call counts as slow. It is measured up to the response head, without waits for
        /// limits. Default nil: no call counts as slow.
        public var slowCall: Duration?
        /// The ratio of slow calls in the window at which the circuit opens: above 0, at most 1. Default 0.5.
        public var slowRatio: Double
        /// How long the circuit stays open the first time. The actual time is random, between half of this value and
        /// the full value, so that many clients do not return at the same moment. Default 5 s, as in Polly and Hystrix.
        public var openTime: Duration
        /// The factor, at least 1, by which the open time grows each time a trial fails. Default 2.
        public var openGrowth: Double
        /// The maximum open time. Default 60 s, as in resilience4j.
        public var longestOpenTime: Duration
        /// The time after which a trial that has not ended no longer prevents another trial. Default 30 s.
        public var trialTime: Duration
        /// The number of trials that may be in flight when the circuit becomes half-open. Each success allows one more.
        /// Default 1, as in Polly.
        public var trials: Int
        /// The number of trials that must succeed before the circuit closes. Default 1, as in Polly. With 20, the load
        /// of a recovering server grows from one to twenty concurrent calls before all calls pass.
        public var successes: Int
        /// Whether status 429 counts as a failure. Default false: a server that sends 429 is healthy and requests less
        /// load, and `.rateLimit` handles that.
        public var countsTooManyRequests: Bool
        /// The maximum number of origins, or other scopes, whose circuits are remembered. Closed circuits are removed
        /// first, in order of their last use; isolated circuits are never removed. Default 256.
        public var origins: Int

        /// Creates a policy from the given values and the defaults.
        public init(
            failureRatio: Double = 0.5, minimumCalls: Int = 20, window: Duration = .seconds(30),
            slowCall: Duration? = nil,
            slowRatio: Double = 0.5, openTime: Duration = .seconds(5), openGrowth: Double = 2,
            longestOpenTime: Duration = .seconds(60), trialTime: Duration = .seconds(30),
            trials: Int = 1, successes: Int = 1, countsTooManyRequests: Bool = false, origins: Int = 256
        ) {
            self.failureRatio = failureRatio
            self.minimumCalls = minimumCalls
            self.window = window
            self.slowCall = slowCall
            self.slowRatio = slowRatio
            self.openTime = openTime
            self.openGrowth = openGrowth
            self.longestOpenTime = longestOpenTime
            self.trialTime = trialTime
            self.trials = trials
            self.successes = successes
            self.countsTooManyRequests = countsTooManyRequests
            self.origins = origins
        }

        /// The default policy: a circuit opens when half of at least 20 calls in 30 s fail. It stays open for up to
        /// 5 s, and up to twice as long after each failed trial, at most 60 s.
        public static let standard = CircuitBreaker.Policy()

        /// A sentence about the first invalid value; nil if all values are valid.
        var problem: String? {
            let ratios = 0.0...1
            guard ratios.contains(failureRatio), failureRatio > 0, ratios.contains(slowRatio), slowRatio > 0 else {
                return "The circuit breaker's ratios are shares of the calls: above 0, at most 1."
            }
            guard minimumCalls > 0, origins > 0, trials > 0, successes > 0 else {
                return "The circuit breaker's minimumCalls, trials, successes and origins must be at least one."
            }
            guard window >= .milliseconds(10), openTime > .zero, longestOpenTime > .zero, trialTime > .zero else {
                return "The circuit breaker's durations must be positive, its window at least 10 ms."
            }
            return openGrowth >= 1 ? nil : "The circuit breaker's openGrowth must be at least 1."
        }

        /// Returns how long the circuit stays open when it opens for the `opening`-th time in a row.
        func openTime(_ opening: Int, using random: inout some RandomNumberGenerator) -> Duration {
            // Multiplying a `Duration` traps on overflow.
            let most = longestOpenTime.wholeNanoseconds
            let longest = Double(most)
            let first: Duration = min(openTime, longestOpenTime)
            var whole = Double(first.wholeNanoseconds)
            for _ in 1..<max(1, min(opening, 64)) where whole < longest {
                whole = min(whole * openGrowth, longest)
            }
            let drawn = whole * Double.random(in: 0.5...1, using: &random)
            return .nanoseconds(Int64(exactly: drawn.rounded()) ?? most)
        }
    }
}
