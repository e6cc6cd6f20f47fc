// SPDX-License-Identifier: MIT

import CurlewCore

/// A smoothed mean of recent response times and their mean deviation, as TCP computes them (RFC 6298 §2).
struct UsualTime: Sendable {
    private static let minimumCount = 10
    private var mean = 0.0
    private var deviation = 0.0
    private var count = 0

    /// The time of a typical call; nil until there are ten samples.
    var time: Duration? { count >= Self.minimumCount ? .nanoseconds(held: mean + deviation) : nil }

    /// Adds a response time. A time of more than twice the usual time counts as twice the usual time: a single outlier
    /// has little effect, and many of them soon raise the usual time.
    mutating func add(_ took: Duration) {
        let maximum = count >= Self.minimumCount ? 2 * (mean + deviation) : .infinity
        let time = min(Double(max(0, took.wholeNanoseconds)), maximum)
        if count == 0 {
            mean = time
        } else {
            deviation += (abs(time - mean) - deviation) / 4
            mean += (time - mean) / 8
        }
        count = min(count + 1, Self.minimumCount)
    }
}

extension Duration {
    /// Returns a duration of `count` nanoseconds, at most about 292 years.
    fileprivate static func nanoseconds(held count: Double) -> Duration {
        .nanoseconds(Int64(exactly: count.rounded()) ?? .max)
    }
}
