// SPDX-License-Identifier: MIT

import CurlewStreams
import Testing

/// WebSocket connections that follow one another, over real connections.
@Suite(.timeLimit(.minutes(1)))
struct WebSocketConnectionsWireTests {
    /// What the server does with a connection.
    private enum Course {
        case refuse(HTTPStatus)
        /// Ends the connection before the client has subscribed.
        case early(Ending)
        /// Sends this number of messages after the subscription, then ends the connection.
        case serve(messages: Int, Ending)
    }

    private enum Ending {
        case close(UInt16)
        case lose(MockResponse.Interruption)

        func end(_ peer: MockWebSocket) {
            switch self {
            case .close(let code): peer.close(WebSocketCloseCode(rawValue: code))
            case .lose(let interruption): peer.lose(by: interruption)
            }
        }
    }

    private func ending(_ random: inout SeededGenerator) -> Ending {
        let codes: [UInt16] = [1001, 1011, 1012, 1013, 1014]
        let index = Int.random(in: 0..<codes.count + 2, using: &random)
        if index < codes.count { return .close(codes[index]) }
        return .lose(index == codes.count ? .reset : .close)
    }

    private func course(_ random: inout SeededGenerator) -> Course {
        let statuses: [HTTPStatus] = [.requestTimeout, .tooManyRequests, .badGateway, .serviceUnavailable]
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return .refuse(statuses[Int.random(in: 0..<statuses.count, using: &random)])
        case 1: return .early(ending(&random))
        default: return .serve(messages: Int.random(in: 0...5, using: &random), ending(&random))
        }
    }

    @Test(
        "Through refusals, closes and losses the hook runs on each connection, and each waits",
        arguments: 0..<10)
    func randomEndings(round: Int) async throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        var courses = (0..<Int.random(in: 0...12, using: &random)).map { _ in course(&random) }
        let last: UInt16? = [1000, 1008, 4001, nil][Int.random(in: 0..<4, using: &random)]
        courses.append(last.map { .serve(messages: 1, .close($0)) } ?? .refuse(.notFound))

        let (server, clock, count) = (try MockServer(), PauseLog(), Locked(0))
        let subscriptions = Locked<[Int]>([])
        server.on(.get, "/prices") { [courses] _ in
            let number = count.next() - 1
            guard number < courses.count else { return .status(.gone) }
            if case .refuse(let status) = courses[number] { return .status(status) }
            return .webSocket { peer in
                switch courses[number] {
                case .refuse: break
                case .early(let ending): ending.end(peer)
                case .serve(let messages, let ending):
                    guard try await peer.next() == .text("subscribe") else { return }
                    subscriptions.withLock { $0.append(number) }
                    for message in 0..<messages { try peer.send("\(number).\(message)") }
                    ending.end(peer)
                }
                // A script that returns closes its connection with 1000.
                while try await peer.next() != nil {}
            }
        }

        let hooked = Locked<[ObjectIdentifier]>([])
        var options = WebSocket.Connections.Options()
        options.socket.heartbeat = nil
        options.maximumFailures = nil
        let client = APIClient.curl(server.url, configuration: APIClient.Configuration(time: clock))
        let connections = client.webSocketConnections(.get("/prices"), options: options) { socket in
            hooked.withLock { $0.append(ObjectIdentifier(socket)) }
            // The server may have closed the connection before send returns. An error would leave its messages unread.
            try? await socket.send("subscribe")
        }
        var (received, failure): ([String], NetworkError?) = ([], nil)
        do {
            for try await socket in connections {
                #expect(hooked.withLock { $0.last } == ObjectIdentifier(socket), "seed \(seed)")
                do {
                    for try await message in socket {
                        if case .text(let text) = message { received.append(text) }
                    }
                } catch {}
            }
        } catch {
            failure = NetworkError(error)
        }

        switch last {
        case nil: #expect(failure?.statusCode == 404, "seed \(seed)")
        case 1000: #expect(failure == nil, "seed \(seed)")
        case let code?: #expect(failure?.detail.contains("\(code)") == true, "seed \(seed)")
        }
        #expect(server.requests.count == courses.count, "seed \(seed)")
        let served = courses.indices.filter { if case .serve = courses[$0] { true } else { false } }
        #expect(subscriptions.withLock { $0 } == served, "seed \(seed)")
        // What a server sends before it closes arrives; a reset may lose it.
        for (number, course) in courses.enumerated() {
            guard case .serve(let messages, let ending) = course else { continue }
            let sent = (0..<messages).map { "\(number).\($0)" }
            let arrived = received.filter { $0.hasPrefix("\(number).") }
            #expect(arrived == Array(sent.prefix(arrived.count)), "seed \(seed)")
            if case .close = ending { #expect(arrived == sent, "seed \(seed)") }
        }
        #expect(clock.pauses.count == courses.count - 1, "Each further connection waits; seed \(seed)")
        for (index, pause) in clock.pauses.enumerated() {
            #expect(pause >= .zero && pause <= .seconds(min(60, 1 << index)), "seed \(seed)")
        }
    }

    @Test("After a restart of the service, the client subscribes again")
    func serviceRestart() async throws {
        let server = try await WebSocketServer.start()
        let client = APIClient.curl(server.url)
        var options = WebSocket.Connections.Options()
        options.retryDelay = .milliseconds(2)
        options.maximumDelay = .milliseconds(2)
        let connections = client.webSocketConnections(.get("/restart"), options: options) { socket in
            try await socket.send("subscribe")
        }
        var sockets = connections.makeAsyncIterator()
        for _ in 0..<3 {
            let socket = try #require(try await sockets.next())
            var messages = socket.makeAsyncIterator()
            #expect(try await messages.next() == .text("news"))
            await #expect(throws: NetworkError.self) { try await messages.next() }
            #expect(socket.closing?.code.rawValue == 1012)
        }
    }
}
