// SPDX-License-Identifier: MIT

import Testing

/// Bytes that a server sends on an idle HTTP/1.1 connection, where no request asks for them.
@Suite(.timeLimit(.minutes(1)))
struct UnsolicitedBytesTests {
    /// What comes first on the connection, and what the server adds when the connection is idle.
    enum Stray: String, CaseIterable {
        case wholeResponse, lateBodyOf204, lateBodyOfHead, splitBodyOfHead, timeout408, oneByte, megabyte

        var method: HTTPMethod { self == .lateBodyOfHead || self == .splitBodyOfHead ? .head : .get }

        var first: String {
            switch self {
            case .lateBodyOf204: "HTTP/1.1 204 No Content\r\nContent-Length: 40\r\n\r\n"
            case .lateBodyOfHead: "HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n"
            case .splitBodyOfHead: "HTTP/1.1 200 OK\r\nContent-Length: 45\r\n\r\nfirst"
            default: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst"
            }
        }

        var late: String {
            switch self {
            case .timeout408: "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
            case .oneByte: "\n"
            case .megabyte:
                "HTTP/1.1 200 OK\r\nContent-Length: 1048576\r\n\r\n" + String(repeating: "EVIL", count: 262_144)
            default: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nEVIL!"
            }
        }
    }

    @Test("Bytes on an idle connection are never the response to a later call", arguments: Stray.allCases)
    func lateBytes(stray: Stray) async throws {
        let (go, ended) = (Signal(), Locked(false))
        let server = try RawServer { connection in
            if connection.index == 0 {
                _ = try connection.readHead()
                try connection.write(stray.first)
                go.block()
                try? connection.write(stray.late)
                do { try connection.pause(5_000) } catch { ended.withLock { $0 = true } }
            }
            try Self.serve(connection)
        }
        let transport = CurlTransport()
        let first = try await transport.exchange(stray.method, server.url + "/one")
        _ = try await first.data()
        go.fire()
        // Without this the bytes might arrive after the next request, where they cannot be distinguished from its
        // response.
        #expect(await eventually(within: .seconds(8)) { ended.withLock { $0 } }, "the client keeps the connection")
        for path in ["/two", "/three", "/four"] {
            #expect(try await transport.exchange(.get, server.url + path).text() == "response to \(path)")
        }
        #expect(server.connectionCount == 2)
        await transport.shutdown()
    }

    /// More than the five connections that libcurl tries one after the other, on each of which a send would fail.
    @Test("A request that finds all connections ended is sent once", arguments: [nil, false, true])
    func manyConnections(streams: Bool?) async throws {
        let count = 12
        let (begun, ended) = (Locked(0), Locked(0))
        let (all, go) = (Signal(), Signal())
        let arrivals = Locked<[String]>([])
        let server = try RawServer { connection in
            if connection.index < count {
                _ = try connection.readHead()
                let isLast = begun.next() == count
                if isLast { all.fire() }
                all.block()
                try connection.write(Stray.timeout408.first)
                go.block()
                try? connection.write(Stray.timeout408.late)
                do { try connection.pause(5_000) } catch { ended.withLock { $0 += 1 } }
            }
            try Self.serve(connection) { path in arrivals.withLock { $0.append(path) } }
        }
        let transport = CurlTransport(options: CurlTransport.Options(eventLoops: 1))
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<count {
                group.addTask { try await transport.exchange(.get, server.url + "/first").text() }
            }
            for try await text in group { #expect(text == "first") }
        }
        go.fire()
        #expect(await eventually(within: .seconds(8)) { ended.withLock { ended in ended == count } })
        let body: RequestBody =
            switch streams {
            case nil: .empty
            case false?: .bytes(Data("abc".utf8))
            case true?:
                .stream(length: 3) { .init(Produced([Data("abc".utf8)])) }
            }
        let response = try await transport.exchange(.post, server.url + "/post", body: body)
        #expect(response.status == 200)
        #expect(try await response.text() == "response to /post")
        #expect(arrivals.withLock { $0 } == ["/post"])
        await transport.shutdown()
    }

