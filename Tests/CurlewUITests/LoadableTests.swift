// SPDX-License-Identifier: MIT

import CurlewUI
import Observation
import Testing

@Suite(.timeLimit(.minutes(1)))
@MainActor
struct LoadableTests {
    let gate = Gate<String>()

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    private func make() -> Loadable<String> {
        Loadable { [gate] in try await gate.work() }
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("The state goes from idle to loading to loaded; and a second load does nothing")
    func loads() async {
        let user = make()
        #expect(user.state.word == "idle")
        async let loading: Void = user.load()
        #expect(await until { user.isLoading })
        #expect(user.state.word == "loading")
        gate.end("Emily")
        await loading
        #expect(user.state.word == "Emily")
        #expect(user.value == "Emily")
        #expect(!user.isLoading)
        await user.load()
        #expect(gate.begun == 1)
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("Loads that overlap are one")
    func joins() async {
        let user = make()
        let callers = (0..<10).map { _ in Task { await user.load() } }
        #expect(await until { gate.begun == 1 })
        gate.end("Emily")
        for caller in callers { await caller.value }
        #expect(gate.begun == 1)
        #expect(user.value == "Emily")
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("A reset forgets the value, the load in progress, and the changes in progress")
    func resets() async throws {
        let user = make()
        gate.end("Emily", of: 1)
        await user.load()
        let commit = SharedResult<String>()
        let change = Task {
            try await user.change {
                $0 += "!"
            } replacement: {
                try await commit.wait()
            }
        }
        #expect(await until { user.value == "Emily!" })
        let refreshing = Task { await user.refresh() }
        #expect(await until { gate.begun == 2 })
        user.reset()
        #expect(user.state.word == "idle")
        await refreshing.value
        #expect(gate.cancelled == 1 && user.state.word == "idle")
        gate.end("Ben", of: 3)
        await user.load()
        commit.finish(.success("Emily, changed"))
        try await change.value
        #expect(user.state.word == "Ben")
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("A failure keeps the previous value, and a retry loads the next")
    func fails() async {
        let user = make()
        gate.end("old", of: 1)
        await user.load()
        gate.fail(2)
        await user.refresh()
        #expect(user.state.word == "failed old")
        #expect(user.error?.reason == .unreachable)
        #expect(user.value == "old")
        async let retrying: Void = user.retry()
        #expect(await until { user.state.word == "loading old" })
        #expect(user.error == nil)
        gate.end("new", of: 3)
        await retrying
        #expect(user.state.word == "new")
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test(
        "Of overlapping loads the newest counts, in whatever order they end",
        arguments: [[1, 2, 3], [3, 2, 1], [2, 3, 1]])
    func newest(order: [Int]) async {
        let user = make()
        var callers: [Task<Void, Never>] = []
        for number in 1...3 {
            callers.append(Task { await user.refresh() })
            // The loads before have been cancelled before any of them gets a value.
            #expect(await until { gate.begun == number && gate.cancelled == number - 1 })
        }
        for number in order { gate.end("value \(number)", of: number) }
        for caller in callers { await caller.value }
        #expect(user.state.word == "value 3")
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("A load that is overtaken returns when the newest has settled")
    func overtaken() async {
        let user = make()
        let first = Task {
            await user.load()
            return user.state.word
        }
        #expect(await until { gate.begun == 1 })
        let second = Task { await user.refresh() }
        #expect(await until { gate.begun == 2 })
        gate.end("new", of: 2)
        await second.value
        #expect(await first.value == "new")
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("A cancelled load shows no error")
    func cancelledLoadShowsNoError() async {
        let user = make()
        let task = Task { await user.load() }
        #expect(await until { gate.begun == 1 })
        task.cancel()
        await task.value
        #expect(user.state.word == "idle")
        #expect(user.error == nil)
        #expect(await until { gate.cancelled == 1 })
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("Work that something else cancels has failed: a screen must not wait for it", arguments: [true, false])
    func cancelledWork(isOurs: Bool) async {
        let error: any Error = isOurs ? NetworkError(.cancelled) : CancellationError()
        let user = Loadable<String> { throw error }
        await user.load()
        #expect(user.error?.reason == .connectionLost(.requestMayHaveArrived))
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("cancel() returns to the previous state, error or value", arguments: ["idle", "old", "failed old"])
    func cancels(before: String) async {
        let user = make()
        gate.end("old", of: 1)
        if before != "idle" { await user.load() }
        if before == "failed old" {
            gate.fail(2)
            await user.refresh()
        }
        let next = gate.begun + 1
        let task = Task { await user.refresh() }
        if next > 1 {
            #expect(await until { gate.begun == next })
            #expect(user.isLoading)
        }
        user.cancel()
        if before != "idle" {
            await task.value
            #expect(user.state.word == before)
        } else {
            task.cancel()
            await task.value
        }
        #expect(!user.isLoading)
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("One caller leaves without disturbing another; the last one ends the work")
    func callersLeave() async {
        let user = make()
        let one = Task { await user.load() }
        let other = Task { await user.load() }
        #expect(await until { gate.begun == 1 })
        for _ in 0..<20 { await Task.yield() }
        one.cancel()
        await one.value
        #expect(user.isLoading)
        #expect(gate.cancelled == 0)
        other.cancel()
        await other.value
        #expect(!user.isLoading)
        #expect(await until { gate.cancelled == 1 })
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("The work ends with the last reference")
    func goes() async {
        var user: Loadable? = make()
        weak let witness = user
        let task = Task { [weak user] in await user?.load() }
        #expect(await until { gate.begun == 1 })
        task.cancel()
        await task.value
        user = nil
        #expect(witness == nil)
        #expect(await until { gate.cancelled == 1 })
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("A change of the state is observed")
    func observed() async {
        let user = make()
        let seen = Locked(0)
        withObservationTracking {
            _ = user.state
        } onChange: {
            seen.withLock { $0 += 1 }
        }
        gate.end("Emily")
        await user.load()
        #expect(seen.withLock { $0 } == 1)
    }

    @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
    @Test("After overlapping loads, cancellations and failures in any order the newest load counts")
    func random() async {
        let seed = UInt64.random(in: .min ... .max)
        print("LoadableTests.random: seed \(seed)")
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let gate = Gate<String>()
            let user = Loadable { try await gate.work() }
            var callers: [Task<Void, Never>] = []
            let count = Int.random(in: 1...6, using: &random)
            for number in 1...count {
                callers.append(Task { await user.refresh() })
                _ = await until { gate.begun == number }
            }
            for number in (1...count).shuffled(using: &random) {
                switch Int.random(in: 0..<3, using: &random) {
                case 0: gate.end("value \(number)", of: number)
                case 1: gate.fail(number)
                default: callers[number - 1].cancel()
                }
                if Bool.random(using: &random) { await Task.yield() }
            }
            // Waiters that have not been notified are notified now, so that none waits forever.
            gate.end("value \(count)", of: count)
            for caller in callers { await caller.value }
            #expect(!user.isLoading, "seed \(seed)")
            #expect(
                ["idle", "failed unreachable", "value \(count)"].contains(user.state.word),
                "\(user.state.word), seed \(seed)")
        }
    }
}
