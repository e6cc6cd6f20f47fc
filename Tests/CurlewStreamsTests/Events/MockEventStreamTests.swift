// SPDX-License-Identifier: MIT

import CurlewStreams
import TestServers
import Testing

/// Scripted event streams of `MockTransport`.
@Suite(.timeLimit(.minutes(1)))
struct MockEventStreamTests {
    private static let once: EventStream.Options = {
        var options = EventStream.Options()
        options.reconnects = false
        return options
    }()

    @Test("Steps become events, and comments do not")
    func steps() async throws {
        let mock = MockTransport {
            $0.on(.get, "/") { _ in
                .events([
                    .event("a\r\nb\rc\nd", name: "news", id: "1", retry: .seconds(2)), .comment("one\ntwo"), .event(""),
                    .text("data: raw\n"), .bytes(Data("\n".utf8)),
                ])
            }
        }
        let events = try await APIClient.events(mock).events(.get("/"), options: Self.once).collect()
        #expect(
            events == [
                ServerEvent(name: "news", data: "a\nb\nc\nd", id: "1", retry: .seconds(2)),
                ServerEvent(data: "", id: "1"), ServerEvent(data: "raw", id: "1"),
            ])
    }

    @Test("An interruption loses the connection, and a stall keeps it", arguments: MockResponse.Interruption.allCases)
    func interruptions(interruption: MockResponse.Interruption) async throws {
        let mock = MockTransport {
            $0.on(.get, "/") { _ in .events([.event("one"), .interruption(interruption), .event("two")]) }
        }
        var events = APIClient.events(mock).events(.get("/"), options: Self.once).makeAsyncIterator()
        #expect(try await events.next()?.data == "one")
        guard interruption == .stall else {
            #expect(await failureReason { try await events.next() } == .connectionLost(.requestMayHaveArrived))
            return
        }
        let client = APIClient.events(mock, on: ManualClock())
        let (arrived, reader) = (Signal(), Locked<Task<Void, any Error>?>(nil))
        let task = Task {
            for try await _ in client.events(.get("/"), options: Self.once) { arrived.fire() }
        }
        reader.withLock { $0 = task }
        await arrived.wait()
        task.cancel()
        let error = await #expect(throws: NetworkError.self) { try await task.value }
        #expect(error?.isCancelled == true)
    }

    @Test("A pause waits on the clock of the mock")
    func pauses() async throws {
        let clock = ManualClock()
        let mock = MockTransport {
            $0.on(.get, "/") { _ in .events([.event("one"), .pause(.seconds(3600)), .event("two")], on: clock) }
        }
        var events = APIClient.events(mock).events(.get("/"), options: Self.once).makeAsyncIterator()
        #expect(try await events.next()?.data == "one")
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(3600))
        #expect(try await events.next()?.data == "two")
        #expect(try await events.next() == nil)
    }

    @Test("A script waits for the reader, and its error is the stream's")
    func script() async throws {
        let written = Locked(0)
        let mock = MockTransport {
            $0.on(.get, "/") { _ in
                .events { stream in
                    for number in 1...10 {
                        try await stream.send("\(number)")
                        written.withLock { $0 = number }
                    }
                    throw NetworkError(.unreachable)
                }
            }
        }
        var events = APIClient.events(mock).events(.get("/"), options: Self.once).makeAsyncIterator()
        for number in 1...10 {
            #expect(try await events.next()?.data == "\(number)")
            #expect(written.withLock { $0 } <= number)
        }
        #expect(await failureReason { try await events.next() } == .unreachable)
    }

    @Test("A reader that goes away ends the script")
    func release() async throws {
        let (ended, reason) = (Signal(), Locked<NetworkError.Reason?>(nil))
        let mock = MockTransport {
            $0.on(.get, "/") { _ in
                .events { stream in
                    defer { ended.fire() }
                    do throws(NetworkError) {
                        while true { try await stream.send("a") }
                    } catch {
                        reason.withLock { $0 = error.reason }
                        throw error
                    }
                }
            }
        }
        let client = APIClient.events(mock)
        do {
            var events = client.events(.get("/"), options: Self.once).makeAsyncIterator()
            #expect(try await events.next()?.data == "a")
        }
        await ended.wait()
        #expect([.connectionLost(.requestMayHaveArrived), .cancelled].contains(reason.withLock { $0 }))
    }
}
