// SPDX-License-Identifier: MIT

import Testing

/// A reused connection that dies before the reply: libcurl would send everything again. What must not happen twice does
/// not.
@Suite(.timeLimit(.minutes(1)))
struct RepetitionTests {
    let transport = CurlTransport()
    static let mayHaveArrived = NetworkError.Reason.connectionLost(.requestMayHaveArrived)

    enum Death: CaseIterable, Sendable {
        /// The whole request is read, then the connection ends.
        case close, reset
        /// The head is read and a part of a long body.
        case closeEarly, resetEarly

        /// What the server does with the second request on its first connection.
        func end(_ connection: RawConnection, _ head: String) throws {
            switch self {
            case .close, .reset: try RawRequest.skipBody(connection, head)
            case .closeEarly, .resetEarly: if RawRequest.hasLongBody(head) { _ = try connection.read(1000) }
            }
            if self == .reset || self == .resetEarly { connection.reset() }
        }
    }

    /// Counts the heads that arrive, other than those of GET. The first connection answers once, then dies on the
    /// second request; every other connection answers all.
    private func server(_ death: Death, arrivals: Locked<Int>) throws -> RawServer {
        try RawServer { connection in
            for exchange in 0... {
                let head = try connection.readHead()
                if !head.hasPrefix("GET /warm") { arrivals.withLock { $0 += 1 } }
                if connection.index == 0, exchange == 1 { return try death.end(connection, head) }
                try RawRequest.skipBody(connection, head)
                try connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        }
    }

    @Test("A handle repeats as often as needed: libcurl's count of five is for one transfer")
    func manyRepetitions() async throws {
        let server = try RawServer { connection in
            for exchange in 0... {
                _ = try connection.readHead()
                // Each connection answers once, and dies on its second request.
                if exchange == 1 { return }
                try connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        }
        for _ in 0..<20 { #expect(try await transport.exchange(.get, server.url + "/").text() == "ok") }
    }

    /// A server that restarts ends all idle connections at once, and the client may learn of it only when it sends.
    @Test("A request finds many ended connections and succeeds", arguments: [true, false])
    func manyEndedConnections(resets: Bool) async throws {
        let arrivals = Locked(0)
        let haveArrived = DispatchSemaphore(value: 0)
        let server = try RawServer { connection in
            _ = try connection.readHead()
            // All first requests arrive before the first response, so each has a connection of its own.
            if connection.index < 12 {
                let isLast = arrivals.next() == 12
                if isLast { for _ in 0..<12 { haveArrived.signal() } }
                _ = haveArrived.wait(timeout: .now() + 20)
            }
            try connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            _ = try connection.readHead()
            if resets { connection.reset() }
        }
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<12 { group.addTask { (try? await transport.exchange(.get, server.url + "/").text()) == "ok" } }
            for await isGood in group { #expect(isGood) }
        }
        #expect(server.connectionCount == 12)
        #expect(try await transport.exchange(.get, server.url + "/").text() == "ok")
        // Two of the ended connections were tried.
        #expect(server.connectionCount == 13)
        await transport.shutdown()
    }

    @Test("An idempotent request is sent again, without the caller noticing", arguments: Death.allCases)
    func replayed(death: Death) async throws {
        let folder = try TemporaryFolder()
        for (method, source): (HTTPMethod, BodySource?) in [
            (.get, nil), (.head, nil), (.delete, nil), (.put, .bytes), (.put, .file), (.put, .parts),
        ] {
            // A body that cannot be sent to its end is a lost connection also for libcurl.
            if source != nil, death == .closeEarly || death == .resetEarly { continue }
            let transport = CurlTransport()
            let arrivals = Locked(0)
            let server = try server(death, arrivals: arrivals)
            _ = try await transport.exchange(.get, server.url + "/warm").data()
            let body = try source?.body(of: 100_000, in: folder) ?? .empty
            let response = try await transport.exchange(method, server.url + "/", body: body)
            #expect(response.status == .ok)
            #expect(arrivals.withLock { $0 } == 2)
            #expect(server.connectionCount == 2)
            #expect(response.metrics.reusedConnection == false)
            #expect((response.metrics.connectionsOpened ?? 0) >= 1)
        }
    }

    @Test("The repeated body is the whole body")
    func repeatedBody() async throws {
        let folder = try TemporaryFolder()
        for source in [BodySource.bytes, .file, .parts] {
            let transport = CurlTransport()
            let server = try MockServer.answering(.text("warm"), MockResponse().reset(at: .beforeHead))
            server.on(.put, "/") { .data($0.body) }
            _ = try await transport.exchange(.get, server.url + "/").data()
            let response = try await transport.exchange(
                .put, server.url + "/", body: source.body(of: 500_000, in: folder))
            #expect(try await response.data() == pattern(500_000))
            #expect(server.requests.dropFirst().map(\.body.count) == [500_000, 500_000])
        }
    }

    @Test("An idempotent request with a stream is not sent again once the stream has begun", arguments: Death.allCases)
    func stream(death: Death) async throws {
        let arrivals = Locked(0)
        let server = try server(death, arrivals: arrivals)
        _ = try await transport.exchange(.get, server.url + "/warm").data()
        let made = Locked(0)
        let body = RequestBody.stream(replay: .always) {
            made.withLock { $0 += 1 }
            return .init(Produced(pattern(300_000), by: 10_000))
        }
        let error = try #require(await transport.failure(.put, server.url + "/", body: body))
        #expect(error.reason == Self.mayHaveArrived)
        #expect(arrivals.withLock { $0 } == 1)
        #expect(made.withLock { $0 } == 1)
    }

    @Test("A POST whose connection ended without a replacement may have arrived")
    func noWayBack() async throws {
        for (method, reason): (HTTPMethod, NetworkError.Reason) in [(.post, Self.mayHaveArrived), (.get, .unreachable)]
        {
            let box = Locked<RawServer?>(nil)
            let url = try {
                let server = try RawServer { connection in
                    for exchange in 0... {
                        _ = try connection.readHead()
                        // The port is closed before the connection is.
                        if exchange == 1 { return box.withLock { $0 }?.stopListening() ?? () }
                        try connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                    }
                }
                box.withLock { $0 = server }
                return server.url
            }()
            _ = try await transport.exchange(.get, url + "/warm").data()
            let error = await transport.failure(method, url + "/")
            #expect(error?.reason == reason, "\(error.map(String.init(describing:)) ?? "none")")
        }
    }
}

/// Enough HTTP to read the body of a request after which the client waits.
enum RawRequest {
    static func hasLongBody(_ head: String) -> Bool {
        let head = head.lowercased()
        return head.contains("chunked")
            || head.contains("content-length: ") && !head.contains("content-length: 0\r")
                && !head.contains("content-length: 10\r")
    }

    static func skipBody(_ connection: RawConnection, _ head: String) throws {
        let lines = head.lowercased().split(separator: "\r\n")
        if lines.contains("transfer-encoding: chunked") {
            var tail = Data()
            while tail.suffix(5) != Data("0\r\n\r\n".utf8) {
                tail = tail.suffix(4) + (try connection.read(upTo: 65_536))
            }
        } else if let line = lines.first(where: { $0.hasPrefix("content-length: ") }) {
            _ = try connection.read(Int(line.dropFirst(16)) ?? 0)
        }
    }
}
