// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewCurl
import CurlewHTTP
import CurlewTesting
import Foundation
import TestServers
import Testing

/// An engine with several threads.
@Suite(.timeLimit(.minutes(1)))
struct AgentGroupTests {
    @Test("calls to one origin share connections whatever the number of threads", arguments: [1, 4])
    func reuse(agents: Int) async throws {
        let transport = CurlTransport(configuration: TransportConfiguration(agents: agents))
        let servers = try (0..<8).map { _ in try MockServer() }
        for server in servers { server.on(.get, "/", respond: .text("hello")) }
        for _ in 0..<3 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for server in servers {
                    group.addTask { _ = try await transport.exchange(.get, server.url + "/").data() }
                }
                try await group.waitForAll()
            }
        }
        #expect(servers.map(\.connectionCount) == Array(repeating: 1, count: 8))
        #expect(await eventually { transport.snapshot.completed == 24 })
        #expect(transport.snapshot.reused == 16 && transport.snapshot.connections == 8)
        await transport.shutdown(.drain(deadline: .seconds(10)))
        #expect(transport.snapshot.connections == 0)
        let error = await #expect(throws: NetworkError.self) {
            try await transport.exchange(.get, servers[0].url + "/")
        }
        #expect(error?.reason == .refused(by: .shutdown))
    }

    @Test("origins are spread over the threads, and there are no more threads than allowed")
    func threads() async {
        await #expect(processExitsWith: .success) {
            let transport = CurlTransport(configuration: TransportConfiguration(agents: 3))
            #expect(Self.engineThreads == 0)
            for port in 1...40 { _ = try? await transport.exchange(.get, "http://127.0.0.1:\(port)/") }
            #expect((2...3).contains(Self.engineThreads))
            await transport.shutdown()
            #expect(await eventually { Self.engineThreads == 0 })
        }
    }

    @Test("the number of threads has bounds")
    func bounds() {
        #expect([0, 7, 1000].map { TransportConfiguration(agents: $0).agents } == [1, 7, 64])
    }

    private static var engineThreads: Int {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return tasks.count { task in
            (try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)) == "curlew-engine\n"
        }
    }
}
