// SPDX-License-Identifier: MIT

import CurlewCore

/// Counts the recent calls in ten time slices. When a new slice begins, the oldest is dropped.
struct CircuitWindow: Sendable {
    struct Counts: Hashable, Sendable {
        var calls = 0
        var failed = 0
    }

    /// The sum of all slices, as of the last call of `advance` or `add`.
    private(set) var counts = Counts()

    private let slice: Int64
    private var slices: [Counts] = []
    private var current: Int64 = .min

    private static let sliceCount = 10

    init(_ span: Duration) {
        slice = max(1, span.wholeNanoseconds / Int64(Self.sliceCount))
    }

    mutating func add(failed: Bool, at now: MonotonicInstant) {
        advance(to: now)
        if slices.isEmpty { slices = Array(repeating: Counts(), count: Self.sliceCount) }
        let index = Self.index(current)
        slices[index].add(calls: 1, failed: failed ? 1 : 0)
        counts.add(calls: 1, failed: failed ? 1 : 0)
    }

    /// Turns the success that was counted at `time` into a failure. If its slice has been dropped, counts a failed call
    /// now.
    mutating func turnIntoFailure(_ time: MonotonicInstant, at now: MonotonicInstant) {
        advance(to: now)
        let number = number(of: time)
        guard current - number < Int64(Self.sliceCount), !slices.isEmpty, slices[Self.index(number)].calls > 0 else {
            return add(failed: true, at: now)
        }
        slices[Self.index(number)].failed += 1
        counts.failed += 1
    }

    /// Returns the number of the slice that contains `time`. Negative times are rounded down too.
    private func number(of time: MonotonicInstant) -> Int64 {
        time.nanoseconds >= 0 ? time.nanoseconds / slice : ~(~time.nanoseconds / slice)
    }

    /// Drops the slices that are too old. A time before the previous one has no effect.
    mutating func advance(to now: MonotonicInstant) {
        let number = number(of: now)
        guard number > current else { return }
        defer { current = number }
        guard counts.calls > 0 else { return }
        guard number - current < Int64(Self.sliceCount) else { return clear() }
        for passed in (current + 1)...number {
            let index = Self.index(passed)
            let old = slices[index]
            counts.add(calls: -old.calls, failed: -old.failed)
            slices[index] = Counts()
        }
    }

    mutating func clear() {
        counts = Counts()
        for index in slices.indices { slices[index] = Counts() }
    }

    private static func index(_ number: Int64) -> Int {
        let count = Int64(sliceCount)
        return Int((number % count + count) % count)
    }
}

extension CircuitWindow.Counts {
    fileprivate mutating func add(calls: Int, failed: Int) {
        self.calls += calls
        self.failed += failed
    }
}
