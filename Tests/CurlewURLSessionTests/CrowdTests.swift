// SPDX-License-Identifier: MIT

// Only there can a test start a process.
#if os(Linux) || os(macOS)
import CurlewURLSession
import TestServers
import Testing

/// Many at once. In processes of their own: a trap of the system's library must not take the other tests along.
@Suite(.timeLimit(.minutes(1)))
struct CrowdTests {
    @Test("Cancelling at any moment, with responses in between, neither traps nor hangs")
    func storm() async {
        await #expect(processExitsWith: .success) {
            let transport = URLSessionTransport()
            let server = try MockServer.always(.generated(bytes: 100_000), to: nil)
            for round in 0..<12 {
                await withTaskGroup(of: Void.self) { group in
                    for number in 0..<40 {
                        group.addTask {
                            let task = Task { try await transport.exchange(.get, server.url + "/").data() }
                            // From before the start to about the time of a response.
                            try? await SystemTime().sleep(for: .microseconds((number * 97 + round * 31) % 4000))
                            task.cancel()
                            if let data = try? await task.value { #expect(data.count == 100_000) }
                        }
                    }
                }
            }
            #expect(await eventually { transport.snapshot.active == 0 })
            // And it still works.
            #expect(try await transport.exchange(.get, server.url + "/").data().count == 100_000)
        }
    }

    @Test("Transports that come and go leave no session behind that traps")
    func turnover() async {
        await #expect(processExitsWith: .success) {
            let server = try MockServer.always(.text("ok"), to: nil)
            for _ in 0..<50 {
                let transport = URLSessionTransport()
                let text = try await transport.exchange(.get, server.url + "/").text()
                #expect(text == "ok")
            }
        }
    }

    #if !canImport(Darwin)
    @Test("The system's library ends the process at trailers, and at an end within the head")
    func traps() async {
        // No guard is possible: the bytes meet the library before they meet us. When this test fails, the library has
        // been mended, and the page about URLSession can lose a line. A child that did not get so far succeeds.
        await #expect(processExitsWith: .failure) {
            guard let server = try? MockServer() else { exit(EXIT_SUCCESS) }
            server.enqueue(.chunks(["a", "b"]).with(trailers: ["X-Sum": "1"]))
            _ = try? await URLSessionTransport().exchange(.get, server.url + "/").data()
        }
        await #expect(processExitsWith: .failure) {
            guard let server = try? MockServer() else { exit(EXIT_SUCCESS) }
            server.enqueue(.raw(Data("HTTP/1.1 200 OK\r\nX-A: b\r\n".utf8)))
            _ = try? await URLSessionTransport().exchange(.get, server.url + "/").data()
        }
    }
    #endif
}
#endif
