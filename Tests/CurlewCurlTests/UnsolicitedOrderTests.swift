// SPDX-License-Identifier: MIT

import Testing

/// Bytes that belong to no request and come at the same moment as something else: whatever the order in which the
/// system reports things, no request is served by what was there before it began.
@Suite(.timeLimit(.minutes(1)))
struct UnsolicitedOrderTests {
    private static let poison = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"

    /// Answers each request with its path; to the first one for `/dropped` it sends a reset instead, on request
    /// to.
    private final class Server: Sendable {
        struct State {
            var connections: [Int: (connection: RawConnection, port: Int)] = [:]
            /// Requests that have come.
            var arrived = 0
            /// The connection of the request that gets no response.
            var dropped: Int?
        }

        let state = Locked(State())
        let drop = Signal()
        let server: RawServer
        var url: String { server.url }

        /// The first requests are answered when there are this many, each on a connection of its own.
        init(connections count: Int) throws {
            let (state, drop, all) = (state, drop, Signal())
            server = try RawServer { connection in
                let port = connection.peerPort
                state.withLock { $0.connections[connection.index] = (connection, port) }
                while true {
                    let path = String(try connection.readHead().split(separator: " ")[1])
                    let (arrived, isDropped) = state.withLock { state in
                        state.arrived += 1
                        guard path == "/dropped", state.dropped == nil else { return (state.arrived, false) }
                        state.dropped = connection.index
                        return (state.arrived, true)
                    }
                    if arrived == count { all.fire() }
                    if arrived <= count { all.block() }
                    if isDropped {
                        drop.block()
                        return connection.reset()
                    }
                    let coding = path == "/cut" ? "Content-Encoding: gzip\r\n" : ""
                    let body = path == "/cut" ? Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]) : Data(path.utf8)
                    try connection.write(
                        Data("HTTP/1.1 200 OK\r\n\(coding)Content-Length: \(body.count)\r\n\r\n".utf8) + body)
                }
            }
        }

        /// Writes a whole response to all connections but the one whose request is dropped.
        func poisonOthers() throws -> [ClientSockets.Written] {
            let (connections, dropped) = state.withLock { ($0.connections, $0.dropped) }
            return try connections.filter { $0.key != dropped }.values.map { connection, port in
                try connection.write(UnsolicitedOrderTests.poison)
                return ClientSockets.Written(clientPort: port, bytes: connection.written)
            }
        }

        var droppedConnection: [ClientSockets.Written] {
            let one = state.withLock { state in state.dropped.flatMap { state.connections[$0] } }
            return one.map { [.init(clientPort: $0.port, bytes: 0, hasEnded: true)] } ?? []
        }
    }

    /// Begins at once: it has a place in the transport when this returns.
    private static func text(_ transport: CurlTransport, _ url: String) -> Task<String, any Error> {
        Task(executorPreference: InlineExecutor()) { try await transport.exchange(.get, url).text() }
    }

    /// libcurl sends it again, on the other connection, before it is notified that there is something to read.
    @Test("A request that is sent again takes no connection on which something has come", arguments: [true, false])
    func sentAgain(resetComesFirst: Bool) async throws {
        let server = try Server(connections: 2)
        let transport = CurlTransport(options: CurlTransport.Options(eventLoops: 1))
        let (one, other) = (Self.text(transport, server.url + "/1"), Self.text(transport, server.url + "/2"))
        #expect(try await [one.value, other.value] == ["/1", "/2"])
        let dropped = Self.text(transport, server.url + "/dropped")
        #expect(await eventually { server.state.withLock { $0.dropped != nil } })

        var sockets = ClientSockets(to: server.server.port)
        let hold = try LoopHold(transport)
        await hold.begin()
        for isReset in resetComesFirst ? [true, false] : [false, true] {
            if isReset { server.drop.fire() }
            let written = isReset ? server.droppedConnection : try server.poisonOthers()
            #expect(await sockets.haveReceived(written))
        }
        hold.end()
        #expect(try await dropped.value == "/dropped")
        #expect(try await Self.text(transport, server.url + "/next").value == "/next")
        await transport.shutdown()
    }

    /// More than the system reports at a time.
    @Test("Three hundred connections on which something has come at once are not used")
    func many() async throws {
        let count = 300
        let server = try Server(connections: count)
        let transport = CurlTransport(
            configuration: TransportConfiguration(pool: TransportConfiguration.Pool(perHost: count, idle: 2 * count)),
            options: CurlTransport.Options(eventLoops: 1))
        for task in (0..<count).map({ Self.text(transport, server.url + "/first/\($0)") }) { _ = try await task.value }
        #expect(server.server.connectionCount == count)

        var sockets = ClientSockets(to: server.server.port)
        let hold = try LoopHold(transport)
        await hold.begin()
        let written = try server.poisonOthers()
        #expect(await sockets.haveReceived(written))
        let tasks = (0..<count).map { Self.text(transport, server.url + "/second/\($0)") }
        hold.end()
        var wrong = 0
        for (index, task) in tasks.enumerated() where try await task.value != "/second/\(index)" { wrong += 1 }
        #expect(wrong == 0)
        await transport.shutdown()
    }

    /// The call fails, but libcurl, which does not decode it, keeps the connection.
    @Test("A connection whose last body was truncated within its coding is watched like any other")
    func cutCoding() async throws {
        let server = try Server(connections: 1)
        let transport = CurlTransport(options: CurlTransport.Options(eventLoops: 1))
        #expect(await transport.failure(.get, server.url + "/cut")?.reason == .badResponse)
        var sockets = ClientSockets(to: server.server.port)
        #expect(await sockets.haveReceived(try server.poisonOthers()))
        for path in ["/two", "/three"] {
            #expect(try await transport.exchange(.get, server.url + path).text() == path)
        }
        #expect(server.server.connectionCount == 2)
        await transport.shutdown()
    }
}
