// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewTesting
import CurlewTransfers
import Testing

extension Request {
    static func number(_ number: Int) -> Request<Int> { .get("/numbers/\(number)") }
}

@Suite(.timeLimit(.minutes(1)))
struct BatchTests {
    /// A client that responds with the number in the path. `numbers` fail with 404 if `failing` contains them.
    private func client(failing: Set<Int> = []) -> APIClient {
        .mock { mock in
            mock.on(.get, "/numbers/:n") { call in
                let number = try #require(Int(call.parameters["n"] ?? ""))
                for _ in 0..<(number * 7 % 5) { await Task.yield() }
                return failing.contains(number) ? .status(404) : .json(number)
            }
        }
    }

    @Test("values are in the order of the inputs, from requests, inputs and work", arguments: [1, 3, 8, 100])
    func values(concurrency: Int) async throws {
        let client = client()
        #expect(try await client.batch(0..<40, concurrency: concurrency) { .number($0) }.values() == Array(0..<40))
        let requests = (0..<10).map { Request<Int>.number($0) }
        #expect(try await client.batch(requests, concurrency: concurrency).values() == Array(0..<10))
        let pairs = client.batch(0..<10, concurrency: concurrency) { number in
            let first = try await client.send(.number(number))
            return [first, try await client.send(.number(number + 1))]
        }
        #expect(try await pairs.values() == (0..<10).map { [$0, $0 + 1] })
        #expect(try await client.batch([Int]()) { .number($0) }.values().isEmpty)
    }

    @Test("the first error ends values, and results have one for each input")
    func errors() async throws {
        let client = client(failing: [3, 5])
        let batch = client.batch(0..<8, concurrency: 2) { .number($0) }
        let error = await failure { () async throws(NetworkError) in _ = try await batch.values() }
        #expect(error?.isNotFound == true)
        let results = try await batch.results()
        #expect(results.map { try? $0.get() } == [0, 1, 2, nil, 4, nil, 6, 7])
        struct Odd: Error {}
        let own = client.batch(0..<3) { number in
            if number == 1 { throw Odd() }
            return number
        }
        let results2 = try await own.results()
        guard case .failure(let second) = results2[1] else { throw Odd() }
        #expect(second.underlying is Odd)
    }

    @Test("an error starts no further calls and cancels those under way")
    func cancelsTheRest() async throws {
        let transport = RecordingTransport { request, _ in
            if request.target.utf8.last == UInt8(ascii: "0") { return .answer(.notFound, "{}") }
            try await waitForCancellation()
            return .answer("1")
        }
        let batch = APIClient.testing(transport).batch(0..<1000, concurrency: 4) { .number($0) }
        let error = await failure { () async throws(NetworkError) in _ = try await batch.values() }
        #expect(error?.isNotFound == true && transport.requests.count <= 4)
    }

    @Test("inputs are taken only when a call can start", arguments: [false, true])
    func lazily(inOrder: Bool) async throws {
        let taken = Locked(0)
        let inputs = sequence(state: 0) { (next: inout Int) -> Int? in
            taken.withLock { $0 += 1 }
            next += 1
            return next
        }
        struct Enough: Error {}
        var seen = 0
        await #expect(throws: Enough.self) {
            try await client().batch(inputs, concurrency: 5) { .number($0) }.forEach(inOrder: inOrder) { outcome in
                seen += 1
                #expect(taken.withLock { $0 } <= seen + 5)
                if inOrder { #expect(outcome.index == seen - 1 && outcome.input == seen) }
                if seen == 200 { throw Enough() }
            }
        }
        #expect(seen == 200 && taken.withLock { $0 } <= 205)
    }

    @Test("at most `concurrency` calls are under way")
    func concurrency() async throws {
        let running = Locked((now: 0, most: 0))
        let transport = RecordingTransport { _, _ in
            running.withLock {
                $0.now += 1
                $0.most = max($0.most, $0.now)
            }
            for _ in 0..<20 { await Task.yield() }
            running.withLock { $0.now -= 1 }
            return .answer("1")
        }
        _ = try await APIClient.testing(transport).batch(0..<100, concurrency: 6) { .number($0) }.values()
        #expect((2...6).contains(running.withLock { $0.most }) && transport.requests.count == 100)
    }

