// SPDX-License-Identifier: MIT

import CurlewCore

extension CircuitBreaker {
    /// The rules that decide when a circuit opens, and for how long.
    ///
    ///     .circuitBreaker(CircuitBreaker.Policy(failureRatio: 0.3, trials: 3))
    public struct Policy: Hashable, Sendable {
        let failureRatio: Double
        let minimumCalls: Int
        let window: Duration
        let openTime: Duration
        let trials: Int

        /// Creates a policy from the given values and the defaults.
        ///
        /// - `failureRatio`: the ratio of failed calls in the window at which the circuit opens: above 0, at most 1.
        ///   Default 0.5, as in Hystrix and resilience4j.
        /// - `minimumCalls`: the minimum number of calls in the window before the circuit can open. Default 20, as in
        ///   Hystrix.
        /// - `window`: the length of the sliding window, at least 10 ms. The window advances in steps of a tenth.
        ///   Default 30 s, as in Polly.
        /// - `openTime`: the duration for which the circuit stays open. The actual duration is random, from half of it
        ///   to all of it, so that many clients do not return at the same moment. Default 5 s, as in Polly and Hystrix.
        /// - `trials`: the number of trial calls that must succeed, one after the other, before the circuit closes.
        ///   Default 1, as in Polly.
        public init(
            failureRatio: Double = 0.5, minimumCalls: Int = 20, window: Duration = .seconds(30),
            openTime: Duration = .seconds(5), trials: Int = 1
        ) {
            self.failureRatio = failureRatio
            self.minimumCalls = minimumCalls
            self.window = window
            self.openTime = openTime
            self.trials = trials
        }

        /// The default policy: a circuit opens for up to 5 s when half of at least 20 calls in 30 s fail.
        public static let standard = CircuitBreaker.Policy()

        /// A sentence about the first invalid value; nil if all values are valid.
        var problem: String? {
            guard failureRatio > 0, failureRatio <= 1 else {
                return "The circuit breaker's failureRatio is a share of the calls: above 0, at most 1."
            }
            guard minimumCalls > 0, trials > 0 else {
                return "The circuit breaker's minimumCalls and trials must be at least one."
            }
            return window >= .milliseconds(10) && openTime > .zero
                ? nil : "The circuit breaker's openTime must be positive, its window at least 10 ms."
        }
    }
}
