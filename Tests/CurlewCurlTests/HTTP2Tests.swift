// SPDX-License-Identifier: MIT

import Testing

/// HTTP/2 over TLS, against a real server.
@Suite(.timeLimit(.minutes(1)))
struct HTTP2Tests {
    @Test("A server known to speak HTTP/2 gets it without TLS, for consecutive and concurrent calls")
    func priorKnowledge() async throws {
        let nginx = try await Nginx.shared()
        let transport = CurlTransport(configuration: TransportConfiguration(httpVersions: .http2PriorKnowledge))
        let url = nginx.plain2 + "/body.bin"
        for _ in 0..<3 {
            let response = try await transport.exchange(.get, url)
            #expect(response.version == .http2)
            #expect(try await response.data().count == 3_000_000)
        }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<10 { group.addTask { try await transport.exchange(.get, url).data().count } }
            for try await count in group { #expect(count == 3_000_000) }
        }
    }

    @Test("A burst of calls shares one connection, whatever the number of threads", arguments: [1, 3])
    func multiplexing(loops: Int) async throws {
        let nginx = try await Nginx.shared()
        let configuration = nginx.configuration
        let transport = CurlTransport(
            configuration: configuration, options: CurlTransport.Options(eventLoops: loops))
        let url = nginx.secure() + "/connection"
        let connections = try await withThrowingTaskGroup(of: Substring.self) { group in
            for _ in 0..<100 {
                group.addTask { try await transport.exchange(.get, url).text().split(separator: " ")[0] }
            }
            return try await group.reduce(into: Set<Substring>()) { $0.insert($1) }
        }
        #expect(connections.count == 1)
    }

    @Test("A coded body is decoded")
    func coding() async throws {
        let nginx = try await Nginx.shared()
        let transport = CurlTransport(configuration: nginx.configuration)
        for url in [nginx.secure(), nginx.plain] {
            let response = try await transport.exchange(.get, url + "/text.txt") { $0.streaming = true }
            #expect(!response.headers.contains(.contentEncoding))
            #expect(try await response.data().count == 180_000)
            let raw = try await transport.exchange(.get, url + "/text.txt", headers: [.acceptEncoding: "gzip"]) {
                $0.skipsContentDecoding = true
            }
            #expect(raw.headers[.contentEncoding] == "gzip")
            #expect(try await raw.data().count < 5000)
        }
    }

    @Test("Streams pause, end and are abandoned without harm to the others")
    func mixedStreams() async throws {
        let nginx = try await Nginx.shared()
        var configuration = nginx.configuration
        configuration.bodyBuffer = 16_384
        let transport = CurlTransport(configuration: configuration)
        let url = nginx.secure() + "/body.bin"
        let expected = pattern(3_000_000)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<24 {
                group.addTask {
                    let response = try await transport.exchange(.get, url)
                    if index % 3 == 0 { return }
                    var received = Data()
                    for try await chunk in response.body {
                        received += chunk
                        for _ in 0..<(received.count % 5) * 20 { await Task.yield() }
                        if index % 3 == 1, received.count > 100_000 { return response.body.cancel() }
                    }
                    let isRight = received == expected
                    #expect(isRight, "\(received.count) bytes of \(expected.count)")
                }
            }
            try await group.waitForAll()
        }
        #expect(try await transport.exchange(.get, nginx.secure() + "/empty").status == .noContent)
    }

    @Test(
        "Downloads beside uploads of unknown length lose nothing, also without a declared length", .serialized,
        arguments: [(1, 64), (1, 16), (2, 64)])
    func uploadsBesideDownloads(loops: Int, perHost: Int) async throws {
        let nginx = try await Nginx.shared()
        var configuration = nginx.configuration
        configuration.bodyBuffer = 16_384
        configuration.pool.perHost = perHost
        let transport = CurlTransport(
            configuration: configuration, options: CurlTransport.Options(eventLoops: loops))
        let (url, expected) = (nginx.secure(), String(repeating: "text to compress, ", count: 10_000))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<60 {
                group.addTask {
                    guard index % 3 == 0 else {
                        // Compressed while it is sent, and so of unknown length.
                        let name = index % 3 == 1 ? "/text.txt" : "/body.bin"
                        let response = try await transport.exchange(.get, url + name) { $0.streaming = true }
                        var received = Data()
                        for try await chunk in response.body {
                            received += chunk
                            for _ in 0..<(chunk.count / 2000) { await Task.yield() }
                        }
                        let wanted = index % 3 == 1 ? Data(expected.utf8) : pattern(3_000_000)
                        // Compared outside: the difference of two large values takes forever to describe.
                        let isRight = received == wanted
                        #expect(isRight, "\(received.count) bytes of \(wanted.count)")
                        return
                    }
                    for _ in 0..<10 {
                        let body = RequestBody.stream { .init(Produced(pattern(30_000), by: 10_000)) }
                        let response = try await transport.exchange(.put, url + "/upload/beside", body: body)
                        #expect(response.status.isSuccess)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("A connection that is never idle takes no new requests once it is older than the lifetime")
    func lifetime() async throws {
        let certificates = try await Nginx.shared().certificates
        let server = try await onThread { try H2Server(certificates) }
        let transport = CurlTransport(
            configuration: TransportConfiguration(
                tls: TransportConfiguration.TLS(trustedRoots: .file(certificates.authority)),
                pool: TransportConfiguration.Pool(lifetime: .seconds(1))))
        let start = ContinuousClock.now
        let held = Task { try await transport.exchange(.get, server.url + "/silent/lifetime") }
        #expect(await eventually { transport.snapshot.active == 1 })
        var count = 0
        while transport.snapshot.connectionsOpened < 2, count < 100_000 {
            try Task.checkCancellation()
            #expect(try await transport.exchange(.get, server.url + "/ok/\(count)").text() == "1")
            count += 1
        }
        #expect(count > 1 && ContinuousClock.now - start >= .milliseconds(900), "after \(count) calls")
        // The stream on the old connection continues, and the connection closes with it.
        let isHeld = await eventually { transport.snapshot.active == 1 && transport.snapshot.connections == 2 }
        #expect(isHeld, "\(transport.snapshot), \(count) calls")
        held.cancel()
        let end = await outcome(held)
        #expect(end.reason == .cancelled, "\(end)")
        #expect(await eventually { transport.snapshot.connections == 1 })
        await transport.shutdown()
        #expect(transport.snapshot.connections == 0)
    }

    @Test("Calls do not wait for a stream that began before its origin was known to share")
    func besideFirst() async throws {
        let certificates = try await Nginx.shared().certificates
        let server = try await onThread { try H2Server(certificates) }
        let transport = CurlTransport(
            configuration: TransportConfiguration(
                tls: TransportConfiguration.TLS(trustedRoots: .file(certificates.authority)),
                pool: TransportConfiguration.Pool(perHost: 1)))
        // Its last bytes come with those of "go".
        let held = try await transport.exchange(.get, server.url + "/beside/held/told") { $0.streaming = true }
        let calls = (0..<50).map { number in
            Task { try await transport.exchange(.get, server.url + "/ok/\(number)").text() }
        }
        for call in calls { #expect(try await call.value == "1") }
        #expect(await eventually { transport.snapshot.active == 1 })
        #expect(transport.snapshot.connectionsOpened == 1)
        held.body.cancel()
    }
}
