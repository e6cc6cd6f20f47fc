// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewTesting

/// Cases for connections that end prematurely: in three ways, at each of five stages. Connections that stall are in
/// `TimeoutCases`.
enum InterruptionCases {
    static let places: [(name: String, stage: MockResponse.Stage)] = [
        ("before the request is read", .beforeRequestRead), ("before the head", .beforeHead),
        ("inside the head", .insideHead), ("after the head", .afterHead),
        ("in the middle of the body", .afterBytes(70_000)),
    ]

    private static let ways: [(name: String, interruption: MockResponse.Interruption)] = [
        ("a close", .close), ("a half-close", .halfClose), ("a reset", .reset),
    ]

    static let all =
        ways.flatMap { way, interruption in
            places.map { place, stage in
                ConformanceCase("\(way) \(place) is a lost connection", .interruptions, rule: "RFC 9112 §8, §9.6") {
                    trial in
                    let server = try trial.server()
                    for streaming in [false, true] {
                        // On a reused connection, the transport would repeat the request.
                        let transport = try trial.transport()
                        server.enqueue(
                            .generated(bytes: 200_000).interrupted(by: interruption, at: stage), .text("good"))
                        try await trial.expectFailure(.connectionLost(.requestMayHaveArrived)) {
                            let response = try await trial.exchange(.get, server.url + "/", over: transport) {
                                $0.streaming = streaming
                            }
                            _ = try await response.data()
                        }
                        try await trial.expectText(trial.exchange(.get, server.url + "/", over: transport), "good")
                    }
                }
            }
        } + more

    private static let more = [
        ConformanceCase(
            "a reset in the middle of an upload is a lost connection", .interruptions, rule: "RFC 9112 §9.5"
        ) { trial in
            let server = try trial.server(answering: .text("x").reset(at: .beforeRequestRead), .text("good"))
            try await trial.expectFailure(.connectionLost(.requestMayHaveArrived)) {
                let body = RequestBody.bytes(Data(count: 3_000_000))
                _ = try await trial.exchange(.post, server.url + "/", body: body)
            }
            try await trial.expectText(trial.exchange(.get, server.url + "/"), "good")
        },
        ConformanceCase(
            "a body that breaks off fails where it is read, with its beginning given", .interruptions,
            rule: "RFC 9112 §8"
        ) { trial in
            let server = try trial.server(answering: .generated(bytes: 500_000).truncated(after: 300_000))
            let response = try await trial.exchange(.get, server.url + "/") { $0.streaming = true }
            try trial.equal(response.status, .ok, "the status")
            let received = Locked(Data())
            try await trial.expectFailure(.connectionLost(.requestMayHaveArrived)) {
                for try await chunk in response.body { received.withLock { $0 += chunk } }
            }
            try trial.equal(received.withLock { $0 }, MockResponse.pattern(0..<300_000), "what came before the end")
        },
    ]
}
