// SPDX-License-Identifier: MIT

import Dispatch
import TestServers
import Testing

@testable import CurlewURLSession

@Suite(.timeLimit(.minutes(1)))
struct DeadlineWatchTests {
    private static let second: Int64 = 1_000_000_000
    private static let day = 86_400 * second

    @Test(
        "The timer fires at the deadline, at once if it has passed, and after a day at most",
        arguments: [
            (10 * second, 3 * second, 10 * second), (10 * second + 1, 3 * second, 10 * second + 1),
            (3600 * second, second, 3600 * second), (3 * second, 10 * second, 10 * second), (.min, second, second),
            (.max, second, day + second), (.max, -second, day), (30 * day, day, 2 * day),
        ] as [(Int64, Int64, Int64)])
    func time(moment: Int64, now: Int64, expected: Int64) {
        #expect(DeadlineWatch.time(of: moment, now: now).uptimeNanoseconds == UInt64(expected))
    }

    @Test("The clock of the deadlines is the clock of the timer")
    func clock() {
        let before = DispatchTime.now().uptimeNanoseconds
        let now = UInt64(TimeoutTracker.now())
        let after = DispatchTime.now().uptimeNanoseconds
        // The conversion of either may drop some nanoseconds.
        #expect(now + 1000 >= before && now <= after + 1000)
    }

    /// Counts how often it is looked at, and is over with the first look.
    private final class Item: DeadlineWatch.Watched {
        let looked = SharedResult<Int64>()

        func checkDeadlines(at now: Int64) -> Int64? {
            looked.finish(.success(now))
            return nil
        }
    }

    @Test("An item is checked when its time has come, not before, and then forgotten")
    func fires() async throws {
        let watch = DeadlineWatch()
        let (soon, late) = (Item(), Item())
        let moment = TimeoutTracker.now() + 2_000_000
        watch.add(late, at: .max - 1)
        watch.add(soon, at: moment)
        #expect(try await soon.looked.wait() >= moment)
        watch.remove(late)
        // Forgotten on the queue of the watch, after the look.
        #expect(await eventually { watch.count == 0 })
    }
}
