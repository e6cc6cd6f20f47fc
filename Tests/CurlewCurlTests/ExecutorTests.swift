// SPDX-License-Identifier: MIT

import CCurl
import Testing

/// Tasks on the thread of an event loop.
@Suite(.timeLimit(.minutes(1)))
struct ExecutorTests {
    private static var isOnLoop: Bool { curlew_current_loop() != nil }

    @Test("Calls of a task on the executor stay on the thread of the event loop", arguments: [1, 3])
    func stays(loops: Int) async throws {
        let server = try MockServer.always(.text("hello"))
        // On a busy machine a step may take so long that the next ones leave the thread.
        var stays = false
        for _ in 0..<10 where !stays {
            let transport = CurlTransport(options: CurlTransport.Options(eventLoops: loops))
            stays = try await Task(executorPreference: transport.executor) {
                var stays = true
                for _ in 0..<20 {
                    let text = try await transport.exchange(.get, server.url + "/").text()
                    stays = stays && Self.isOnLoop
                    #expect(text == "hello")
                }
                return stays
            }.value
            await transport.shutdown()
        }
        #expect(stays)
    }

    @Test("After a long step, the steps of tasks leave the thread of the event loop")
    func longStep() async throws {
        let transport = CurlTransport(options: CurlTransport.Options(eventLoops: 1))
        let steps = await Task(executorPreference: transport.executor) {
            let first = Self.isOnLoop
            let end = ContinuousClock.now + .milliseconds(20)
            while ContinuousClock.now < end {}
            for _ in 0..<3 { await Task.yield() }
            return [first, Self.isOnLoop]
        }.value
        #expect(steps == [true, false])
        await transport.shutdown()
    }
}
