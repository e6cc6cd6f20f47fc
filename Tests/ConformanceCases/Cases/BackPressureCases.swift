// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewTesting

/// Cases for back-pressure: readers that are slower than the server, and servers that are slower than an upload.
enum BackPressureCases {
    static let all = readers + uploads

    private static let size = 60_000_000

    private static let readers =
        [false, true].map { hasBegun in
            ConformanceCase(
                "while a reader \(hasBegun ? "pauses" : "has not begun"), the server can fill only the buffers",
                .backPressure, rule: "Transport: back-pressure"
            ) { trial in
                let server = try trial.server(answering: .generated(bytes: size))
                let transport = try trial.transport(TransportConfiguration(bodyBuffer: 100_000))
                let limits = Limits(responseBody: .max)
                let response = try await trial.exchange(.get, server.url + "/", limits: limits, over: transport)
                var iterator = response.body.makeAsyncIterator()
                var received = hasBegun ? try await iterator.next()?.count ?? 0 : 0
                // The system's socket buffers hold up to about ten megabytes.
                let sent = try await trial.standstill { server.sentBytes }
                try trial.expect(sent < size / 3, "the server has sent \(sent) bytes to a reader that does not read")
                while let chunk = try await iterator.next() { received += chunk.count }
                try trial.equal(received, size, "the number of bytes in the end")
            }
        }
        + [
            ConformanceCase(
                "readers that pause now and then get every byte", .backPressure, rule: "Transport: back-pressure"
            ) { trial in
                let server = try trial.server()
                server.on(.get, "/", respond: .generated(bytes: 3_000_000))
                server.on(.get, "/chunked", respond: .generated(bytes: 3_000_000, chunked: true))
                let transport = try trial.transport(TransportConfiguration(bodyBuffer: 16_384))
                let expected = MockResponse.pattern(0..<3_000_000)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for index in 0..<6 {
                        group.addTask {
                            let url = server.url + (index % 2 == 0 ? "/" : "/chunked")
                            let response = try await trial.exchange(.get, url, over: transport)
                            var received = Data()
                            for try await chunk in response.body {
                                received += chunk
                                for _ in 0..<(received.count % 7) * 20 { await Task.yield() }
                            }
                            try trial.equal(received, expected, "the body")
                        }
                    }
                    try await group.waitForAll()
                }
            }
        ]

    private static let uploads = [
        ConformanceCase(
            "a producer is asked for the next chunk only when there is room", .backPressure,
            rule: "RequestBody.stream(length:replay:make:)"
        ) { trial in
            let server = try trial.server(answering: .text("never").stalled(at: .beforeRequestRead))
            let produced = Locked(0)
            let task = Task {
                let body = RequestBody.stream {
                    .init(
                        AsyncStream {
                            produced.withLock { $0 += 1 }
                            return Data(count: 100_000)
                        })
                }
                _ = try await trial.exchange(.put, server.url + "/", body: body, timeouts: .none)
            }
            let count = try await trial.standstill { produced.withLock { $0 } }
            task.cancel()
            try trial.expect(count < 300, "\(count) chunks were produced for a server that takes none")
            try await trial.expectFailure(.cancelled) { try await task.value }
        },
        ConformanceCase(
            "a response before the end of an upload is given to the caller, and the producer stops", .backPressure,
            rule: "RFC 9112 §9.3, RFC 9110 §10.1.1"
        ) { trial in
            let server = try trial.server(answering: .text("stop", status: .contentTooLarge).early().closing())
            let produced = Locked(0)
            let body = RequestBody.stream {
                .init(
                    AsyncStream {
                        produced.withLock { $0 += 1 }
                        return Data(count: 16_384)
                    })
            }
            let response = try await trial.exchange(.post, server.url + "/", body: body)
            try trial.equal(response.status, .contentTooLarge, "the status")
            try await trial.expectText(response, "stop")
            let after = produced.withLock { $0 }
            try await SystemTime().sleep(for: .milliseconds(50))
            try trial.expect(produced.withLock { $0 } <= after + 2, "the producer goes on after the response")
        },
        ConformanceCase(
            "an early response to a long upload is given to the caller, and the next call gets its own", .backPressure,
            rule: "RFC 9112 §9.3"
        ) { trial in
            let server = try trial.server(answering: .text("early", status: .forbidden).early(), .text("next"))
            let response = try await trial.exchange(.put, server.url + "/", body: .bytes(Data(count: 5_000_000)))
            try trial.equal(response.status, .forbidden, "the status")
            try await trial.expectText(response, "early")
            try await trial.expectText(trial.exchange(.get, server.url + "/"), "next")
        },
    ]
}
