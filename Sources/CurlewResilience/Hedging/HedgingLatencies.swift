// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// The recent response times of the 64 origins that were used last.
final class HedgingLatencies: Sendable {
    private static let mostOrigins = 64
    private let windows = Locked<[Origin: (window: LatencyWindow, lastUse: UInt64)]>([:])

    /// Returns the time within which the share `percentile` of the responses arrived; nil until 20 are known.
    func time(of percentile: Double, for origin: Origin) -> Duration? {
        windows.withLock { $0[origin]?.window.time(of: percentile) }
    }

    /// Adds a response time.
    ///
    /// - `took`: the time from the first request to the head of the response that won.
    func add(_ took: Duration, for origin: Origin) {
        windows.withLock { windows in
            let last = windows.values.reduce(0) { max($0, $1.lastUse) }
            var entry = windows.removeValue(forKey: origin) ?? (LatencyWindow(), 0)
            if windows.count >= Self.mostOrigins, let oldest = windows.min(by: { $0.value.lastUse < $1.value.lastUse })
            {
                windows[oldest.key] = nil
            }
            entry.window.add(took)
            entry.lastUse = last &+ 1
            windows[origin] = entry
        }
    }
}

/// The last 128 response times of one origin, and their percentiles.
struct LatencyWindow: Sendable {
    static let size = 128
    /// The minimum number of times for a percentile.
    static let least = 20
    /// The number of additions after which the times are sorted again.
    private static let step = 8

    private var times: [Int64] = []
    private var sorted: [Int64] = []
    private var next = 0
    private var added = 0

    mutating func add(_ time: Duration) {
        let time = max(0, time.wholeNanoseconds)
        if times.count < Self.size { times.append(time) } else { times[next] = time }
        next = (next + 1) % Self.size
        added += 1
        guard times.count >= Self.least, sorted.isEmpty || added >= Self.step else { return }
        added = 0
        sorted = times.sorted()
    }

    /// Returns the shortest time that the share `percentile` of the times do not exceed; nil for fewer than 20 times.
    func time(of percentile: Double) -> Duration? {
        guard let last = sorted.indices.last, percentile >= 0 else { return nil }
        let place = Int((min(percentile, 1) * Double(sorted.count)).rounded(.up)) - 1
        return .nanoseconds(sorted[min(max(0, place), last)])
    }
}
