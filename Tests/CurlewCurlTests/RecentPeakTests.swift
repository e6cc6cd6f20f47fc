// SPDX-License-Identifier: MIT

#if os(Linux)
import Testing

@testable import CurlewCurl

/// How many transfers an agent has lately had.
@Suite(.timeLimit(.minutes(1)))
struct RecentPeakTests {
    @Test("A peak rises at once and falls later")
    func peak() {
        var peak = RecentPeak()
        let second: Int64 = 1_000_000_000
        let steps: [(Int, Int64, Int)] = [
            (1, 0, 64), (70, 1, 128), (0, 2, 128), (3, 9, 128), (3, 10, 128), (2, 19, 128), (0, 20, 64), (0, 30, 0),
            (0, 40, 0), (65, 41, 128),
        ]
        for (count, time, value) in steps {
            let former = peak.value
            let hasChanged = peak.note(count, at: time * second)
            #expect(peak.value == value, "\(count) at \(time) s")
            #expect(hasChanged == (former != value))
        }
    }
}
#endif
