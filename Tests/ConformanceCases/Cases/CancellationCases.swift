// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewTesting

/// Cases for cancelled tasks: in every phase, the exchange ends immediately and the transport remains usable.
enum CancellationCases {
    static let all = phases + edges

    private static let phases =
        [nil].map { (recipe: BodyRecipe?) in beforeHead(recipe) } + BodyRecipe.allCases.map { beforeHead($0) } + [
            ConformanceCase("cancelling inside a handshake ends it", .cancellation, rule: "Transport: cancellation") {
                trial in
                let server = try trial.server(answering: .text("never").stalled(at: .beforeRequestRead))
                try await trial.expectCancelled(when: { server.queuedResponses == 0 }, closing: server) {
                    _ = try await trial.exchange(.get, "https://127.0.0.1:\(server.port)/", timeouts: .none)
                }
            },
            ConformanceCase(
                "cancelling inside the head ends the exchange", .cancellation, rule: "Transport: cancellation"
            ) {
                trial in
                let server = try trial.server(answering: .text("never").stalled(at: .insideHead))
                try await trial.expectCancelled(when: { server.sentBytes > 0 }, closing: server) {
                    _ = try await trial.exchange(.get, server.url + "/", timeouts: .none)
                }
            },
            ConformanceCase(
                "cancelling inside a small body ends the exchange", .cancellation, rule: "Transport: cancellation"
            ) {
                trial in
                let server = try trial.server(answering: .text("hello").stalled(at: .afterBytes(2)))
                try await trial.expectCancelled(when: { server.sentBytes > 2 }, closing: server) {
                    _ = try await trial.exchange(.get, server.url + "/", timeouts: .none).data()
                }
            },
            ConformanceCase(
                "cancelling a reader that waits ends the transfer", .cancellation, rule: "Transport: cancellation"
            ) {
                trial in
                let server = try trial.server(answering: .generated(bytes: 300_000).stalled(at: .afterBytes(200_000)))
                let received = Locked(0)
                try await trial.expectCancelled(when: { received.withLock { $0 } == 200_000 }, closing: server) {
                    let response = try await trial.exchange(.get, server.url + "/", timeouts: .none) {
                        $0.streaming = true
                    }
                    for try await chunk in response.body { received.withLock { $0 += chunk.count } }
                }
            },
            ConformanceCase(
                "cancelling a reader that pauses ends the transfer", .cancellation, rule: "Transport: cancellation"
            ) {
                trial in
                let server = try trial.server(answering: .generated(bytes: 60_000_000))
                let transport = try trial.transport(TransportConfiguration(bodyBuffer: 16_384))
                let isPaused = Locked(false)
                try await trial.expectCancelled(when: { isPaused.withLock { $0 } }, closing: server) {
                    let response = try await trial.exchange(.get, server.url + "/", timeouts: .none, over: transport)
                    isPaused.withLock { $0 = true }
                    try? await SystemTime().sleep(for: .seconds(20))
                    _ = try await response.chunksJoined()
                }
            },
            ConformanceCase(
                "cancelling an upload that the server does not read ends it", .cancellation,
                rule: "Transport: cancellation"
            ) {
                trial in
                let server = try trial.server(answering: .text("never").stalled(at: .beforeRequestRead))
                // The server would detect the end of the connection only after bytes that it never reads, so the case
                // does not wait for that.
                try await trial.expectCancelled(when: { server.connectionCount == 1 }) {
                    let body = RequestBody.bytes(Data(count: 30_000_000))
                    _ = try await trial.exchange(.put, server.url + "/", body: body, timeouts: .none)
                }
            },
            ConformanceCase(
                "cancelling an upload without a producer's data ends its producer", .cancellation,
                rule: "Transport: cancellation"
            ) { trial in
                let server = try trial.server()
                let stuck = Stuck()
                try await trial.expectCancelled(when: { stuck.hasBegun }, closing: server) {
                    let body = RequestBody.stream { .init(stuck) }
                    _ = try await trial.exchange(.put, server.url + "/", body: body, timeouts: .none)
                }
                try await trial.eventually("the producer's task is cancelled") { stuck.hasEnded }
            },
            ConformanceCase(
                "cancelling a call that waits for a connection ends it", .cancellation, rule: "Transport: cancellation"
            ) { trial in
                let server = try trial.server(answering: .text("never").stalled(at: .beforeHead))
                let transport = try trial.transport(
                    TransportConfiguration(pool: TransportConfiguration.Pool(perHost: 1)))
                let held = Task { try await trial.exchange(.get, server.url + "/", timeouts: .none, over: transport) }
                try await server.waitForRequests(count: 1)
                let isSent = Locked(false)
                try await trial.expectCancelled(when: { isSent.withLock { $0 } }) {
                    isSent.withLock { $0 = true }
                    _ = try await trial.exchange(.get, server.url + "/", timeouts: .none, over: transport)
                }
                held.cancel()
                try await trial.expectFailure(.cancelled) { _ = try await held.value }
            },
        ]

