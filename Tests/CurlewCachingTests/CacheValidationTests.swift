// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCaching
@testable import CurlewCore

/// Calls that find the same stale entry at the same time: one asks the server, and the others wait for it.
@Suite(.timeLimit(.minutes(1)))
struct CacheValidationTests {
    /// A server that answers validations on request, one after the other.
    private final class Validated: Sendable {
        let gates = (0..<4).map { _ in SharedResult<HTTPResponse>() }
        private let count = Locked(0)
        let directives: String

        init(_ directives: String = "max-age=1") { self.directives = directives }

        var validations: Int { count.withLock { $0 } }

        var good: HTTPResponse { .status(304, headers: [.cacheControl: directives, .eTag: "\"1\""]) }

        func answer(_ call: RecordedRequest) async throws -> HTTPResponse {
            guard call.request.headers[.ifNoneMatch] != nil else {
                return .data(Data("old".utf8), headers: [.cacheControl: directives, .eTag: "\"1\""])
            }
            let number = count.withLock { count in
                count += 1
                return count - 1
            }
            return try await gates[min(number, gates.count - 1)].wait()
        }

        func reaches(_ number: Int) async throws {
            try await yieldUntil { validations >= number }
        }
    }

    private static func stale(_ server: Validated) async throws -> CacheFixture {
        let fixture = CacheFixture { try await server.answer($0) }
        _ = try await fixture.text()
        fixture.clock.advance(by: .seconds(5))
        return fixture
    }

    /// One call that asks the server, and this many that wait for it. Each waiting call sleeps until its deadline.
    private static func begin(
        _ count: Int, _ fixture: CacheFixture, _ server: Validated
    ) async throws -> (Task<HTTPResponse, any Error>, [Task<HTTPResponse, any Error>]) {
        let leader = Task { try await fixture.send() }
        try await server.reaches(1)
        let others = (0..<count).map { _ in Task { try await fixture.send() } }
        try await fixture.clock.waitForSleepers(count, .all)
        return (leader, others)
    }

    @Test("A hundred concurrent calls are one validation", arguments: ["max-age=1", "no-cache", "max-age=0"])
    func one(directives: String) async throws {
        let server = Validated(directives)
        let fixture = try await Self.stale(server)
        let (leader, others) = try await Self.begin(99, fixture, server)
        server.gates[0].finish(.success(server.good))
        for call in [leader] + others {
            let response = try await call.value
            #expect(response.served == .revalidated)
            #expect(try await response.text() == "old")
        }
        #expect(server.validations == 1)
    }

