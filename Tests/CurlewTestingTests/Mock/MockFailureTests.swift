// SPDX-License-Identifier: MIT

import Testing

@Suite(.timeLimit(.minutes(1)))
struct MockFailureTests {
    static let lost = NetworkError(.connectionLost(.requestMayHaveArrived))

    static func outcomes(_ occurrence: MockTransport.Occurrence, calls: Int) async -> [Bool] {
        let client = APIClient.mock {
            $0.on(GetUser.self) { User(id: $0.id, name: "Ada") }
            $0.fail(GetUser.self, occurrence, with: lost)
        }
        var results: [Bool] = []
        for _ in 0..<calls { results.append((try? await client.send(GetUser(id: 1))) != nil) }
        return results
    }

    @Test("A failure occurs always, once, a few times or at one call")
    func occurrences() async {
        #expect(await Self.outcomes(.always, calls: 3) == [false, false, false])
        #expect(await Self.outcomes(.once, calls: 3) == [false, true, true])
        #expect(await Self.outcomes(.first(2), calls: 4) == [false, false, true, true])
        #expect(await Self.outcomes(.call(3), calls: 4) == [true, true, false, true])
    }

    @Test("A failure concerns one type, one path or everything, and is the error that was given")
    func scopes() async throws {
        let client = APIClient.mock {
            $0.on(GetUser.self) { User(id: $0.id, name: "Ada") }
            $0.on(.post, "/logout", .status(204))
            $0.fail(.post, "/logout", .once, with: Self.lost)
        }
        #expect(try await client.send(GetUser(id: 1)).name == "Ada")
        let error = await #expect(throws: NetworkError.self) { try await client.send(Logout()) }
        #expect(error?.reason == .connectionLost(.requestMayHaveArrived))
        #expect(error?.request?.url == "https://mock.test/logout")
        try await client.send(Logout())

        let down = APIClient.mock { $0.fail(with: NetworkError(.unreachable)) }
        #expect(await failureReason { try await down.send(GetUser(id: 1)) } == .unreachable)
    }

    @Test("An error with a status reaches interceptors as a response")
    func status() async throws {
        let seen = Locked<[HTTPStatus]>([])
        let pipeline: Pipeline = [.onResponse { response, _ in seen.withLock { $0.append(response.status) } }]
        let client = APIClient.mock(pipeline: pipeline) {
            $0.fail(with: NetworkError(statusCode: 503, headers: [.retryAfter: "7"], body: Data("busy".utf8)))
        }
        let error = await #expect(throws: NetworkError.self) { try await client.send(GetUser(id: 1)) }
        #expect(error?.reason == .status(.serviceUnavailable))
        #expect(error?.retryAfter == .seconds(7))
        #expect(error?.response?.body == Data("busy".utf8))
        #expect(seen.withLock { $0 } == [.serviceUnavailable])
    }

    @Test("An error that a stub throws is the call's error")
    func thrown() async throws {
        struct Broken: Error {}
        let client = APIClient.mock { $0.on(GetUser.self) { _ -> User in throw Broken() } }
        let error = await #expect(throws: NetworkError.self) { try await client.send(GetUser(id: 1)) }
        #expect(error?.reason == .interceptor)
        #expect(error?.underlying is Broken)
    }

    @Test("A delayed response comes when the clock of the call says so")
    func delay() async throws {
        let clock = ManualClock()
        let configuration = APIClient.Configuration(time: clock)
        let client = APIClient.mock(configuration: configuration) {
            $0.on(GetUser.self, delay: .seconds(2)) { User(id: $0.id, name: "Ada") }
        }
        let call = Task { try await client.send(GetUser(id: 1)) }
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(2))
        #expect(try await call.value.name == "Ada")
    }

    @Test(
        "A response that would come too late is a timeout of the phase that ends first",
        arguments: [
            (Timeouts(firstByte: .seconds(1), total: .seconds(5)), NetworkError.Phase.firstByte, Duration.seconds(1)),
            (Timeouts(firstByte: .seconds(5), total: .seconds(1)), .total, .seconds(1)),
            (Timeouts(firstByte: nil, total: .seconds(4)), .total, .seconds(4)),
        ])
    func tooLate(timeouts: Timeouts, phase: NetworkError.Phase, after: Duration) async throws {
        let clock = ManualClock()
        let configuration = APIClient.Configuration(timeouts: timeouts, time: clock)
        let client = APIClient.mock(configuration: configuration) {
            $0.on(GetUser.self, delay: .seconds(60)) { User(id: $0.id, name: "Ada") }
        }
        let call = Task { try await client.send(GetUser(id: 1)) }
        try await clock.waitForSleepers(1)
        #expect(clock.advanceToNextSleeper() == after)
        #expect(await failureReason { try await call.value } == .timedOut(phase))
    }

    @Test("A cancelled call ends at once, whatever the delay")
    func cancelled() async throws {
        let clock = ManualClock()
        let configuration = APIClient.Configuration(time: clock)
        let client = APIClient.mock(configuration: configuration) {
            $0.on(Logout.self, delay: .seconds(9), .status(204))
        }
        let call = Task { try await client.send(Logout()) }
        try await clock.waitForSleepers(1)
        call.cancel()
        let error = await #expect(throws: NetworkError.self) { try await call.value }
        #expect(error?.isCancelled == true)
        #expect(clock.sleeperCount == 0)
    }
}
