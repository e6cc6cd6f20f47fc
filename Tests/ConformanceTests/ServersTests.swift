// SPDX-License-Identifier: MIT

// Only there can a test start a process.
#if os(Linux) || os(macOS)
import CTestSupport
import ConformanceCases
import TestServers
import Testing

/// What the servers of the tests need from a system, and what they do without.
@Suite(.timeLimit(.minutes(1)))
struct ServersTests {
    @Test("Without nginx there are the cases that need none, where servers may be missing")
    func partial() async throws {
        let none: @Sendable () async throws -> Nginx = { throw Program.Failure(description: "there is no nginx") }
        let servers = try await ConformanceServers(isPartial: true, nginx: none)
        #expect(Set(servers.environment.addresses.keys) == [.httpProxy, .socksProxy])
        #expect(servers.missing == ["nginx: there is no nginx"])
        let ready = ConformanceSuite.cases.filter(servers.areReady)
        #expect(ready.count > 200 && ready.count < ConformanceSuite.cases.count)
        #expect(ready.allSatisfy { !$0.needs.contains(.secure) })
        await #expect(throws: Program.Failure.self) { try await ConformanceServers(isPartial: false, nginx: none) }
    }

    @Test("The path of nginx's socket fits into the 104 bytes of a Mac, in a Mac's folder")
    func socketPath() {
        // Of the length of /var/folders/ab/cdefghijklmnopqrstuvwxyz0123456/T, and what is resolved before it.
        let folder = "/private" + String(repeating: "x", count: 48)
        #expect("\(folder)/\(Nginx.folderName())/socket".utf8.count < 104)
    }

    @Test("A program is found beside the tests, and beside the bundle that a Mac has of them")
    func built() throws {
        let folder = try TemporaryFolder()
        let inside = folder.path + "/Tests.xctest/Contents/MacOS"
        try FileManager.default.createDirectory(atPath: inside, withIntermediateDirectories: true)
        let program = try folder.file("Probe", "#!/bin/sh\n")
        chmod(program, 0o755)
        #expect(try Program.beside(inside + "/Tests", "Probe") == program)
        #expect(try Program.beside(folder.path + "/Tests", "Probe") == program)
        #expect(throws: Program.Failure.self) { try Program.beside(inside + "/Tests", "Other") }
        #expect(try Program.built("CacheStoreProbe").hasSuffix("/CacheStoreProbe"))
    }

    @Test("The end of a peer is detected behind unread bytes, and bytes are not an end")
    func unreadBytes() async throws {
        let outcome = try await onThread {
            let (listener, port) = try LoopbackPort.listen(backlog: 1)
            defer { close(listener) }
            var stop: [Int32] = [-1, -1]
            #expect(loopback_pipe(&stop) == 0)
            let client = RawConnection(try LoopbackPort.connected(to: port), index: 0)
            let server = loopback_accept(listener, stop[0])
            defer { close(server) }
            try client.write("bytes")
            let before = loopback_wait_for_end(server, 50)
            client.close()
            let after = loopback_wait_for_end(server, -1)
            close(stop[1])
            let none = loopback_accept(listener, stop[0])
            close(stop[0])
            return [before == 0, after > 0, none < 0]
        }
        #expect(outcome == [true, true, true])
    }
}
#endif
