// SPDX-License-Identifier: MIT

import CurlewCore

extension RetryPolicy {
    /// The wait before each retry.
    ///
    /// Waits are random so that clients that failed together do not retry together.
    public struct Backoff: Hashable, Sendable {
        private enum Kind: Hashable, Sendable { case constant, exponential, decorrelated }

        private let kind: Kind
        /// The base of the first wait. Default 100 ms.
        package let base: Duration
        /// The base when the server requested fewer requests (429, or 503 with a wait). Default 1 s.
        package let throttledBase: Duration
        /// The longest wait. Default 20 s.
        package let cap: Duration

        private init(_ kind: Kind, _ base: Duration, _ throttledBase: Duration, _ cap: Duration) {
            self.kind = kind
            self.base = max(.zero, base)
            self.throttledBase = max(.zero, throttledBase)
            self.cap = max(.zero, cap)
        }

        /// A random wait between zero and a bound that doubles each time ("full jitter"): 100 ms, 200 ms, 400 ms, … 20
        /// s.
        public static let exponential = exponential()

        /// A random wait between zero and a bound that doubles each time, up to `cap`.
        public static func exponential(
            base: Duration = .milliseconds(100), throttled: Duration = .seconds(1), cap: Duration = .seconds(20)
        ) -> RetryPolicy.Backoff {
            RetryPolicy.Backoff(.exponential, base, throttled, cap)
        }

        /// A random wait between `base` and three times the previous wait, up to `cap`: never zero, and less regular.
        public static func decorrelated(
            base: Duration = .milliseconds(100), throttled: Duration = .seconds(1), cap: Duration = .seconds(20)
        ) -> RetryPolicy.Backoff {
            RetryPolicy.Backoff(.decorrelated, base, throttled, cap)
        }

        /// A fixed wait. For tests, and for work that no other client does at the same time.
        public static func constant(_ wait: Duration) -> RetryPolicy.Backoff {
            RetryPolicy.Backoff(.constant, wait, wait, wait)
        }

        /// Returns the wait before a retry.
        ///
        /// - `repetition`: the number of the retry, counted from one.
        /// - `previous`: the previous wait, if there was one.
        /// - `random`: a uniformly distributed number in 0..<1.
        package func wait(
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
            // `distance(to:)` returns an `Int`, which traps on 32-bit platforms beyond two seconds.
            let span = Double(max(0, (high - low).wholeNanoseconds))
            return low + .nanoseconds(Int64(span * min(max(random, 0), 1)))
        }
    }
}

extension Duration {
    /// Doubles the duration `times` times, up to about 292 years.
    fileprivate func doubled(times: Int) -> Duration {
        let (product, overflow) = wholeNanoseconds.multipliedReportingOverflow(by: 1 << min(max(0, times), 62))
        return .nanoseconds(overflow ? .max : product)
    }
}

extension RetryPolicy.Backoff: CustomStringConvertible {
    /// `exponential 100 ms…20 s`
    public var description: String {
        switch kind {
        case .constant: "constant \(base.brief)"
        case .exponential: "exponential \(base.brief)…\(cap.brief)"
        case .decorrelated: "decorrelated \(base.brief)…\(cap.brief)"
        }
    }
}
