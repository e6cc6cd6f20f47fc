// SPDX-License-Identifier: MIT

import CurlewAuthentication
import CurlewStreams
import Testing

/// Event streams over sockets, plain and coded.
@Suite(.timeLimit(.minutes(1)))
struct EventStreamWireTests {
    private func options(_ change: (inout EventStream.Options) -> Void = { _ in }) -> EventStream.Options {
        var options = EventStream.Options()
        options.retryDelay = .zero
        change(&options)
        return options
    }

    private static func last(_ request: RecordedRequest) -> Int {
        request.headers["Last-Event-ID"].flatMap { Int($0) } ?? 0
    }

    private static func events(_ range: ClosedRange<Int>, gzip: Bool = false, stalls: Bool = false) -> MockResponse {
        if gzip { return .gzipEvents(range.map { "id: \($0)\ndata: event \($0)" }, stalls: stalls) }
        return .events { stream in
            for number in range { try await stream.send("event \(number)", id: "\(number)") }
            if stalls { stream.interrupt(by: .stall) }
        }
    }

    /// How a connection ends: with its last chunk missing, reset, or without any sign.
    private enum Cut: CaseIterable { case close, reset, unnoticed }

    @Test(
        "A stream that is cut 100 times at random bytes delivers every event once, in order", arguments: [false, true])
    func cuts(gzip: Bool) async throws {
        let seed = UInt64.random(in: .min ... .max)
        print("seed: \(seed)")
        let random = Locked((generator: SeededGenerator(seed: seed), cuts: 0, end: Int?.none))
        let server = try MockServer()
        server.on(.get, "/") { request in
            let last = Self.last(request)
            let cut = random.withLock { random -> (at: Int, how: Cut)? in
                guard random.cuts < 100 else {
                    random.end = random.end ?? last + 10
                    return nil
                }
                random.cuts += 1
                let how = Cut.allCases.randomElement(using: &random.generator) ?? .close
                return (Int.random(in: 0...600, using: &random.generator), how)
            }
            guard let cut else {
                let end = random.withLock { $0.end ?? 0 }
                return last == end ? .status(.noContent) : Self.events((last + 1)...end, gzip: gzip)
            }
            // Each event has more than 20 bytes, and coded more than 15.
            let stream = Self.events((last + 1)...(last + 50), gzip: gzip)
            switch cut.how {
            case .close: return stream.truncated(after: cut.at)
            case .reset: return stream.reset(at: .afterBytes(cut.at))
            case .unnoticed: return stream.framed(as: .untilClose).truncated(after: cut.at)
            }
        }
        var received: [ServerEvent] = []
        for try await event in APIClient.curl(server.url).events(.get("/"), options: options()) {
            received.append(event)
        }
        let end = try #require(random.withLock { $0.end })
        #expect(received.map(\.id) == (1...end).map { "\($0)" })
        #expect(received.map(\.data) == (1...end).map { "event \($0)" })
        #expect(random.withLock { $0.cuts } == 100)
        #expect(end > 200)
    }

    @Test("A redirect is followed by each connection, with the last event ID", arguments: [false, true])
    func redirect(gzip: Bool) async throws {
        let server = try MockServer()
        server.on(.get, "/old", respond: .redirect(to: "/new", status: .temporaryRedirect))
        server.on(.get, "/new") { request in
            let last = Self.last(request)
            return last == 4 ? .status(.noContent) : Self.events((last + 1)...(last + 2), gzip: gzip)
        }
        var ids: [String] = []
        for try await event in APIClient.curl(server.url, .standard).events(.get("/old"), options: options()) {
            ids.append(event.id)
        }
        #expect(ids == ["1", "2", "3", "4"])
        #expect(server.requests.map(\.path) == ["/old", "/new", "/old", "/new", "/old", "/new"])
    }

    @Test("Credentials are renewed when a connection of the stream is refused")
    func credentials() async throws {
        let server = try MockServer()
        let valid = Locked(1)
        server.on(.get, "/") { request in
            let last = Self.last(request)
            guard request.headers[.authorization] == "Bearer \(valid.withLock { $0 })" else {
                return .status(.unauthorized, headers: ["WWW-Authenticate": "Bearer"])
            }
            valid.withLock { $0 += 1 }
            return last == 6 ? .status(.noContent) : Self.events((last + 1)...(last + 2))
        }
        let store = TokenStore()
        try await store.signIn(Tokens(accessToken: "0", refreshToken: "r"))
        let renewals = Locked(0)
        let bearer = BuiltInInterceptor.bearer(store) { _ in
            renewals.withLock { $0 += 1 }
            return Tokens(accessToken: "\(valid.withLock { $0 })", refreshToken: "r")
        }
        var ids: [String] = []
        for try await event in APIClient.curl(server.url, [bearer]).events(.get("/"), options: options()) {
            ids.append(event.id)
        }
        #expect(ids == (1...6).map { "\($0)" })
        #expect(renewals.withLock { $0 } == 4)
    }

    @Test("A silent connection is given up after the read timeout, and the stream continues", arguments: [false, true])
    func silence(gzip: Bool) async throws {
        let server = try MockServer()
        server.on(.get, "/") { request in
            let last = Self.last(request)
            if last == 3 { return .status(.noContent) }
            return Self.events((last + 1)...(last + 1), gzip: gzip, stalls: true)
        }
        let limit = Duration.milliseconds(100)
        let stream = APIClient.curl(server.url).events(.get("/"), options: options { $0.readTimeout = limit })
        let states = stream.states
        let start = ContinuousClock.now
        var ids: [String] = []
        for try await event in stream { ids.append(event.id) }
        #expect(ids == ["1", "2", "3"])
        #expect(start.duration(to: .now) >= limit * 3)
        var reasons: [NetworkError.Reason?] = []
        for await state in states {
            if case .waiting(_, let error) = state { reasons.append(error?.reason) }
            if state == .closed { break }
        }
        #expect(reasons == Array(repeating: .timedOut(.idle), count: 3))
        #expect(await eventually { server.openConnections <= 1 })
    }
}