    @Test("Waiting calls get the new response when the server has sent one")
    func replaced() async throws {
        let server = Validated()
        let fixture = try await Self.stale(server)
        let (leader, others) = try await Self.begin(20, fixture, server)
        server.gates[0].finish(
            .success(.data(Data("new".utf8), headers: [.cacheControl: "max-age=60", .eTag: "\"2\""])))
        for call in [leader] + others { #expect(try await call.value.text() == "new") }
        #expect(server.validations == 1)
    }

    enum Trouble: CaseIterable { case cancelled, failed, refused }

    @Test("A call that is cancelled or fails leaves its permit to the next one", arguments: Trouble.allCases)
    func next(_ trouble: Trouble) async throws {
        let server = Validated()
        let fixture = try await Self.stale(server)
        let (leader, others) = try await Self.begin(9, fixture, server)
        switch trouble {
        case .cancelled: leader.cancel()
        case .failed: server.gates[0].finish(.failure(NetworkError(.unreachable)))
        case .refused: server.gates[0].finish(.success(.status(503)))
        }
        try await server.reaches(2)
        // Usually one validation serves all who waited. A call that found the entry stale before that validation was
        // stored, and comes to wait after it, asks once more: it must get a response too.
        for gate in server.gates.dropFirst() { gate.finish(.success(server.good)) }
        for call in others {
            #expect(try await call.value.text() == "old")
        }
        if trouble == .refused {
            #expect(try await leader.value.status == 503)
        } else {
            await #expect(throws: NetworkError.self) { _ = try await leader.value }
        }
        #expect(server.validations >= 2)
    }

    @Test("A call waits for two validations that fail, and not for a third")
    func failing() async throws {
        let server = Validated()
        let fixture = try await Self.stale(server)
        let (leader, others) = try await Self.begin(9, fixture, server)
        for gate in server.gates { gate.finish(.failure(NetworkError(.unreachable))) }
        for call in [leader] + others {
            await #expect(throws: NetworkError.self) { _ = try await call.value }
        }
        #expect(server.validations == 10, "each has heard of a failure of its own")
    }

    @Test("A waiting call keeps its deadline and its cancellation")
    func ownEnd() async throws {
        let server = Validated()
        let fixture = try await Self.stale(server)
        let (leader, others) = try await Self.begin(2, fixture, server)
        let hurried = Task { try await fixture.send(timeouts: Timeouts(total: .seconds(1))) }
        try await fixture.clock.waitForSleepers(3, .all)
        others[0].cancel()
        #expect(await ending(others[0]).reason == .cancelled)
        fixture.clock.advance(by: .seconds(1))
        #expect(await ending(hurried).reason == .timedOut(.total))
        server.gates[0].finish(.success(server.good))
        #expect(try await leader.value.served == .revalidated)
        #expect(try await others[1].value.served == .revalidated)
        #expect(server.validations == 1)
    }

    @Test("A waiting call whose time ends gets the stale response where stale-if-error allows that")
    func hurriedStandIn() async throws {
        let server = Validated("max-age=1, stale-if-error=60")
        let fixture = try await Self.stale(server)
        let (leader, others) = try await Self.begin(1, fixture, server)
        let hurried = Task { try await fixture.send(timeouts: Timeouts(total: .seconds(1))) }
        try await fixture.clock.waitForSleepers(2, .all)
        fixture.clock.advance(by: .seconds(1))
        let response = try await hurried.value
        #expect(response.served != .revalidated)
        #expect(try await response.text() == "old")
        server.gates[0].finish(.success(server.good))
        for call in [leader] + others { #expect(try await call.value.served == .revalidated) }
        #expect(server.validations == 1)
    }

    @Test("A server that fails does so once for calls that may take the stale response then", arguments: [true, false])
    func sharedFailure(isStatus: Bool) async throws {
        let server = Validated("max-age=1, stale-if-error=60")
        let fixture = try await Self.stale(server)
        let (leader, others) = try await Self.begin(9, fixture, server)
        server.gates[0].finish(isStatus ? .success(.status(503)) : .failure(NetworkError(.unreachable)))
        for call in [leader] + others { #expect(try await call.value.text() == "old") }
        #expect(server.validations == 1)
    }

    @Test("A call that asks for a validation waits for none that began before it", arguments: [true, false])
    func strict(byPolicy: Bool) async throws {
        let server = Validated()
        let fixture = try await Self.stale(server)
        let (leader, others) = try await Self.begin(1, fixture, server)
        let headers: HTTPHeaders = byPolicy ? [:] : [.cacheControl: "no-cache"]
        let policy: HTTPCache.Policy = byPolicy ? .validate : .useProtocol
        let strict = Task { try await fixture.send(headers: headers) { $0.cachePolicy = policy } }
        try await server.reaches(2)
        server.gates[1].finish(.success(server.good))
        #expect(try await strict.value.served == .revalidated)
        server.gates[0].finish(.success(server.good))
        for call in [leader] + others { #expect(try await call.value.served == .revalidated) }
        #expect(server.validations == 2)
    }

    @Test(
        "A waiting call takes the response only if it is still for that call",
        arguments: [
            [.cacheControl: "max-age=60", .vary: "Accept-Language"], [.cacheControl: "no-store"],
        ] as [HTTPHeaders])
    func turned(fields: HTTPHeaders) async throws {
        let server = Validated()
        let fixture = try await Self.stale(server)
        let leader = Task { try await fixture.send(headers: ["Accept-Language": "en"]) }
        try await server.reaches(1)
        let other = Task { try await fixture.send(headers: ["Accept-Language": "de"]) }
        try await fixture.clock.waitForSleepers(1, .all)
        server.gates[0].finish(.success(.status(304, headers: fields)))
        #expect(try await leader.value.served == .revalidated)
        #expect(try await other.value.served == .network)
        #expect(server.validations == 1)
    }

    @Test("A change that ends first is seen by the waiting calls")
    func changed() async throws {
        let server = Validated()
        let fixture = try await Self.stale(server)
        let (leader, others) = try await Self.begin(3, fixture, server)
        _ = try await fixture.store.remove(.everything)
        server.gates[0].finish(.success(server.good))
        #expect(try await leader.value.served == .network)
        for call in others { #expect(try await call.value.served != .revalidated, "what was removed is not used") }
    }
}
