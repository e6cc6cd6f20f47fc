// SPDX-License-Identifier: MIT

extension RetryPolicy {
    /// The rule that determines the wait before each retry.
    ///
    /// Except with `constant(_:)`, waits are random, so that clients that failed together do not retry together.
    public struct Backoff: Hashable, Sendable {
        private enum Kind: Hashable, Sendable { case constant, exponential, decorrelated }

        private let kind: Kind
        /// The upper bound of the first wait for `exponential`, the shortest wait for `decorrelated`, and every wait
        /// for `constant`. Default 100 ms.
        let base: Duration
        /// Replaces `base` after a 429, or after another outcome for which the server requested a wait. Default 1 s.
        let throttledBase: Duration
        /// The longest wait, without the wait that the server requests. Default 20 s.
        let cap: Duration

        private init(_ kind: Kind, _ base: Duration, _ throttledBase: Duration, _ cap: Duration) {
            self.kind = kind
            self.base = max(.zero, base)
            self.throttledBase = max(.zero, throttledBase)
            self.cap = max(.zero, cap)
        }

        /// Exponential backoff with full jitter and the default values: a random wait between zero and an upper bound
        /// of 100 ms, 200 ms, 400 ms and so on, up to 20 s.
        public static let exponential = exponential()

        /// Exponential backoff with full jitter: a random wait between zero and an upper bound that doubles with each
        /// retry.
        ///
        /// - `base`: the upper bound of the first wait.
        /// - `throttled`: replaces `base` after a 429, or after an outcome for which the server requested a wait.
        /// - `cap`: the maximum of the upper bound.
        public static func exponential(
            base: Duration = .milliseconds(100), throttled: Duration = .seconds(1), cap: Duration = .seconds(20)
        ) -> RetryPolicy.Backoff {
            RetryPolicy.Backoff(.exponential, base, throttled, cap)
        }

        /// Decorrelated jitter: a random wait between `base` and three times the previous wait, at most `cap`. Unlike
        /// `exponential`, it never waits for less than `base`.
        ///
        /// - `base`: the shortest wait.
        /// - `throttled`: replaces `base` after a 429, or after an outcome for which the server requested a wait.
        /// - `cap`: the longest wait.
        public static func decorrelated(
            base: Duration = .milliseconds(100), throttled: Duration = .seconds(1), cap: Duration = .seconds(20)
        ) -> RetryPolicy.Backoff {
            RetryPolicy.Backoff(.decorrelated, base, throttled, cap)
        }

        /// The same wait before each retry, without randomness. For tests, and for work that no other client does at
        /// the same time.
        public static func constant(_ wait: Duration) -> RetryPolicy.Backoff {
            RetryPolicy.Backoff(.constant, wait, wait, wait)
        }

        /// Returns the wait before a retry.
        ///
        /// - `repetition`: the number of the retry, counted from one.
        /// - `isThrottled`: whether to use `throttledBase` instead of `base`.
        /// - `previous`: the previous wait; nil before the first retry.
        /// - `random`: a uniformly distributed number in 0..<1.
        func wait(
            before repetition: Int, isThrottled: Bool = false, after previous: Duration? = nil, random: Double
        ) -> Duration {
            let base = isThrottled ? throttledBase : base
            switch kind {
            case .constant: return base
            case .exponential: return Self.between(.zero, min(cap, base.doubled(times: repetition - 1)), random)
            case .decorrelated:
                let floor = min(base, cap)
                return Self.between(floor, min(cap, max(floor, previous ?? floor) * 3), random)
            }
        }

        private static func between(_ low: Duration, _ high: Duration, _ random: Double) -> Duration {
            // `distance(to:)` returns an `Int`, which overflows beyond two seconds on 32-bit platforms.
            let span = Double(max(0, (high - low).wholeNanoseconds))
            return low + .nanoseconds(Int64(span * min(max(random, 0), 1)))
        }
    }
}

extension Duration {
    /// Returns the duration doubled `times` times, at most about 292 years.
    fileprivate func doubled(times: Int) -> Duration {
        let (product, overflow) = wholeNanoseconds.multipliedReportingOverflow(by: 1 << min(max(0, times), 62))
        return .nanoseconds(overflow ? .max : product)
    }
}

extension RetryPolicy.Backoff: CustomStringConvertible {
    /// A description such as `exponential 100 ms…20 s`.
    public var description: String {
        switch kind {
        case .constant: "constant \(base.brief)"
        case .exponential: "exponential \(base.brief)…\(cap.brief)"
        case .decorrelated: "decorrelated \(base.brief)…\(cap.brief)"
        }
    }
}
