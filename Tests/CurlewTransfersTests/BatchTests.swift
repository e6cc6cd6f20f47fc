// SPDX-License-Identifier: MIT

import CurlewTransfers
import Testing

extension Request {
    fileprivate static func number(_ number: Int) -> Request<Int> { .get("/numbers/\(number)") }
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

    @Test("Results are in the order of the inputs, one for each of them", arguments: [-1, 1, 3, 8, 100])
    func results(concurrency: Int) async throws {
        let results = try await client(failing: [3, 5]).batch(0..<40, concurrency: concurrency) { .number($0) }
        #expect(results.map { try? $0.get() } == (0..<40).map { [3, 5].contains($0) ? nil : $0 })
        #expect(try await client().batch([Int]()) { .number($0) }.isEmpty)
    }

    @Test("At most the given number of calls run at once; inputs are taken when a call can start")
    func concurrency() async throws {
        let running = Locked((now: 0, maximum: 0, ended: 0))
        let taken = Locked(0)
        let transport = RecordingTransport { _, _ in
            running.withLock {
                $0.now += 1
                $0.maximum = max($0.maximum, $0.now)
            }
            for _ in 0..<20 { await Task.yield() }
            running.withLock {
                $0.now -= 1
                $0.ended += 1
            }
            return .answer("1")
        }
        let inputs = sequence(state: 0) { (number: inout Int) -> Int? in
            let count = taken.next()
            #expect(count <= running.withLock { $0.ended } + 6)
            number += 1
            return number <= 100 ? number : nil
        }
        let results = try await APIClient.testing(transport).batch(inputs, concurrency: 6) { .number($0) }
        #expect(results.count == 100 && transport.requests.count == 100)
        #expect((2...6).contains(running.withLock { $0.maximum }))
    }

    @Test("Cancelling the task ends all calls, starts no more, and throws")
    func cancellation() async throws {
        let transport = RecordingTransport { _, _ in
            try await waitForCancellation()
            return .answer("1")
        }
        let client = APIClient.testing(transport)
        let task = Task {
            await failure { () async throws(NetworkError) in _ = try await client.batch(0..<1000) { .number($0) } }
        }
        try await yieldUntil { transport.requests.count == 8 }
        task.cancel()
        #expect(await task.value?.isCancelled == true)
        #expect(transport.requests.count == 8)
    }

    @MainActor
    @Test("Requests are created on the caller's actor")
    func isolation() async throws {
        var created = 0
        let results = try await client().batch(0..<20, concurrency: 3) { number in
            MainActor.assertIsolated()
            created += 1
            return .number(number)
        }
        #expect(created == 20 && results.count == 20)
    }
}
