// SPDX-License-Identifier: MIT

import CurlewCaching
import Testing

/// Bodies that still arrive when the head of a shared exchange is there: one call reads them.
@Suite(.timeLimit(.minutes(2)))
struct SharedBodyTests {
    static let chunks = (0..<64).map { Data(repeating: UInt8($0), count: 1000) }
    static let whole = chunks.reduce(Data(), +)

    /// A client that shares, whose responses have bodies from these sources.
    private final class Sources: Sendable {
        private let all = Locked<[ChunkSource]>([])
        let waitsAtEnd: Bool

        init(waitsAtEnd: Bool = false) { self.waitsAtEnd = waitsAtEnd }

        var made: [ChunkSource] { all.withLock { $0 } }

        func response() -> HTTPResponse {
            let source = ChunkSource(SharedBodyTests.chunks, waitsAtEnd: waitsAtEnd)
            all.withLock { $0.append(source) }
            return HTTPResponse(body: ResponseBody(source, limit: 1 << 20, length: 64_000))
        }
    }

    private static func request(_ total: Duration? = nil) -> Request<HTTPResponse> {
        Request<HTTPResponse>(.get, "/x").options {
            $0.timeouts = Timeouts(connect: nil, firstByte: nil, idle: nil, total: total)
        }
    }

    private static func begin(_ count: Int, _ sharing: Sharing) async throws -> [Task<HTTPResponse, any Error>] {
        var calls: [Task<HTTPResponse, any Error>] = []
        for _ in 0..<count { calls.append(try await sharing.begin(request())) }
        return calls
    }

    private static func read(_ body: ResponseBody) async -> (Data, NetworkError?) {
        var all = Data()
        do {
            for try await chunk in body { all += chunk }
            return (all, nil)
        } catch {
            return (all, NetworkError(error))
        }
    }

    @Test("One call reads the shared body, the others send requests, and all get all bytes", arguments: [1, 2, 20])
    func everything(count: Int) async throws {
        let sources = Sources()
        let sharing = Sharing { _ in sources.response() }
        let calls = try await Self.begin(count, sharing)
        sharing.origin.open()
        for call in calls {
            let response = try await call.value
            #expect(response.body.declaredLength == 64_000)
            #expect(await Self.read(response.body) == (Self.whole, nil))
        }
        #expect(sources.made.count == count && sources.made.allSatisfy { $0.pulls == 65 })
    }

    @Test("Nothing is pulled before it is read, and one chunk for each that is taken")
    func demand() async throws {
        let sources = Sources()
        let sharing = Sharing(total: .seconds(60)) { _ in sources.response() }
        sharing.origin.open()
        let body = try await sharing.client.send(Request<HTTPResponse>(.get, "/x")).body
        let source = try #require(sources.made.first)
        #expect(source.pulls == 0)
        var reader = body.makeAsyncIterator()
        for taken in 1...10 {
            _ = try await reader.next()
            #expect(source.pulls == taken)
        }
    }

    @Test("A call that was cancelled leaves the body to another one")
    func cancelled() async throws {
        let sources = Sources()
        let sharing = Sharing { _ in sources.response() }
        let calls = try await Self.begin(3, sharing)
        calls[0].cancel()
        #expect(await ending(calls[0]).reason == .cancelled)
        sharing.origin.open()
        for call in calls.dropFirst() { #expect(await Self.read(try await call.value.body) == (Self.whole, nil)) }
        #expect(sources.made.count == 2)
    }

    @Test("Releasing the response ends the transfer", arguments: [false, true])
    func letGo(hasDeadline: Bool) async throws {
        let sources = Sources()
        let sharing = Sharing(total: hasDeadline ? .seconds(60) : nil) { _ in sources.response() }
        sharing.origin.open()
        do {
            let body = try await sharing.client.send(Request<HTTPResponse>(.get, "/x")).body
            var reader: ResponseBody.Iterator? = body.makeAsyncIterator()
            _ = try await reader?.next()
            reader = nil
        }
        let source = try #require(sources.made.first)
        try await yieldUntil { source.wasCancelled }
        #expect(source.pulls == 1)
    }

    @Test("The deadline of the call ends its reading, although the exchange has none")
    func deadline() async throws {
        let sources = Sources(waitsAtEnd: true)
        let sharing = Sharing { _ in sources.response() }
        sharing.origin.open()
        let body = try await sharing.client.send(Self.request(.seconds(1))).body
        let source = try #require(sources.made.first)
        let reader = Task { await Self.read(body) }
        try await yieldUntil { source.pulls >= 65 }
        try await sharing.clock.waitForSleepers(1, .all)
        sharing.clock.advance(by: .seconds(1))
        #expect(await reader.value == (Self.whole, NetworkError(.timedOut(.total))))
        try await yieldUntil { source.wasCancelled }
    }

    @Test("Cancelling the reader ends the transfer", arguments: [false, true])
    func cancelledReader(hasDeadline: Bool) async throws {
        let sources = Sources(waitsAtEnd: true)
        let sharing = Sharing { _ in sources.response() }
        sharing.origin.open()
        let body = try await sharing.client.send(Self.request(hasDeadline ? .seconds(1) : nil)).body
        let source = try #require(sources.made.first)
        let reader = Task { await Self.read(body) }
        try await yieldUntil { source.pulls >= 65 }
        reader.cancel()
        #expect(await reader.value.1?.reason == .cancelled)
        try await yieldUntil { source.wasCancelled }
    }

    /// A body or a value that reports its release.
    private final class Held: ResponseBodySource {
        private let gone: Tally

        init(_ gone: Tally) { self.gone = gone }

        func next() async throws -> Data? { nil }

        func cancel() {}

        deinit { gone.add() }
    }

    /// The work may be over while the call that begins it still does so. That is the more likely, the less the work has
    /// to do and the more other threads are idle: so the responses come at once, and the calls are on the main actor.
    /// Each call has a path of its own: a later exchange for the same thing would replace what is left.
    @MainActor
    @Test("An exchange that is over at once keeps no response, whole or not", arguments: [false, true])
    func atOnce(isWhole: Bool) async throws {
        let (gone, rounds) = (Tally(), 2000)
        let interceptor = BuiltInInterceptor.coalescing()
        let next = Next { _, _ in
            let held = Held(gone)
            return HTTPResponse(
                body: isWhole ? ResponseBody(value: held) : ResponseBody(held, limit: 1 << 20, length: nil))
        }
        for round in 0..<rounds {
            _ = try await interceptor.intercept(HTTPRequest(url: "https://a.test/\(round)"), next: next)
        }
        try await gone.reaches(rounds)
        withExtendedLifetime(interceptor) {}
    }
}

private func == (left: (Data, NetworkError?), right: (Data, NetworkError?)) -> Bool {
    left.0 == right.0 && left.1?.reason == right.1?.reason
}
