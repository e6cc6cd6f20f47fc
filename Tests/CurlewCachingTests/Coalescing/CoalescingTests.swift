// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCaching
@testable import CurlewCore

@Suite(.timeLimit(.minutes(1)))
struct CoalescingTests {
    @Test("A thousand equal calls are one request, and all get its response")
    func thousand() async throws {
        let sharing = Sharing()
        let calls = (0..<1000).map { _ in Task { try await sharing.client.send(Request<Int>.get("/x")) } }
        try await sharing.joins.tally.reaches(999)
        sharing.origin.open()
        for call in calls { #expect(try await call.value == 1) }
        #expect(sharing.origin.sent.count == 1)
        #expect(Set(sharing.joins.joined.map(\.exchange)).count == 1)
        #expect(Set(sharing.joins.joined.map(\.call)).count == 999)
    }

    @Test("A call after the response sends another request")
    func later() async throws {
        let sharing = Sharing()
        sharing.origin.open()
        for _ in 0..<3 { _ = try await sharing.client.send(Request<Int>.get("/x")) }
        #expect(sharing.origin.sent.count == 3)
        #expect(sharing.joins.tally.count == 0)
    }

    @Test("All callers receive an error")
    func errors() async throws {
        let sharing = Sharing { _ in throw NetworkError(.unreachable, detail: "gone") }
        let calls = try await sharing.begin(20)
        sharing.origin.open()
        for call in calls { #expect(await ending(call).reason == .unreachable) }
        #expect(sharing.origin.sent.count == 1)
    }

    @Test("All callers receive an unsuccessful status, with its body")
    func statuses() async throws {
        let sharing = Sharing { _ in .answer(.notFound, "none") }
        let calls = try await sharing.begin(5)
        sharing.origin.open()
        for call in calls {
            guard case .failure(let error) = await ending(call) else {
                Issue.record("404 is an error")
                continue
            }
            #expect(error.response.map { String(decoding: $0.body, as: UTF8.self) } == "none")
        }
    }

    @Test("A cancelled caller leaves alone, also the first one")
    func cancellation() async throws {
        let sharing = Sharing()
        let calls = try await sharing.begin(6)
        for call in calls.prefix(3) { call.cancel() }
        for call in calls.prefix(3) { #expect(await ending(call).reason == .cancelled) }
        #expect(sharing.origin.cancelled.count == 0)
        sharing.origin.open()
        for call in calls.suffix(3) { #expect(try await call.value == 1) }
        #expect(sharing.origin.sent.count == 1)
    }

    @Test("The exchange ends when the last caller leaves, and the next call begins another")
    func last() async throws {
        let sharing = Sharing()
        let calls = try await sharing.begin(3)
        for call in calls { call.cancel() }
        try await sharing.origin.cancelled.reaches(1)
        for call in calls { #expect(await ending(call).reason == .cancelled) }
        let next = try await sharing.begin(1)
        #expect(sharing.origin.sent.count == 2)
        sharing.origin.open()
        #expect(try await next[0].value == 1)
    }

    @Test("Each call keeps its own deadline")
    func deadlines() async throws {
        let sharing = Sharing()
        func begin(_ seconds: Int) async throws -> Task<Int, any Error> {
            try await sharing.begin(
                Request<Int>.get("/x").options {
                    $0.timeouts = Timeouts(connect: nil, firstByte: nil, idle: nil, total: .seconds(seconds))
                })
        }
        let (long, short, middle) = (try await begin(9), try await begin(1), try await begin(2))
        #expect(sharing.origin.sent.count == 1)
        try await sharing.clock.waitForSleepers(1, .all)
        sharing.clock.advance(by: .seconds(1))
        #expect(await ending(short).reason == .timedOut(.total))
        try await sharing.clock.waitForSleepers(1, .all)
        sharing.clock.advance(by: .seconds(1))
        #expect(await ending(middle).reason == .timedOut(.total))
        #expect(sharing.origin.cancelled.count == 0)
        sharing.origin.open()
        #expect(try await long.value == 1)
    }

    @Test("The last caller's deadline ends the exchange")
    func lastDeadline() async throws {
        let sharing = Sharing(total: .seconds(5))
        let calls = try await sharing.begin(3)
        try await sharing.clock.waitForSleepers(1, .all)
        sharing.clock.advance(by: .seconds(5))
        for call in calls { #expect(await ending(call).reason == .timedOut(.total)) }
        try await sharing.origin.cancelled.reaches(1)
    }

    @Test("No alarm outlives its exchange")
    func alarms() async throws {
        let sharing = Sharing(total: .seconds(5))
        let calls = try await sharing.begin(3)
        try await sharing.clock.waitForSleepers(1, .all)
        sharing.origin.open()
        for call in calls { _ = try await call.value }
        try await yieldUntil { sharing.clock.sleeperCount == 0 }
    }

    @Test("The exchange has the priority of the most urgent waiting call")
    func priority() async throws {
        let sharing = Sharing()
        let slow = try await sharing.begin(Request<Int>.get("/x"), priority: .background)
        let urgent = try await sharing.begin(Request<Int>.get("/x"), priority: .high)
        #expect(sharing.origin.sent.count == 1)
        sharing.origin.open(at: .high)
        _ = try await (slow.value, urgent.value)
        #expect(sharing.origin.lastPriority == .high)
    }

    @Test("A call with a higher priority at its host does not wait behind others")
    func requestPriority() async throws {
        let sharing = Sharing()
        func begin(_ priority: RequestOptions.Priority?) async throws -> Task<Int, any Error> {
            try await sharing.begin(Request<Int>.get("/x").options { $0.priority = priority })
        }
        let calls = [
            try await begin(.low), try await begin(.low), try await begin(nil), try await begin(.low),
            try await begin(.high), try await begin(.normal),
        ]
        #expect(sharing.origin.sent.count == 3)
        sharing.origin.open()
        for call in calls { #expect(try await call.value == 1) }
    }

    @Test("Redirects are shared hop by hop")
    func redirects() async throws {
        let sharing = Sharing([.redirects(), .coalescing()]) { request in
            guard request.target == "/v1/x" else { return .answer("2") }
            return HTTPResponse(status: .found, headers: [.location: "https://cdn.example/y"])
        }
        let calls = try await sharing.begin(10)
        sharing.origin.open()
        for call in calls { #expect(try await call.value == 2) }
        #expect(sharing.origin.sent.count < 20)
    }
}
