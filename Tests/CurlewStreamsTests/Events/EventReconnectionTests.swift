// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewStreams

@Suite(.timeLimit(.minutes(1)))
struct EventReconnectionTests {
    @Test("The wait is the reconnection time after an end, and random and doubling after failures")
    func waits() {
        func wait(_ plan: ReconnectionDelay, _ random: Double, retryAfter: Duration? = nil) -> Duration {
            plan.wait(retryAfter: retryAfter, random: random)
        }
        var plan = ReconnectionDelay(initial: .seconds(3), maximum: .seconds(60))
        #expect(wait(plan, 0.5) == .seconds(3))
        for bound in [3.0, 6, 12, 24, 48, 60, 60] {
            plan.fail()
            #expect(wait(plan, 0) == .zero)
            #expect(wait(plan, 0.5) == .seconds(bound / 2))
        }
        #expect(wait(plan, 0.5, retryAfter: .seconds(100)) == .seconds(100))
        #expect(wait(plan, 0.5, retryAfter: .seconds(1)) == .seconds(30))
        plan.request(milliseconds: 10_000)
        #expect(wait(plan, 0) == .seconds(10))
        #expect(wait(plan, 0.5) == .seconds(35))
        plan.request(milliseconds: .max)
        #expect(wait(plan, 0.9) == .seconds(86_400))
        plan.request(milliseconds: 0)
        plan.succeed()
        #expect(wait(plan, 0.9) == .milliseconds(100), "A server cannot request connections without a pause.")
        plan.fail()
        #expect(wait(plan, 0) == .milliseconds(100))
        for _ in 0..<100 { plan.fail() }
        #expect(wait(plan, 0.5) == .milliseconds(30_050))
    }

    @Test("Connections that never deliver an event wait longer and longer", arguments: 0..<10 as Range<UInt64>)
    func neverMoves(seed: UInt64) async throws {
        let (clock, random) = (PauseLog(), Locked(SeededGenerator(seed: seed)))
        let mock = MockTransport.answering { _ in
            try random.withLock { random in
                let bodies = [
                    "", ":", ":\n\n", "\n\n\n", "\u{FEFF}", "retry: 0\n\n", "id: 1\n\n", "event: a\n\n", "data: half\n",
                ]
                let bytes = Data((bodies.randomElement(using: &random) ?? "").utf8)
                return switch Int.random(in: 0..<6, using: &random) {
                case 0: .status([.requestTimeout, .tooManyRequests, .badGateway].randomElement(using: &random) ?? .ok)
                case 1: throw NetworkError(.unreachable)
                case 2: .events(bytes, failing: NetworkError(.badResponse), random: &random)
                case 3: .events(bytes, failing: NetworkError(.connectionLost(.requestNotSent)), random: &random)
                default: .events(bytes, failing: nil, random: &random)
                }
            }
        }
        var options = EventStream.Options()
        options.retryDelay = .zero
        options.maximumFailures = 60
        let client = APIClient.mock(mock, configuration: .init(time: clock))
        await #expect(throws: NetworkError.self) { try await client.events(.get("/"), options: options).collect() }
        clock.expectBackoff(of: 60, from: 0.1, to: 60)
        #expect(mock.requestCount == 61)
    }

    @Test("A connection that delivers only comments works if it does so after 10 s", arguments: [9, 10])
    func comments(seconds: Int) async throws {
        let clock = PauseLog()
        let mock = MockTransport.answering { _ in
            let body = AsyncStream<Data> { source in
                source.yield(Data(":\n".utf8))
                source.finish()
            }
            return HTTPResponse(
                headers: [.contentType: "text/event-stream"],
                body: ResponseBody(
                    body.map { chunk in
                        clock.advance(by: .seconds(seconds))
                        return chunk
                    }))
        }
        var options = EventStream.Options()
        options.maximumFailures = 3
        let stream = APIClient.mock(mock, configuration: .init(time: clock))
            .events(.get("/"), options: options)
        let reader = Task { try await stream.collect() }
        try await yieldUntil { mock.requestCount >= 20 || stream.state == .closed }
        reader.cancel()
        await #expect(throws: NetworkError.self) { try await reader.value }
        #expect((mock.requestCount > 4) == (seconds >= 10))
    }