    private static func beforeHead(_ recipe: BodyRecipe?) -> ConformanceCase {
        let what = recipe.map { "a body from \($0.rawValue)" } ?? "no body"
        return ConformanceCase(
            "cancelling before the head ends the exchange, with \(what)", .cancellation, rule: "Transport: cancellation"
        ) { trial in
            let server = try trial.server(answering: .text("never").stalled(at: .beforeHead))
            let body = try recipe?.body(MockResponse.pattern(0..<100_000), trial) ?? .empty
            try await trial.expectCancelled(when: { server.requestCount == 1 }, closing: server) {
                _ = try await trial.exchange(.post, server.url + "/", body: body, timeouts: .none)
            }
        }
    }

    private static let edges = [
        ConformanceCase(
            "a task that is cancelled already sends nothing", .cancellation, .message, rule: "Transport: cancellation"
        ) {
            trial in
            let server = try trial.server(answering: .text("never"))
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                _ = try await trial.exchange(.get, server.url + "/")
            }
            try await trial.expectFailure(.cancelled) { try await task.value }
            try trial.equal(server.requestCount, 0, "the number of requests")
        },
        ConformanceCase(
            "cancelling after the end changes nothing", .cancellation, .message, rule: "Transport: cancellation"
        ) {
            trial in
            let server = try trial.server(answering: .generated(bytes: 200_000))
            let task = Task {
                let response = try await trial.exchange(.get, server.url + "/")
                let bytes = try await response.data()
                withUnsafeCurrentTask { $0?.cancel() }
                response.body.cancel()
                return bytes
            }
            try trial.equal(try await task.value, MockResponse.pattern(0..<200_000), "the body")
        },
        ConformanceCase(
            "a body that is released unread ends its transfer", .cancellation, rule: "ResponseBody"
        ) { trial in
            let transport = try trial.transport(TransportConfiguration(bodyBuffer: 16_384))
            for hasBegun in [false, true] {
                let server = try trial.server(answering: .generated(bytes: 60_000_000), .text("next"))
                func open() async throws {
                    let response = try await trial.exchange(.get, server.url + "/", over: transport)
                    var chunks = response.body.makeAsyncIterator()
                    if hasBegun { try trial.expect(try await chunks.next() != nil, "the body is empty") }
                }
                try await open()
                try await trial.eventually("the connection is closed") { server.openConnections == 0 }
                try await trial.expectText(trial.exchange(.get, server.url + "/", over: transport), "next")
            }
        },
        ConformanceCase(
            "a body that was dropped throws where it is read", .cancellation, rule: "ResponseBody.cancel()"
        ) { trial in
            let server = try trial.server(answering: .generated(bytes: 30_000_000))
            let response = try await trial.exchange(.get, server.url + "/")
            response.body.cancel()
            try await trial.expectFailure(.cancelled) { _ = try await response.chunksJoined() }
        },
    ]
}

extension ConformanceTrial {
    /// Runs `work`, cancels it when `isThere` returns true, and expects that it fails with `.cancelled` within ten
    /// seconds. With `server`, also expects that the connection is closed and the next exchange succeeds.
    func expectCancelled(
        when isThere: () -> Bool, closing server: MockServer? = nil, work: @escaping @Sendable () async throws -> Void
    ) async throws {
        let task = Task { try await work() }
        try await eventually("the phase in which to cancel", isThere)
        let start = SuspendingClock.now
        task.cancel()
        try await expectFailure(.cancelled) { try await task.value }
        let elapsed = SuspendingClock.now - start
        try expect(elapsed < .seconds(10), "it ended \(elapsed) after it was cancelled")
        guard let server else { return }
        try await eventually("the server's connection is closed") { server.openConnections == 0 }
        server.enqueue(.text("still there"))
        try await expectText(exchange(.get, server.url + "/"), "still there")
    }
}

/// A producer that waits and produces no chunk. It records whether it has begun and has ended.
private final class Stuck: AsyncSequence, Sendable {
    private let state = Locked((hasBegun: false, hasEnded: false))

    var hasBegun: Bool { state.withLock { $0.hasBegun } }
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    func makeAsyncIterator() -> Iterator { Iterator(owner: self) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let owner: Stuck

        mutating func next() async throws -> Data? {
            owner.state.withLock { $0.hasBegun = true }
            defer { owner.state.withLock { $0.hasEnded = true } }
            try await SystemTime().sleep(for: .seconds(60))
            return nil
        }
    }
}
