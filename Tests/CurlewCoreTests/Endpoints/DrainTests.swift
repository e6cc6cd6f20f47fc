// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore
@testable import CurlewResilience

@Suite(.timeLimit(.minutes(1)))
struct DrainTests {
    let clock = ManualClock()
    let gate = SharedResult<Void>()
    let limit = ConcurrencyLimit(1)

    private func client() -> APIClient {
        let (gate, turns) = (gate, Locked(0))
        let mock = MockTransport.answering { _ in
            let turn = turns.next()
            if turn == 1 { return .status(503) }
            try await gate.wait()
            return .status(204)
        }
        return .mock(
            mock, pipeline: [RetryInterceptor(random: { 0.5 }), .concurrencyLimit(limit)],
            configuration: .init(time: clock))
    }

    private func call(_ client: APIClient) -> Task<NetworkError.Reason?, Never> {
        Task { await client.failure(Request<Void>.get("/"))?.reason }
    }

    @Test("A drain lets queued and pausing calls finish; new calls fail, of derived clients too")
    func drains() async throws {
        let client = client()
        let pausing = call(client)
        // The pause before the second attempt.
        try await clock.waitForSleepers(1, .all)
        let waiting = (0..<5).map { _ in call(client.with(headers: ["Accept": "text/plain"])) }
        try await yieldUntil { limit.load.running + limit.load.waiting >= 5 }
        #expect(await !client.drain(for: .zero))
        #expect(await call(client.with(options: RequestOptions())).value == .refused(by: .shutdown))
        let drained = Task { await client.drain(for: .seconds(1000)) }
        clock.advance(by: .seconds(1))
        gate.finish(.success(()))
        #expect(await pausing.value == nil)
        for call in waiting { #expect(await call.value == nil) }
        #expect(await drained.value)
        #expect(await call(client).value == .refused(by: .shutdown))
    }

    @Test("A drain ends with its time, and says that calls are left")
    func late() async throws {
        let client = client()
        let pausing = call(client)
        try await clock.waitForSleepers(1, .all)
        let drained = Task { await client.drain(for: .milliseconds(10)) }
        try await clock.waitForSleepers(2, .all)
        clock.advance(by: .milliseconds(10))
        #expect(await !drained.value)
        gate.finish(.success(()))
        clock.advance(by: .seconds(1))
        #expect(await pausing.value == nil)
    }

    @Test("A drain of a client without calls returns at once")
    func idle() async {
        #expect(await client().drain(for: .zero))
    }
}
