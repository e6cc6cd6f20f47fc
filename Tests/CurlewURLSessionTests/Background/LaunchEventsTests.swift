// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewURLSession

/// When an app may report to the system that it is done.
@Suite(.timeLimit(.minutes(1)))
struct LaunchEventsTests {
    private let start = Date(timeIntervalSince1970: 1000)

    @Test("A handler that comes first is called after the events")
    func inOrder() {
        var events = LaunchEvents<Int>()
        #expect(events.add(1, at: start).isEmpty)
        events.reset()
        #expect(events.finish(at: start + 1) == [1])
        #expect(events.finish(at: start + 2).isEmpty)
    }

    @Test("A handler that comes after the events is called at once, and once")
    func early() {
        var events = LaunchEvents<Int>()
        #expect(events.finish(at: start).isEmpty)
        #expect(events.add(1, at: start + 5) == [1])
        #expect(events.add(2, at: start + 6).isEmpty)
    }

    @Test("The notification of an earlier wake-up does not count for the next", arguments: [0, 1])
    func stale(way: Int) {
        var events = LaunchEvents<Int>()
        // Received while the app was in front, where no handler is delivered.
        #expect(events.finish(at: start).isEmpty)
        // Something has happened since, or much time has passed.
        if way == 0 { events.reset() }
        let later = start + (way == 0 ? 1 : LaunchEvents<Int>.patience)
        #expect(events.add(1, at: later).isEmpty, "its events are still to come")
        #expect(events.finish(at: later + 1) == [1])
    }

    @Test("No handler is lost when a second one comes")
    func several() {
        var events = LaunchEvents<Int>()
        #expect(events.add(1, at: start).isEmpty)
        #expect(events.add(2, at: start).isEmpty)
        #expect(events.finish(at: start) == [1, 2])
    }
}
