// SPDX-License-Identifier: MIT

import CurlewCore

/// Counts the recent calls in ten time slices. When a new slice begins, the oldest is dropped.
struct CircuitWindow: Sendable {
    private struct Slice: Sendable {
        let number: Int64
        var calls = 0
        var failed = 0
    }

    private let length: Int64
    /// The slices in which calls ended, oldest first.
    private var slices: [Slice] = []

    init(_ span: Duration) {
        length = max(1, span.wholeNanoseconds / 10)
    }

    /// Returns the number of calls that ended in the window, and how many of them failed.
    func counts(at now: SystemTime.Instant) -> (calls: Int, failed: Int) {
        let number = number(of: now)
        return slices.reduce(into: (0, 0)) { counts, slice in
            guard number - slice.number < 10 else { return }
            counts.0 += slice.calls
            counts.1 += slice.failed
        }
    }

    /// Counts a call that ended at `now`. A time before the previous one counts as that one.
    mutating func add(failed: Bool, at now: SystemTime.Instant) {
        let number = max(number(of: now), slices.last?.number ?? .min)
        slices.removeAll { number - $0.number >= 10 }
        if slices.last?.number != number { slices.append(Slice(number: number)) }
        slices[slices.count - 1].calls += 1
        if failed { slices[slices.count - 1].failed += 1 }
    }

    /// Turns the success that was counted at `time` into a failure. If its slice has been dropped, counts a failed call
    /// now.
    mutating func turnIntoFailure(_ time: SystemTime.Instant, at now: SystemTime.Instant) {
        let number = number(of: time)
        guard self.number(of: now) - number < 10, let index = slices.firstIndex(where: { $0.number == number }) else {
            return add(failed: true, at: now)
        }
        slices[index].failed += 1
    }

    /// Returns the number of the slice that contains `time`. Negative times are rounded down too.
    private func number(of time: SystemTime.Instant) -> Int64 {
        time.nanoseconds >= 0 ? time.nanoseconds / length : ~(~time.nanoseconds / length)
    }
}