    @Test("outcomes arrive as the calls end, or in order")
    func order() async throws {
        let isOpen = Locked(false)
        let transport = RecordingTransport { request, _ in
            if request.target.utf8.last == UInt8(ascii: "0") { try await yieldUntil { isOpen.withLock { $0 } } }
            return .answer("1")
        }
        let batch = APIClient.testing(transport).batch(0..<4, concurrency: 4) { .number($0) }
        var arrived: [Int] = []
        try await batch.forEach { outcome in
            arrived.append(outcome.input)
            if arrived.count == 3 { isOpen.withLock { $0 = true } }
        }
        #expect(arrived.last == 0 && arrived.sorted() == [0, 1, 2, 3])
        arrived = []
        try await batch.forEach(inOrder: true) { arrived.append($0.input) }
        #expect(arrived == [0, 1, 2, 3])
    }

    @Test("cancelling the task ends all calls, and each method throws")
    func cancellation() async throws {
        let transport = RecordingTransport { _, _ in
            try await waitForCancellation()
            return .answer("1")
        }
        let client = APIClient.testing(transport)
        let tasks = [
            Task {
                await failure { () async throws(NetworkError) in
                    _ = try await client.batch(0..<9) { .number($0) }.values()
                }
            },
            Task {
                await failure { () async throws(NetworkError) in
                    _ = try await client.batch(0..<9) { .number($0) }.results()
                }
            },
        ]
        let third = Task { try await client.batch(0..<9) { .number($0) }.forEach { _ in } }
        try await yieldUntil { transport.requests.count == 24 }
        tasks.forEach { $0.cancel() }
        third.cancel()
        for task in tasks { #expect(await task.value?.isCancelled == true) }
        let error = await #expect(throws: NetworkError.self) { try await third.value }
        #expect(error?.isCancelled == true && transport.requests.count == 24)
    }

    @Test("progress counts the calls, and knows the total of a collection")
    @MainActor
    func progress() async throws {
        let client = client(failing: [1])
        var told: [APIClient.BatchProgress] = []
        let batch = client.batch(Array(0..<4), concurrency: 1, progress: { told.append($0) }) { .number($0) }
        _ = try await batch.results()
        #expect(told.map(\.completed) == [0, 1, 2, 3, 4] && told.map(\.failed) == [0, 0, 1, 1, 1])
        #expect(told.allSatisfy { $0.total == 4 } && told.last?.fraction == 1)
        told = []
        let endless = AnySequence([1, 2])
        _ = try await client.batch(endless, progress: { told.append($0) }) { .number($0) }.results()
        #expect(told.last?.completed == 2 && told.last?.total == nil && told.last?.fraction == nil)
        #expect(APIClient.BatchProgress(total: 0).fraction == 1)
    }

    @Test("outcomes and progress are delivered on the caller's actor")
    @MainActor
    func isolation() async throws {
        var shown: [Int] = []
        let batch = client().batch(0..<5, progress: { _ in MainActor.assertIsolated() }) { .number($0) }
        try await batch.forEach {
            MainActor.assertIsolated()
            shown.append($0.index)
        }
        #expect(shown.count == 5)
    }

    @Test("the window starts no more than its width, and restores the order")
    func window() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let width = Int.random(in: 1...6, using: &random)
            let inOrder = Bool.random(using: &random)
            var window = BatchWindow<Int>(width: width, inOrder: inOrder)
            var running: [Int] = []
            var delivered: [Int] = []
            var started = 0
            while delivered.count < 40 {
                while started < 40, window.hasRoom {
                    running.append(window.begin())
                    started += 1
                }
                #expect(started - delivered.count <= width, "seed \(seed)")
                let index = running.remove(at: Int.random(in: 0..<running.count, using: &random))
                delivered += window.end(index, at: index)
            }
            #expect(inOrder ? delivered == Array(0..<40) : delivered.sorted() == Array(0..<40), "seed \(seed)")
        }
    }
}
