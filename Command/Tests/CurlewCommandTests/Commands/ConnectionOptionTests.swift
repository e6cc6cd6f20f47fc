// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import Foundation
import Testing

@testable import CurlewCommand

/// The options of connections, against servers and programs.
@Suite(.timeLimit(.minutes(2)))
struct ConnectionOptionTests {
    @Test func proxiesAreUsed() async throws {
        let proxy = try MockServer()
        defer { proxy.stop() }
        proxy.on(nil, "/*") { _ in .text("proxy") }
        let run = await Run("http://h.test/a", "--proxy", proxy.url, "--ignore-status")
        #expect(run.code == 0 && proxy.requestCount == 1, "\(run.error)")
        #expect(await Run("http://h.test/a", "--proxy=://").code == 2)
    }

    @Test func trustIsAFile() async throws {
        #expect(await Run("https://127.0.0.1:1", "--cacert", "/missing.pem").code != 0)
    }

    @Test func theProgramRunsAlone() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.post, "/a") { request in .text(request.text) }
        let program = try Program.command()
        let url = server.url + "/a"
        let version = try await onThread { try Program.run(program, ["--version"]) }
        #expect(String(decoding: version, as: UTF8.self) == "curlew 0.1\n")
        let posted = try await onThread { try Program.run(program, [url, "@-"], input: Data("from a pipe".utf8)) }
        #expect(String(decoding: posted, as: UTF8.self) == "from a pipe")
        let code = try await onThread {
            let process = try CompanionProcess(program, ["--nonsense"])
            _ = process.readToEnd()
            return process.finish()
        }
        #expect(code >> 8 & 0xFF == 2)
    }

    @Test func anInterruptEndsTheProgramAndKeepsThePartialFile() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.get, "/f") { _ in
            MockResponse.generated(bytes: 3_000_000).with(headers: ["ETag": "\"1\""])
                .stalled(at: .afterBytes(2_000_000))
        }
        let folder = try TemporaryFolder()
        let script = "echo $$; exec \"$0\" download \"$1\" -o f -q"
        let program = try Program.command()
        let url = server.url + "/f"
        let process = try CompanionProcess("/bin/sh", ["-c", script, program, url], in: folder.path)
        let number = try await onThread { process.readLine() }
        let size = {
            (try? FileManager.default.attributesOfItem(atPath: folder.path + "/f.part")[.size] as? Int) ?? 0
        }
        #expect(await eventually { size() > 0 })
        kill(try #require(pid_t(number)), SIGINT)
        let code = try await onThread { process.finish() }
        #expect(code >> 8 & 0xFF == 130 && size() > 0)
    }
}
