// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewTesting

/// Cases for the shutdown of a transport.
enum ShutdownCases {
    private static let refused = NetworkError.Reason.refused(by: .shutdown)

    static let all = [
        ConformanceCase(
            "work in flight ends with the transport, in every phase", .shutdown,
            rule: "TransportConfiguration.ShutdownMode.now"
        ) {
            trial in
            let server = try trial.server()
            server.on(.get, "/silent", respond: MockResponse().stalled(at: .beforeHead))
            server.on(.get, "/half", respond: .generated(bytes: 1000).stalled(at: .afterBytes(500)))
            // The body never arrives completely. The part that arrives is larger than the socket buffers, and smaller
            // than the amount that an engine without back-pressure may buffer.
            server.on(.get, "/body", respond: .generated(bytes: 30_000_000).stalled(at: .afterBytes(13_000_000)))
            let transport = try trial.transport(TransportConfiguration(bodyBuffer: 16_384))
            let get = { @Sendable (path: String) in
                try await trial.exchange(.get, server.url + path, timeouts: .none, over: transport)
            }
            let paused = try await get("/body").body
            let tasks = ["/silent", "/half", "/half"].map { path in Task { _ = try await get(path).data() } }
            try await server.waitForRequests(count: 4, timeout: .seconds(15))
            await trial.shutDown(transport)
            for task in tasks { try await trial.expectFailure(refused) { try await task.value } }
            try await trial.expectFailure(refused) { _ = try await paused.collect() }
        },
        ConformanceCase(
            "a transport that has ended refuses new work", .shutdown, rule: "TransportConfiguration.ShutdownMode"
        ) { trial in
            let server = try trial.server()
            server.on(.get, "/", respond: .text("ok"))
            for wasUsed in [false, true] {
                let transport = try trial.transport()
                if wasUsed { try await trial.expectText(trial.exchange(.get, server.url + "/", over: transport), "ok") }
                for _ in 0..<2 { await trial.shutDown(transport) }
                for _ in 0..<2 {
                    try await trial.expectFailure(refused) {
                        _ = try await trial.exchange(.get, server.url + "/", over: transport)
                    }
                }
            }
        },
        ConformanceCase(
            "a transport that drains lets its work finish and refuses more", .shutdown,
            rule: "TransportConfiguration.ShutdownMode.drain"
        ) {
            trial in
            let server = try trial.server()
            server.on(.get, "/", respond: .generated(bytes: 200_000).delayed(by: .milliseconds(200)))
            let transport = try trial.transport()
            let task = Task { try await trial.exchange(.get, server.url + "/", over: transport).data() }
            try await server.waitForRequests(count: 1)
            async let ended: Void = trial.shutDown(transport, .drain(deadline: .seconds(20)))
            try trial.equal(try await task.value, MockResponse.pattern(0..<200_000), "the body")
            await ended
            try await trial.expectFailure(refused) {
                _ = try await trial.exchange(.get, server.url + "/", over: transport)
            }
            try trial.equal(server.requestCount, 1, "the number of requests")
        },
        ConformanceCase(
            "a transport drains no longer than its deadline", .shutdown,
            rule: "TransportConfiguration.ShutdownMode.drain"
        ) {
            trial in
            let server = try trial.server(answering: .text("never").stalled(at: .beforeHead))
            let transport = try trial.transport()
            let task = Task { _ = try await trial.exchange(.get, server.url + "/", timeouts: .none, over: transport) }
            try await server.waitForRequests(count: 1)
            let start = SuspendingClock.now
            await trial.shutDown(transport, .drain(deadline: .milliseconds(200)))
            try await trial.expectFailure(refused) { try await task.value }
            let elapsed = SuspendingClock.now - start
            try trial.expect(elapsed >= .milliseconds(150), "the work was ended after \(elapsed)")
            try trial.expect(elapsed < .seconds(10), "it took \(elapsed)")
        },
        ConformanceCase(
            "calls that race with the end of the transport end one way or the other", .shutdown,
            rule: "TransportConfiguration.ShutdownMode"
        ) {
            trial in
            let server = try trial.server()
            server.on(.get, "/", respond: .text("ok"))
            for round in 0..<5 {
                let transport = try trial.transport()
                let tasks = (0..<20).map { _ in
                    Task { try await trial.exchange(.get, server.url + "/", over: transport).text() }
                }
                for _ in 0..<(round * 20) { await Task.yield() }
                await trial.shutDown(transport)
                for task in tasks {
                    do {
                        try trial.equal(try await task.value, "ok", "the body")
                    } catch let error as NetworkError {
                        try trial.equal(error.reason, refused, "the reason")
                    }
                }
            }
        },
    ]
}
