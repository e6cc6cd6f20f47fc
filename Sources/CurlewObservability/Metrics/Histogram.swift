// SPDX-License-Identifier: MIT

import CurlewFoundation

extension MetricsRegistry {
    /// A distribution of values: the number of values in each of a fixed number of buckets, with their sum, minimum and
    /// maximum.
    public struct Histogram: Hashable, Sendable {
        /// The upper bounds of the buckets, ascending. A value that equals a bound belongs to the bucket below it, as
        /// in OpenTelemetry and Prometheus. One more bucket has the values above the last bound.
        public let bounds: [Double]
        /// The number of values in each bucket. There is one more bucket than bounds.
        public private(set) var counts: [UInt64]
        /// The sum of all values, in the unit of the metric.
        public private(set) var sum = 0.0
        /// The smallest value; nil if there are no values.
        public var minimum: Double? { count == 0 ? nil : lowest }
        /// The largest value; nil if there are no values.
        public var maximum: Double? { count == 0 ? nil : highest }
        private var lowest = Double.infinity
        private var highest = -Double.infinity

        /// The bucket boundaries that the semantic conventions of OpenTelemetry advise for
        /// `http.client.request.duration`, in seconds.
        public static let seconds = [
            0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
        ]
        /// Bucket boundaries for sizes, in bytes: powers of four from 256 bytes to 1 GiB.
        static let bytes: [Double] = (4...15).map { Double(1 << ($0 * 2)) }
        /// Bucket boundaries for the number of requests of a call.
        static let requests: [Double] = [0, 1, 2, 3, 4, 5, 10]

        /// Creates an empty histogram. Bounds that are not finite, and duplicates, are ignored; the others are sorted.
        init(bounds: [Double]) {
            self.bounds = bounds.filter(\.isFinite).ordered(by: <).reduce(into: []) { bounds, bound in
                if bound != bounds.last { bounds.append(bound) }
            }
            counts = [UInt64](repeating: 0, count: self.bounds.count + 1)
        }

        /// The number of values.
        public var count: UInt64 { counts.reduce(0, &+) }

        /// Adds a value. A value that is not a number is ignored.
        mutating func add(_ value: Double) {
            guard !value.isNaN else { return }
            // The bounds are few, and most values are small, so this is faster than a binary search.
            var index = 0
            while index < bounds.count, value > bounds[index] { index += 1 }
            counts[index] &+= 1
            sum += value
            if value < lowest { lowest = value }
            if value > highest { highest = value }
        }

        /// Estimates the value below which this share of the values lies: 0.5 for the median. Nil without values, or
        /// for NaN.
        ///
        /// The estimate lies in the same bucket as the exact value, between `minimum` and `maximum`, as if the values
        /// were spread evenly in the bucket. Shares outside 0...1 are clamped.
        public func quantile(_ share: Double) -> Double? {
            let total = count
            guard total > 0, !share.isNaN else { return nil }
            let rank = max(1, (Double(total) * min(max(share, 0), 1)).rounded(.up))
            var below = 0.0
            for (index, count) in counts.enumerated() where count > 0 {
                if below + Double(count) < rank {
                    below += Double(count)
                    continue
                }
                let lower = max(index == 0 ? lowest : bounds[index - 1], lowest)
                let upper = min(index == bounds.count ? highest : bounds[index], highest)
                return min(upper, lower + (upper - lower) * (rank - below) / Double(count))
            }
            return highest
        }
    }
}
