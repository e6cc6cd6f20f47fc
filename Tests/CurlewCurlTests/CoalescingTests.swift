// SPDX-License-Identifier: MIT

import CurlewCaching
import CurlewCore
import CurlewCurl
import CurlewHTTP
import CurlewTesting
import Foundation
import Testing

/// Calls that share one exchange, over real sockets.
@Suite(.timeLimit(.minutes(1)))
struct CoalescingTests {
    /// Counts the calls that joined another one's exchange.
    private final class Joins: RequestObserver {
        private let count = Locked(0)
        private let target: Int
        let reached = Signal()

        init(_ target: Int) { self.target = target }

        func record(_ event: ExchangeEvent, in context: ExchangeContext) {
            guard case .joined = event else { return }
            let joined = count.withLock { count in
                count += 1
                return count
            }
            if joined == target { reached.fire() }
        }
    }

    private func client(_ server: MockServer, _ joins: Joins) throws -> APIClient {
        APIClient(
            baseURL: try BaseURL(server.url), pipeline: .standard.adding(.coalescing()), transport: CurlTransport(),
            configuration: APIClient.Configuration(observers: [joins]))
    }

    @Test("a thousand calls at once are one request to the server")
    func thousand() async throws {
        let server = try MockServer()
        let joins = Joins(999)
        // The server answers once all calls are in progress.
        server.on(.get, "/report") { _ in
            joins.reached.block()
            return .text("the report")
        }
        let client = try client(server, joins)
        let texts = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<1000 { group.addTask { try await client.send(Request<String>.get("/report")) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(texts == Array(repeating: "the report", count: 1000))
        #expect(server.requestCount == 1)
    }

    @Test("a large body is read by one call, the others ask for themselves, and all get it whole")
    func large() async throws {
        let server = try MockServer()
        let joins = Joins(19)
        let size = 4_000_000
        server.on(.get, "/film") { _ in
            joins.reached.block()
            return .generated(bytes: size)
        }
        let client = try client(server, joins)
        let whole = pattern(size)
        let right = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<20 {
                group.addTask {
                    let response = try await client.send(Request<HTTPResponse>(.get, "/film"))
                    var data = Data()
                    for try await chunk in response.body {
                        data += chunk
                        for _ in 0..<number { await Task.yield() }
                    }
                    return data == whole
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(right == 20)
        #expect(server.requestCount == 20)
    }

    @Test("when the last one leaves, the connection is dropped")
    func leaving() async throws {
        let server = try MockServer()
        let joins = Joins(9)
        let isOver = Signal()
        server.on(.get, "/slow") { _ in
            isOver.block()
            return .text("late")
        }
        defer { isOver.fire() }
        let client = try client(server, joins)
        let calls = (0..<10).map { _ in Task { try await client.send(Request<String>.get("/slow")) } }
        await joins.reached.wait()
        _ = try await server.waitForRequests(count: 1)
        for call in calls { call.cancel() }
        for call in calls { #expect(await outcome(call).reason == .cancelled) }
        #expect(server.requestCount == 1)
    }
}