    @Test("The stream waits for the time of the retry field, and shows it")
    func retryField() async throws {
        let clock = ManualClock()
        let mock = MockTransport.sequence([.events("retry: 7000\n\ndata: a\n\n")])
        let stream = APIClient.events(mock, on: clock).events(.get("/"))
        async let events = stream.collect()
        try await clock.waitForSleepers(1)
        #expect(stream.state == .waiting(until: clock.date.addingTimeInterval(7), after: nil))
        clock.advance(by: .milliseconds(6999))
        #expect(clock.sleeperCount(.pauses) == 1)
        #expect(mock.requestCount == 1)
        clock.advance(by: .milliseconds(1))
        #expect(try await events.map(\.data) == ["a"])
        #expect(mock.requestCount == 2)
    }

    @Test("The stream waits for Retry-After")
    func retryAfter() async throws {
        let clock = ManualClock()
        let mock = MockTransport.sequence([.status(.serviceUnavailable, headers: [.retryAfter: "90"])])
        let stream = APIClient.events(mock, on: clock).events(.get("/"))
        async let events = stream.collect()
        try await clock.waitForSleepers(1)
        #expect(
            stream.state
                == .waiting(until: clock.date.addingTimeInterval(90), after: NetworkError(statusCode: 503)))
        clock.advance(by: .seconds(90))
        #expect(try await events.isEmpty)
    }

    @Test("A connection without a byte for the read timeout is lost")
    func readTimeout() async throws {
        let clock = ManualClock()
        let isRead = Locked(false)
        let (silence, source) = AsyncStream.makeStream(of: Void.self)
        let body = AsyncStream<Data> {
            isRead.withLock { $0 = true }
            for await _ in silence {}
            return nil
        }
        let mock = MockTransport.sequence([
            HTTPResponse(headers: [.contentType: "text/event-stream"], body: ResponseBody(body))
        ])
        var options = EventStream.Options()
        options.readTimeout = .seconds(20)
        let stream = APIClient.events(mock, on: clock).events(.get("/"), options: options)
        let events = Task { try await stream.collect() }
        try await yieldUntil { isRead.withLock { $0 } && clock.sleeperCount(.limits) > 0 }
        clock.advance(by: .milliseconds(19_999))
        #expect(stream.state == .open)
        clock.advance(by: .milliseconds(1))
        try await clock.waitForSleepers(1)
        guard case .waiting(_, let error) = stream.state else {
            Issue.record("\(stream.state)")
            return
        }
        #expect(error?.reason == .timedOut(.idle))
        #expect(error?.request != nil)
        clock.advance(by: .seconds(3))
        #expect(try await events.value.isEmpty)
        source.finish()
    }

    @Test("A body that breaks off within its coding or its framing is a lost connection")
    func brokenBody() async throws {
        let broken = Locked(2)
        let mock = MockTransport.answering { call in
            guard broken.withLock({ $0 }) > 0 else { return .status(.noContent) }
            let number = broken.withLock {
                $0 -= 1; return 2 - $0
            }
            return .events { stream in
                try await stream.send("a", id: "\(number)")
                throw NetworkError(.badResponse, detail: "The content ended within its coding.")
            }
        }
        let stream = APIClient.events(mock).events(.get("/"))
        #expect(try await stream.collect().map(\.id) == ["1", "2"])
        #expect(mock.requests.map { $0.request.headers["Last-Event-ID"] } == [nil, "1", "2"])
    }

    @Test("Time in which the caller does not read does not count for the read timeout")
    func readPause() async throws {
        let clock = ManualClock()
        let fed = FedEvents()
        let mock = MockTransport.sequence([fed.response])
        var options = EventStream.Options()
        options.readTimeout = .seconds(20)
        let stream = APIClient.events(mock, on: clock).events(.get("/"), options: options)
        var iterator = stream.makeAsyncIterator()
        fed.send("data: a\n\n")
        #expect(try await iterator.next()?.data == "a")
        for _ in 0..<3 {
            try await yieldUntil { clock.sleeperCount(.limits) > 0 }
            clock.advance(by: .seconds(20))
        }
        try await yieldUntil { clock.sleeperCount(.limits) > 0 }
        fed.send("data: b\n\n")
        #expect(try await iterator.next()?.data == "b")
        #expect(stream.state == .open)
    }

    @Test("The states of a stream are visible in their order")
    func states() async throws {
        let clock = ManualClock.skippingWaits
        let mock = MockTransport.sequence([.events("data: a\n\n")])
        var stream: EventStream? = APIClient.events(mock, on: clock).events(.get("/"))
        let states = try #require(stream?.states)
        let until = clock.date.addingTimeInterval(3)
        _ = try await stream?.collect()
        stream = nil
        var seen: [EventStream.State] = []
        for await state in states { seen.append(state) }
        #expect(seen == [.idle, .connecting, .open, .waiting(until: until, after: nil), .connecting, .closed])
    }

    @Test("A restart leaves the connection, and connects at once with the last event ID")
    func restart() async throws {
        let clock = ManualClock()
        let (first, second) = (FedEvents(), FedEvents())
        let mock = MockTransport.sequence([first.response, second.response])
        let stream = APIClient.events(mock, on: clock).events(.get("/"))
        stream.restart()
        let events = Task { try await stream.collect() }
        first.send("id: 3\ndata: a\n\n")
        try await yieldUntil { stream.lastEventID == "3" }
        stream.restart()
        try await yieldUntil { first.isClosed }
        try await mock.waitForRequests(2)
        #expect(clock.sleeperCount(.pauses) == 0)
        second.send("data: b\n\n")
        second.finish()
        // The third connection is due in three seconds, and a restart ends the wait.
        try await clock.waitForSleepers(1)
        stream.restart()
        #expect(try await events.value.map(\.data) == ["a", "b"])
        #expect(mock.requests.map { $0.request.headers["Last-Event-ID"] } == [nil, "3", "3"])
    }

    @Test("Events that have arrived before a restart are delivered")
    func restartKeeps() async throws {
        let mock = MockTransport.sequence([.events("data: a\n\ndata: b\n\n"), .events("data: c\n\n")])
        let stream = APIClient.events(mock).events(.get("/"))
        var events: [String] = []
        for try await event in stream {
            events.append(event.data)
            if events.count == 1 { stream.restart() }
        }
        #expect(events == ["a", "b", "c"])
    }

    @Test("Cancelling the task closes the connection at once, whatever the stream waits for")
    func cancellation() async throws {
        let fed = FedEvents()
        let reading = Task { try await APIClient.events(.sequence([fed.response])).events(.get("/")).collect() }
        fed.send("data: a\n\n")
        reading.cancel()
        await #expect(throws: NetworkError(.cancelled)) { try await reading.value }

        let open = FedEvents()
        let stream = APIClient.events(.sequence([open.response])).events(.get("/"))
        let waiting = Task { try await stream.collect() }
        try await yieldUntil { stream.state == .open }
        waiting.cancel()
        await #expect(throws: NetworkError(.cancelled)) { try await waiting.value }
        try await yieldUntil { open.isClosed }
        #expect(stream.state == .closed)

        let clock = ManualClock()
        let pausing = Task {
            try await APIClient.events(.sequence([.events("")]), on: clock).events(.get("/")).collect()
        }
        try await clock.waitForSleepers(1)
        pausing.cancel()
        await #expect(throws: NetworkError(.cancelled)) { try await pausing.value }
    }

    @Test("Leaving the loop closes the connection")
    func leaving() async throws {
        let fed = FedEvents()
        fed.send("data: a\n\n")
        let stream = APIClient.events(.sequence([fed.response])).events(.get("/"))
        for try await event in stream {
            #expect(event.data == "a")
            #expect(!fed.isClosed)
            break
        }
        try await yieldUntil { fed.isClosed }
        #expect(stream.state == .closed)
    }
}
