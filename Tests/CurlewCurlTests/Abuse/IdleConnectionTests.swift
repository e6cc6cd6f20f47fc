// SPDX-License-Identifier: MIT

import Testing

/// Very many idle connections of one transport, some of which their server ends or writes to.
@Suite(.timeLimit(.minutes(10)))
struct IdleConnectionTests {
    @Test("Of many idle connections, those on which something comes are closed, the others used")
    func many() async throws {
        let count = Abuse.idleConnections
        // In a process of its own, which needs a descriptor for each; the server, in another one, needs as many.
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) { [count = count as Int] in
            Abuse.begin()
            try await Self.run(count)
        }
        print(String(decoding: result.standardErrorContent, as: UTF8.self))
    }

    private static func run(_ count: Int) async throws {
        let server = try await onThread { try CompanionProcess(Program.python(), ["-c", serverText]) }
        let url = "http://127.0.0.1:" + (try await onThread { server.readLine() })
        let timeouts = Timeouts(connect: .seconds(120), firstByte: .seconds(120))
        let pool = TransportConfiguration.Pool(perHost: count, total: count, idle: count)
        let transport = CurlTransport(configuration: TransportConfiguration(pool: pool))
        @Sendable func text(_ path: String) async throws -> String {
            try await transport.exchange(.get, url + path, timeouts: timeouts).text()
        }
        func crowd(_ count: Int, _ path: String) async throws {
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for index in 0..<count { group.addTask { try await text("\(path)/\(index)") == "\(path)/\(index)" } }
                for try await isOwn in group { #expect(isOwn) }
            }
        }
        let before = Abuse.residentMemory
        try await crowd(count, "/all/\(count)")
        #expect(await eventually { transport.snapshot.connections == count && transport.snapshot.active == 0 })
        let bytes = (Abuse.residentMemory - before) / count
        let struck = try #require(Int(try await text("/strike")))
        // The server knows; libcurl counts connections that have ended for a while.
        while try await text("/open") != "\(count - struck)" {}
        Abuse.say("\(count) idle connections, \(bytes) bytes each; \(struck) ended; \(transport.snapshot)")
        try await crowd((count - struck) / 2, "/next")
        #expect(transport.snapshot.connectionsOpened == count)
        await transport.shutdown()
        #expect(await eventually { Engine.threadCount == 0 })
        withExtendedLifetime(server) {}
    }

    /// Responds to `/all/N/…` when N of these have come, and to others at once, with their path. `/strike` writes to a
    /// third of the other connections, ends another third, and says how many these are; `/open` how many are open.
    private static let serverText = """
        import resource, selectors, socket, sys
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        poll, clients, heads, held = selectors.DefaultSelector(), [], {}, []
        listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
        poll.register(listener, selectors.EVENT_READ)
        poll.register(sys.stdin, selectors.EVENT_READ)
        def respond(client, text):
            client.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n%s" % (len(text), text))
        def serve(client):
            path = heads.pop(client).split(b" ")[1]
            if path.startswith(b"/all/"):
                held.append((client, path))
                if len(held) == int(path.split(b"/")[2]):
                    for waiting in held:
                        respond(*waiting)
            elif path == b"/strike":
                others = [other for other in clients if other is not client]
                for other in others[0::3]:
                    respond(other, b"poison")
                for other in others[1::3]:
                    other.shutdown(socket.SHUT_WR)
                respond(client, b"%d" % (len(others[0::3]) + len(others[1::3])))
            elif path == b"/open":
                respond(client, b"%d" % len(clients))
            else:
                respond(client, path)
        print(listener.getsockname()[1], flush=True)
        while True:
            for key, _ in poll.select():
                if key.fileobj is sys.stdin:
                    sys.exit()
                if key.fileobj is listener:
                    clients.append(listener.accept()[0])
                    poll.register(clients[-1], selectors.EVENT_READ)
                    continue
                client = key.fileobj
                try:
                    data = client.recv(4096)
                except OSError:
                    data = b""
                if not data:
                    poll.unregister(client)
                    client.close()
                    clients.remove(client)
                    continue
                heads[client] = heads.get(client, b"") + data
                if heads[client].endswith(b"\\r\\n\\r\\n"):
                    serve(client)
        """
}
