// SPDX-License-Identifier: MIT

import CTestSupport
import Testing

/// The transport as a part of its process: forks, started programs, signals and exit. Each test has a process of its
/// own.
@Suite(.timeLimit(.minutes(1)))
struct ProcessTests {
    @Test(
        "In a forked child every use fails at once, and the parent's transport continues",
        .disabled(if: dlsym(nil, "__tsan_init") != nil, "ThreadSanitizer's own locks do not survive a fork"))
    func fork() async {
        await #expect(processExitsWith: .success) {
            let server = try MockServer.always(.text("hello"))
            server.on(.get, "/big", respond: .generated(bytes: 4_000_000))
            let (transport, url) = (CurlTransport(), server.url)
            _ = try await transport.exchange(url: url + "/")
            let response = try await transport.exchange(url: url + "/big")
            var reader = response.body.makeAsyncIterator()
            _ = try await reader.next()

            let childIsRight = ChildProcess.fork {
                let reason = Locked<NetworkError.Reason?>(nil)
                Task(executorPreference: InlineExecutor()) {
                    do {
                        _ = try await transport.exchange(url: url + "/")
                    } catch {
                        reason.withLock { $0 = NetworkError(error).reason }
                    }
                }
                let hasEnded = Locked(false)
                Task(executorPreference: InlineExecutor()) {
                    await transport.shutdown()
                    hasEnded.withLock { $0 = true }
                }
                return reason.withLock { $0 } == .configuration && hasEnded.withLock { $0 }
            }
            #expect(childIsRight == true)
            var count = 0
            while let chunk = try await reader.next() { count += chunk.count }
            #expect(count > 2_000_000)
            #expect(try await transport.exchange(url: url + "/").status == .ok)
            #expect(server.connectionCount == 1)
        }
    }

    @Test("A started program inherits no connection of the transport")
    func descriptors() async throws {
        let server = try MockServer.always(.text("hello"))
        server.on(.get, "/big", respond: .generated(bytes: 40_000_000))
        await #expect(processExitsWith: .success) { [url = server.url as String] in
            let folder = try TemporaryFolder()
            let before = try ChildProcess.inheritedDescriptors(output: folder.path + "/before")
            let transport = CurlTransport()
            // One connection in use, and an idle one.
            let response = try await transport.exchange(url: url + "/big")
            _ = try await transport.exchange(url: url + "/")
            let after = try ChildProcess.inheritedDescriptors(output: folder.path + "/after")
            // Before 8.8 libcurl has a pair of sockets of its own for each event loop, which nothing of a call goes
            // through.
            #expect(after.count <= before.count + 2, "\(after)")
            response.body.cancel()
        }
    }

    @Test("A transport without descriptors begins when there are some, and can be shut down without")
    func noDescriptors() async throws {
        let server = try MockServer.always(.text("hello"))
        await #expect(processExitsWith: .success) { [url = server.url as String] in
            let (transport, other) = (CurlTransport(), CurlTransport())
            refuse_epoll_descriptors(true)
            for transport in [transport, other] {
                let error = await transport.failure(.get, url + "/")
                #expect(error?.reason == .configuration)
                #expect(error?.hint?.contains("ulimit") == true)
            }
            await other.shutdown(.drain(deadline: .seconds(30)))
            refuse_epoll_descriptors(false)
            let response = try await transport.exchange(.get, url + "/")
            #expect(try await response.text() == "hello")
        }
    }

    @Test("A call without a descriptor waits for another's connection; a single call fails")
    func fewDescriptors() async throws {
        let server = try MockServer.always(.text("hello"))
        await #expect(processExitsWith: .success) { [url = server.url as String] in
            let transport = CurlTransport(configuration: TransportConfiguration(connectionsPerHost: 64))
            let elsewhere = "http://127.0.0.1:1/"
            // It has the descriptors of its event loop, and no idle connection that could be closed for another one.
            let alone = CurlTransport()
            #expect(await alone.failure(.get, elsewhere)?.reason == .unreachable)
            #expect(await transport.failure(.get, url + "/") == nil)
            ChildProcess.limitDescriptors(further: 2)
            await withTaskGroup(of: NetworkError?.self) { group in
                for _ in 0..<15 { group.addTask { await transport.failure(.get, url + "/") } }
                for await error in group { #expect(error == nil) }
            }
            ChildProcess.limitDescriptors(further: 0)
            let error = await alone.failure(.get, elsewhere)
            #expect(error?.reason == .configuration, "\(String(describing: error))")
            #expect(error?.hint?.contains("ulimit") == true)
            #expect(await transport.failure(.get, url + "/") == nil)
        }
        #expect(server.connectionCount <= 3)
    }

    @Test("A connection that breaks while it is written to does not end the process")
    func brokenPipe() async {
        await #expect(processExitsWith: .success) {
            signal(SIGPIPE, SIG_DFL)
            let server = try RawServer { connection in
                _ = try connection.readHead()
                connection.reset()
            }
            let transport = CurlTransport()
            for _ in 0..<5 {
                let error = await #expect(throws: NetworkError.self) {
                    try await transport.exchange(.put, server.url, body: .bytes(pattern(5_000_000)))
                }
                #expect(error?.isCancelled == false)
            }
        }
    }

    @Test("The process may end while the transport works")
    func exitWhileWorking() async {
        await #expect(processExitsWith: .exitCode(0)) {
            let server = try RawServer { connection in
                while true { _ = try connection.read(upTo: 1000) }
            }
            let transport = CurlTransport(configuration: TransportConfiguration(httpVersions: .http1Only))
            for _ in 0..<50 {
                Task { try await transport.exchange(url: "https://127.0.0.1:\(server.port)/") }
            }
            #expect(await eventually { server.connectionCount > 20 })
            exit(0)
        }
    }
}

extension CurlTransport {
    fileprivate func exchange(url: String) async throws -> HTTPResponse {
        try await exchange(.get, url)
    }
}
