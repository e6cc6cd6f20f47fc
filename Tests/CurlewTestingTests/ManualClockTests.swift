// SPDX-License-Identifier: MIT

import Testing

@Suite(.timeLimit(.minutes(3)))
struct ManualClockTests {
    let clock = ManualClock(date: Date(timeIntervalSince1970: 1_000_000_000))

    @Test("Time stands still until it is advanced, and the date follows")
    func standsStill() {
        let start = clock.now
        #expect(clock.now == start)
        clock.advance(by: .milliseconds(1500))
        #expect(start.duration(to: clock.now) == .milliseconds(1500))
        #expect(clock.date == Date(timeIntervalSince1970: 1_000_000_001.5))
        clock.advance(by: .seconds(-5))
        #expect(start.duration(to: clock.now) == .milliseconds(1500))
    }

    @Test("A sleeper wakes when its moment has come, and not before")
    func wakes() async throws {
        let isAwake = Locked(false)
        let sleeper = Task {
            try await clock.sleep(for: .seconds(2))
            isAwake.withLock { $0 = true }
        }
        try await clock.waitForSleepers(1)
        clock.advance(by: .milliseconds(1999))
        #expect(clock.sleeperCount == 1)
        #expect(!isAwake.withLock { $0 })
        clock.advance(by: .milliseconds(1))
        #expect(clock.sleeperCount == 0)
        try await sleeper.value
        #expect(isAwake.withLock { $0 })
    }

    @Test("A moment that has passed is not waited for")
    func past() async throws {
        try await clock.sleep(until: clock.now)
        try await clock.sleep(for: .seconds(-1))
        #expect(clock.sleeperCount == 0)
    }

    @Test("A cancelled sleeper throws and no longer counts")
    func cancelled() async throws {
        let sleeper = Task { try await clock.sleep(for: .seconds(2)) }
        try await clock.waitForSleepers(1)
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
        #expect(clock.sleeperCount == 0)
    }

    @Test("A task that is cancelled already does not sleep at all")
    func cancelledBefore() async {
        let sleeper = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(for: .seconds(2))
        }
        await #expect(throws: CancellationError.self) { try await sleeper.value }
        #expect(clock.sleeperCount == 0)
    }

    @Test("Waiting for sleepers ends when the waiting task is cancelled")
    func cancelledWait() async {
        let waiter = Task { try await clock.waitForSleepers(1) }
        waiter.cancel()
        await #expect(throws: CancellationError.self) { try await waiter.value }
    }

    @Test("Many tasks may sleep at once; each wakes exactly once")
    func many() async throws {
        let woken = Locked(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<200 {
                group.addTask {
                    try await clock.sleep(for: .milliseconds(Int64(index % 7) + 1))
                    woken.withLock { $0 += 1 }
                }
            }
            try await clock.waitForSleepers(200)
            for _ in 0..<7 { clock.advance(by: .milliseconds(1)) }
            try await group.waitForAll()
        }
        #expect(woken.withLock { $0 } == 200)
        #expect(clock.sleeperCount == 0)
    }

    @Test("Cancelling while time advances resumes each sleeper exactly once")
    func race() async throws {
        for _ in 0..<200 {
            let sleeper = Task { try await clock.sleep(for: .seconds(1)) }
            try await clock.waitForSleepers(1)
            async let cancelled: Void = { sleeper.cancel() }()
            clock.advance(by: .seconds(1))
            await cancelled
            _ = await sleeper.result
            #expect(clock.sleeperCount == 0)
        }
    }

    @Test("Advancing to the next sleeper moves exactly as far as it sleeps")
    func next() async throws {
        #expect(clock.advanceToNextSleeper() == nil)
        let late = Task { try await clock.sleep(for: .seconds(5)) }
        let early = Task { try await clock.sleep(for: .seconds(3)) }
        try await clock.waitForSleepers(2)
        #expect(clock.advanceToNextSleeper() == .seconds(3))
        try await early.value
        #expect(clock.advanceToNextSleeper() == .seconds(2))
        try await late.value
    }

    @Test("Limits of the library do not count among the pauses that a test means")
    func kinds() async throws {
        let limits = (1...3).map { seconds in
            Task { try await clock.alarm(at: clock.now.advanced(by: .seconds(seconds))) }
        }
        try await clock.waitForSleepers(3, .limits)
        #expect(clock.sleeperCount(.pauses) == 0 && clock.sleeperCount(.limits) == 3 && clock.sleeperCount == 3)
        #expect(clock.advanceToNextSleeper() == nil)
        let pause = Task { try await clock.sleep(for: .seconds(2)) }
        try await clock.waitForSleepers(1)
        #expect(clock.advanceToNextSleeper() == .seconds(2))
        try await pause.value
        try await limits[0].value
        #expect(clock.sleeperCount(.limits) == 1)
        #expect(clock.advanceToNextSleeper(.all) == .seconds(1))
        for limit in limits { try await limit.value }
    }

    @Test("Waiting for more sleepers than there are ends with an error that says which there are")
    func timeout() async throws {
        let pause = Task { try await clock.sleep(for: .seconds(2)) }
        let limit = Task { try await clock.alarm(at: clock.now.advanced(by: .seconds(30))) }
        try await clock.waitForSleepers(2, .all)
        let error = await #expect(throws: MockError.self) {
            try await clock.waitForSleepers(2, timeout: .milliseconds(20))
        }
        let text = try #require(error).description
        #expect(text.contains("not 2 pauses") && text.contains("a pause of 2 s, a limit of 30 s"))
        #expect(text.contains(".all") && text.contains("within 20 ms"))
        pause.cancel()
        limit.cancel()
        _ = await (pause.result, limit.result)
        let empty = await #expect(throws: MockError.self) {
            try await clock.waitForSleepers(1, timeout: .zero)
        }
        #expect(empty?.message.contains("but none") == true)
    }

    @Test("A clock that skips waits moves by itself, only forward, and heeds cancellation")
    func skipping() async throws {
        let clock = ManualClock.skippingWaits
        let start = clock.now
        try await clock.sleep(for: .seconds(3600))
        #expect(start.duration(to: clock.now) == .seconds(3600))
        try await clock.sleep(until: start)
        #expect(start.duration(to: clock.now) == .seconds(3600))
        let limit = Task { try await clock.alarm(at: start.advanced(by: .seconds(3601))) }
        try await clock.waitForSleepers(1, .limits)
        try await clock.sleep(for: .seconds(2))
        try await limit.value
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(for: .seconds(1))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
