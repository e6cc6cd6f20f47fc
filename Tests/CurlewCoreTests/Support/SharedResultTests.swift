// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore

@Suite(.timeLimit(.minutes(1)))
struct SharedResultTests {
    @Test("All waiters, early and late, get the first outcome")
    func outcome() async throws {
        let shot = SharedResult<Int>()
        let waiters = (0..<50).map { _ in Task { try await shot.wait() } }
        #expect(shot.finish(.success(1)))
        #expect(!shot.finish(.success(2)))
        for waiter in waiters { #expect(try await waiter.value == 1) }
        #expect(try await shot.wait() == 1)
    }

    @Test("A cancelled caller leaves alone, before or while waiting")
    func cancellation() async throws {
        let shot = SharedResult<Int>()
        let waiters = (0..<50).map { _ in Task { try await shot.wait() } }
        for waiter in waiters.prefix(25) { waiter.cancel() }
        for waiter in waiters.prefix(25) {
            await #expect(throws: CancellationError.self) { try await waiter.value }
        }
        shot.finish(.success(7))
        for waiter in waiters.suffix(25) { #expect(try await waiter.value == 7) }
    }

    @Test("A deadline ends one wait at its time")
    func deadline() async throws {
        let clock = ManualClock()
        let shot = SharedResult<Int>()
        let late = Task {
            try await shot.wait(until: SystemTime.Deadline(.seconds(1), after: clock.now), on: clock)
        }
        let patient = Task {
            try await shot.wait(until: SystemTime.Deadline(.seconds(9), after: clock.now), on: clock)
        }
        try await clock.waitForSleepers(2, .all)
        clock.advance(by: .seconds(1))
        await #expect(throws: DeadlinePassed.self) { try await late.value }
        shot.finish(.success(3))
        #expect(try await patient.value == 3)
    }

    @Test("A deadline that has passed ends the wait at once, unless the outcome is there")
    func passed() async throws {
        let clock = ManualClock()
        let shot = SharedResult<Int>()
        let past = SystemTime.Deadline(.zero, after: clock.now)
        await #expect(throws: DeadlinePassed.self) { try await shot.wait(until: past, on: clock) }
        shot.finish(.success(1))
        #expect(try await shot.wait(until: past, on: clock) == 1)
    }

    @Test("A deadline that passes while a waiter suspends is not missed", arguments: 0..<50)
    func closeDeadline(round: Int) async {
        let shot = SharedResult<Int>()
        let time = SystemTime()
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<20 {
                group.addTask {
                    let soon = SystemTime.Deadline(.microseconds(index * 3), after: time.now)
                    await #expect(throws: DeadlinePassed.self) { try await shot.wait(until: soon, on: time) }
                }
            }
        }
    }

    @Test("Concurrent waiting, finishing and cancelling loses no waiter", arguments: 0..<20)
    func races(round: Int) async {
        let shot = SharedResult<Int>()
        let waiters = (0..<40).map { _ in Task { (try? await shot.wait()) ?? -1 } }
        let finisher = Task { shot.finish(.success(round)) }
        for waiter in waiters.shuffled().prefix(20) { waiter.cancel() }
        for waiter in waiters {
            let value = await waiter.value
            #expect(value == round || value == -1)
        }
        _ = await finisher.value
    }
}
