// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore

@Suite(.timeLimit(.minutes(1)))
struct TimeTests {
    private static func instant(_ nanoseconds: Int64) -> SystemTime.Instant {
        SystemTime.Instant(nanoseconds: nanoseconds)
    }

    @Test("An instant moves by a duration, and stops at the ends of the clock instead of wrapping")
    func advancing() {
        #expect(Self.instant(5).advanced(by: .nanoseconds(3)) == Self.instant(8))
        #expect(Self.instant(5).advanced(by: .seconds(Int64.max)) == Self.instant(.max))
        #expect(Self.instant(-5).advanced(by: .seconds(Int64.min / 2)) == Self.instant(.min))
        #expect(Self.instant(5).duration(to: Self.instant(2)) == .nanoseconds(-3))
        #expect(Self.instant(5).duration(to: Self.instant(.min)) == .nanoseconds(Int64.min))
        #expect(Self.instant(-5).duration(to: Self.instant(.max)) == .nanoseconds(Int64.max))
    }

    @Test("The system's clock does not go backwards, and its date is now")
    func system() {
        let time = SystemTime()
        var last = time.now
        for _ in 0..<1000 {
            let next = time.now
            #expect(last <= next)
            last = next
        }
        #expect(abs(time.date.timeIntervalSinceNow) < 60)
    }

    @Test("A wait for a past moment returns at once, unless the task is cancelled")
    func systemSleep() async throws {
        let time = SystemTime()
        try await time.sleep(until: time.now)
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await time.sleep(until: time.now)
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
    }

    @Test("Cancellation ends a wait on the system's clock")
    func systemCancel() async {
        let started = SystemTime().now
        let sleeper = Task { try await SystemTime().sleep(for: .seconds(50)) }
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
        #expect(started.duration(to: SystemTime().now) < .seconds(40))
    }

    @Test("A deadline says what is left, never less than nothing")
    func remaining() {
        let deadline = SystemTime.Deadline(.nanoseconds(10), after: Self.instant(100))
        #expect(deadline.remaining(at: Self.instant(104)) == .nanoseconds(6))
        #expect(deadline.remaining(at: Self.instant(200)) == .zero)
        #expect(!deadline.hasPassed(at: Self.instant(109)))
        #expect(deadline.hasPassed(at: Self.instant(110)))
        #expect(SystemTime.Deadline.never.remaining(at: Self.instant(0)) == nil)
        #expect(!SystemTime.Deadline.never.hasPassed(at: Self.instant(.max)))
        #expect(SystemTime.Deadline(nil, after: Self.instant(0)) == .never)
    }

    @Test("Of two deadlines the earlier counts, and any counts before none")
    func earlier() {
        let soon = SystemTime.Deadline(Self.instant(1))
        let late = SystemTime.Deadline(Self.instant(2))
        #expect(soon.earlier(late) == soon)
        #expect(late.earlier(soon) == soon)
        #expect(SystemTime.Deadline.never.earlier(soon) == soon)
        #expect(soon.earlier(.never) == soon)
        #expect(SystemTime.Deadline.never.earlier(.never) == .never)
    }

    @Test(
        "Durations are written briefly",
        arguments: [
            (.zero, "0 µs"), (.nanoseconds(40), "0 µs"), (.nanoseconds(49_999), "50 µs"), (.microseconds(85), "85 µs"),
            (.nanoseconds(1_500), "1.5 µs"), (.milliseconds(1), "1 ms"), (.microseconds(1250), "1.3 ms"),
            (.milliseconds(340), "340 ms"), (.seconds(1), "1 s"), (.milliseconds(1250), "1.3 s"),
            (.seconds(90), "90 s"), (.seconds(Int64.max), "\(Int64.max) s"), (.milliseconds(-5), "-5 ms"),
            (.seconds(10_000), "10000 s"),
        ] as [(Duration, String)])
    func brief(duration: Duration, expected: String) {
        #expect(duration.brief == expected)
    }

    @Test(
        "Milliseconds are rounded up, so that no short wait becomes none",
        arguments: [
            (.zero, 0), (.nanoseconds(1), 1), (.milliseconds(1), 1), (.nanoseconds(1_000_001), 2), (.seconds(1), 1000),
            (.milliseconds(-3), -3), (.seconds(Int64.max), Int64.max / 1_000_000 + 1),
        ] as [(Duration, Int64)])
    func milliseconds(duration: Duration, expected: Int64) {
        #expect(duration.roundedUpMilliseconds == expected)
    }

    @Test("No duration overflows its nanoseconds or its text")
    func extremes() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            let shift = Int64.random(in: 0...62, using: &random)
            let seconds = Int64.random(in: .min ... .max, using: &random) >> shift
            let rest = Int64.random(in: -999_999_999_999_999_999...999_999_999_999_999_999, using: &random)
            let duration = Duration(secondsComponent: seconds, attosecondsComponent: rest)
            let nanoseconds = duration.wholeNanoseconds
            #expect(nanoseconds == 0 || (nanoseconds < 0) == (duration < .zero), "seed \(seed)")
            #expect(!duration.brief.isEmpty, "seed \(seed)")
            #expect(duration.roundedUpMilliseconds <= Int64.max / 1_000_000 + 1, "seed \(seed)")
        }
    }
}
