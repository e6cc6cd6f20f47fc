// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore

@Suite(.timeLimit(.minutes(1)))
struct MonitorTests {
    /// Places that tasks take, and the order in which they have taken them.
    private struct Places: Sendable {
        var free: Int
        var taken: [Int] = []

        mutating func take(_ task: Int) -> Int? {
            guard free > 0 else { return nil }
            free -= 1
            taken.append(task)
            return task
        }
    }

    /// Begins the waits of tasks, one after the other. A wait checks its condition once more while it is queued.
    private func tasks(_ count: Int, at places: Monitor<Places>) async -> [Task<Int?, Never>] {
        let checks = Monitor<[Int: Int]>([:])
        var tasks: [Task<Int?, Never>] = []
        for number in 0..<count {
            let task = Task {
                await places.wait { places in
                    checks.withLock { $0[number, default: 0] += 1 }
                    return places.take(number)
                }
            }
            tasks.append(task)
            await checks.wait { $0[number, default: 0] >= 2 ? () : nil }
        }
        return tasks
    }

    @Test("A condition that holds ends the wait at once, also that of a cancelled task")
    func immediate() async {
        let monitor = Monitor(1)
        #expect(await monitor.wait { $0 == 1 ? "one" : nil } == "one")
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await (monitor.wait { $0 == 1 ? "one" : nil }, monitor.wait { $0 == 2 ? "two" : nil })
        }
        #expect(await cancelled.value == ("one", nil))
        #expect(await monitor.waitThroughCancellation { $0 == 1 ? true : nil })
    }

    @Test("Tasks continue in the order in which they began to wait")
    func order() async {
        let places = Monitor(Places(free: 0))
        let tasks = await tasks(20, at: places)
        for _ in 0..<5 { places.withLock { $0.free += 1 } }
        places.withLock { $0.free += 15 }
        for (number, task) in tasks.enumerated() { #expect(await task.value == number) }
        #expect(places.withLock { $0.taken } == Array(0..<20))
    }

    @Test("A cancelled wait ends alone, and its turn goes to the next")
    func cancellation() async {
        let places = Monitor(Places(free: 0))
        let tasks = await tasks(6, at: places)
        for number in [0, 3] { tasks[number].cancel() }
        for number in [0, 3] { #expect(await tasks[number].value == nil) }
        places.withLock { $0.free += 4 }
        for number in [1, 2, 4, 5] { #expect(await tasks[number].value == number) }
        #expect(places.withLock { ($0.taken, $0.free) } == ([1, 2, 4, 5], 0))
    }

    @Test("A condition that changes the value ends waits that began before and after its own")
    func chain() async {
        let monitor = Monitor(0)
        let tasks = [3, 1, 2, 4].map { step in
            Task {
                await monitor.wait { value -> Int? in
                    guard value == step else { return nil }
                    value += 1
                    return step
                }
            }
        }
        monitor.withLock { $0 = 1 }
        var steps: [Int?] = []
        for task in tasks { steps.append(await task.value) }
        #expect(steps == [3, 1, 2, 4])
        #expect(monitor.withLock { $0 } == 5)
    }

    @Test("A change before an error ends waits too")
    func error() async {
        let monitor = Monitor(0)
        let task = Task { await monitor.wait { $0 == 7 ? $0 : nil } }
        #expect(throws: CancellationError.self) {
            try monitor.withLock { value throws(CancellationError) in
                value = 7
                throw CancellationError()
            }
        }
        #expect(await task.value == 7)
    }

    @Test("A wait through cancellation ends with its condition only")
    func patience() async {
        let (monitor, isWaiting) = (Monitor(false), Monitor(false))
        let task = Task {
            await monitor.waitThroughCancellation { isOver -> Bool? in
                isWaiting.withLock { $0 = true }
                return isOver ? true : nil
            }
        }
        await isWaiting.wait { $0 ? () : nil }
        task.cancel()
        let later = Task { await monitor.waitThroughCancellation { $0 ? true : nil } }
        later.cancel()
        monitor.withLock { $0 = true }
        #expect(await task.value)
        #expect(await later.value)
    }

    @Test("Under concurrent changes and cancellations each wait ends once with what it took")
    func race() async {
        let rounds = 5_000
        let monitor = Monitor(0)
        let taken = await withTaskGroup(of: Int.self) { group in
            for round in 0..<rounds {
                group.addTask {
                    let task = Task {
                        await monitor.wait { free -> Bool? in
                            guard free > 0 else { return nil }
                            free -= 1
                            return true
                        }
                    }
                    // Every second task is certain of its place.
                    async let place: Void = monitor.withLock { $0 += round % 2 }
                    if round % 2 == 0 { task.cancel() }
                    await place
                    return await task.value == true ? 1 : 0
                }
            }
            // A cancelled task may take a place that another waits for.
            group.addTask {
                monitor.withLock { $0 += rounds }
                return 0
            }
            return await group.reduce(0, +)
        }
        #expect(taken >= rounds / 2)
        #expect(monitor.withLock { $0 } == rounds + rounds / 2 - taken)
    }
}