    @Test("Bytes on an idle connection over TLS are never the response to a later call", arguments: [false, true])
    func secure(isUnixSocket: Bool) async throws {
        let certificates = try await Nginx.shared().certificates
        let folder = try TemporaryFolder()
        let path = isUnixSocket ? folder.path + "/socket" : nil
        let server = try await onThread {
            let arguments = ["-c", Self.secureServer, certificates.certificate(.valid), certificates.key]
            return try CompanionProcess(Program.python(), arguments + (path.map { [$0] } ?? []))
        }
        let port = try #require(Int(await Self.line(of: server)))
        let tls = TransportConfiguration.TLS(trustedRoots: .file(certificates.authority))
        let transport = CurlTransport(configuration: TransportConfiguration(tls: tls, unixSocket: path))
        #expect(try await transport.exchange(.get, "https://localhost:\(port)/one").text() == "/one")
        #expect(await Self.line(of: server) == "ended")
        for path in ["/two", "/three", "/four"] {
            let response = try await transport.exchange(.get, "https://localhost:\(port)\(path)")
            #expect(try await response.text() == path)
            #expect(response.metrics.reusedConnection == (path != "/two" && !isUnixSocket))
        }
        await transport.shutdown()
    }

    /// A connection that stays good is used again: what ends it must be bytes, not the end of a request.
    @Test("An idle connection on which nothing comes is kept, after each kind of exchange")
    func kept() async throws {
        let server = try MockServer()
        server.on(.get, "/small", respond: .text("small"))
        server.on(.get, "/large", respond: .data(Data(count: 3 << 20)))
        server.on(.post, "/body") { .text("\($0.body.count)") }
        let transport = CurlTransport()
        for _ in 0..<20 {
            _ = try await transport.exchange(.get, server.url + "/small").data()
            let slow = try await transport.exchange(.get, server.url + "/large") { $0.streaming = true }
            #expect(try await slow.data().count == 3 << 20)
            let upload = RequestBody.bytes(Data(count: 1 << 20))
            #expect(try await transport.exchange(.post, server.url + "/body", body: upload).text() == "\(1 << 20)")
            _ = try await transport.exchange(.head, server.url + "/small")
        }
        #expect(transport.snapshot.connectionsOpened == 1)
        await transport.shutdown()
    }

    private static func serve(_ connection: RawConnection, note: (String) -> Void = { _ in }) throws {
        while true {
            let head = try connection.readHead()
            let path = String(head.split(separator: " ")[1])
            if head.contains("Content-Length: 3\r\n") { _ = try connection.read(3) }
            note(path)
            let body = "response to \(path)"
            try connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        }
    }

    private static func line(of process: CompanionProcess) async -> String {
        (try? await onThread { process.readLine() }) ?? ""
    }

    /// Sends one response too many when the first connection has been idle for a moment.
    private static let secureServer = """
        import socket, ssl, sys, threading, time
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1], sys.argv[2])
        def response(text):
            return b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(text) + text
        def serve(peer, is_first):
            with context.wrap_socket(peer, server_side=True) as client:
                while True:
                    head = b""
                    while not head.endswith(b"\\r\\n\\r\\n"):
                        data = client.recv(1)
                        if not data:
                            return
                        head += data
                    client.sendall(response(head.split(b" ")[1]))
                    if is_first:
                        is_first = False
                        time.sleep(0.2)
                        client.settimeout(5)
                        try:
                            client.sendall(response(b"EVIL"))
                            has_ended = client.recv(1) == b""
                        except socket.timeout:
                            has_ended = False
                        except OSError:
                            has_ended = True
                        print("ended" if has_ended else "open", flush=True)
                        if has_ended:
                            return
                        client.settimeout(None)
        def accept():
            is_first = True
            while True:
                peer = listener.accept()[0]
                threading.Thread(target=serve, args=(peer, is_first), daemon=True).start()
                is_first = False
        is_unix = len(sys.argv) > 3
        listener = socket.socket(socket.AF_UNIX if is_unix else socket.AF_INET)
        listener.bind(sys.argv[3] if is_unix else ("127.0.0.1", 0))
        listener.listen()
        threading.Thread(target=accept, daemon=True).start()
        print(443 if is_unix else listener.getsockname()[1], flush=True)
        sys.stdin.read()
        """
}
