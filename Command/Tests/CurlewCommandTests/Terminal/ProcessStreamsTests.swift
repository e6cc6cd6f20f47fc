// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import Foundation
import Testing

@testable import CurlewCommand

/// The streams of the process: pipes, devices and named pipes, closed and slow ones.
@Suite(.timeLimit(.minutes(2)))
struct ProcessStreamsTests {
    /// Runs a shell script in which `$0` is the command and `$1` the URL. Returns its exit code and output.
    private func shell(_ script: String, _ url: String, in folder: String = "/") async throws -> (Int32, Data) {
        let program = try Program.command()
        return try await onThread {
            let process = try CompanionProcess("/bin/sh", ["-c", script, program, url], in: folder)
            let output = process.readToEnd()
            return (process.finish() >> 8 & 0xFF, output)
        }
    }

    @Test func aFullDeviceIsAnErrorOfStorage() async throws {
        guard FileManager.default.fileExists(atPath: "/dev/full") else {
            print("There is no /dev/full: a full device was not tried.")
            return
        }
        let server = try MockServer()
        defer { server.stop() }
        server.on(.get, "/a") { _ in .text("ok") }
        let (code, output) = try await shell("exec \"$0\" \"$1\" 2>&1 > /dev/full", server.url + "/a")
        #expect(code == 14 && String(decoding: output, as: UTF8.self).contains("cannot be written"))
    }

    @Test func theReaderOfAPipeMayLeave() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.get, "/a") { _ in .generated(bytes: 5_000_000) }
        let folder = try TemporaryFolder()
        let script = "{ \"$0\" \"$1\"; echo $? > code; } 2>&1 | head -c 1 > /dev/null; cat code"
        let (_, output) = try await shell(script, server.url + "/a", in: folder.path)
        #expect(String(decoding: output, as: UTF8.self) == "141\n")
    }

    @Test func anInputThatCannotBeReadIsAnError() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(nil, "/*") { _ in .text("ok") }
        for words in ["PUT \"$1\" @-", "curl -- curl -d @- \"$1\""] {
            let (code, output) = try await shell("exec \"$0\" \(words) < / 2>&1", server.url + "/a")
            #expect(code == 14 && output.count > 10, "\(words): \(code)")
        }
        #expect(server.requestCount == 0)
    }

    /// A descriptor of the engine must not become the output.
    @Test func closedStreamsStayClosed() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(nil, "/a") { request in .text(request.method == .get ? "ok" : request.text) }
        let folder = try TemporaryFolder()
        for (script, expected) in [
            ("\"$0\" \"$1\" <&- >&- 2>&-; echo $?", "141"), ("\"$0\" \"$1\" >&-; echo $?", "141"),
            ("\"$0\" \"$1\" a=b -o out <&- >&- 2>&-; echo $?; cat out", "0\n{\"a\":\"b\"}"),
            ("\"$0\" --nonsense <&- >&- 2>&-; echo $?", "2"), ("\"$0\" POST \"$1\" @- <&-; echo $?", "0"),
        ] {
            let (_, output) = try await shell(script, server.url + "/a", in: folder.path)
            let text = String(decoding: output, as: UTF8.self)
            #expect(text.trimmingCharacters(in: .whitespacesAndNewlines) == expected, "\(script)")
        }
    }

    @Test func eventsEndWithTheReaderOfTheOutput() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.get, "/e") { _ in .events([.event("one"), .event("two")]) }
        let streams = Streams()
        streams.content.withLock { $0.isClosed = true }
        let code = await CommandLineTool.run(["events", server.url + "/e", "--no-reconnect"], io: streams.io())
        #expect(code == 141 && streams.text(\.error).isEmpty)
    }

    @Test func anInterruptEndsTheWaitForInput() async throws {
        let server = try MockServer()
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let pipe = folder.path + "/pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        let program = try Program.command()
        let process = try CompanionProcess(
            "/bin/sh", ["-c", "echo $$; exec \"$0\" \"$1\" @- < \"$2\"", program, server.url, pipe])
        let number = try await onThread { process.readLine() }
        // The pipe has room for less, so the command reads by the time that all is written.
        let writer = try await onThread { () -> FileHandle in
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: pipe))
            try handle.write(contentsOf: Data(count: 400_000))
            return handle
        }
        kill(try #require(pid_t(number)), SIGINT)
        let code = try await onThread { process.finish() }
        #expect(code >> 8 & 0xFF == 130)
        try writer.close()
    }

    @Test func anOutputThatDoesNotBlockReceivesEverything() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.get, "/a") { _ in .generated(bytes: 20_000_000) }
        let program = try Program.command()
        let url = server.url + "/a"
        let script = """
            import fcntl, os, sys
            fcntl.fcntl(1, fcntl.F_SETFL, os.O_NONBLOCK)
            os.execv(sys.argv[1], sys.argv[1:])
            """
        let output = try await onThread { try Program.run(Program.python(), ["-c", script, program, url]) }
        #expect(output.count == 20_000_000)
    }

    @Test func namedPipesAreReadAndWritten() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(nil, "/a") { _ in .text("ok") }
        let folder = try TemporaryFolder()
        let credential = folder.path + "/credential"
        #expect(mkfifo(credential, 0o600) == 0)
        Thread {
            guard let handle = try? FileHandle(forWritingTo: URL(fileURLWithPath: credential)) else { return }
            try? handle.write(contentsOf: Data("u:p\n".utf8))
            try? handle.close()
        }.start()
        let run = await Run(server.url + "/a", "-a", "@\(credential)")
        #expect(run.code == 0 && server.requests.last?.headers[.authorization] == "Basic dTpw", "\(run.error)")

        // A path that is no regular file is written to, not replaced.
        let har = folder.path + "/har"
        #expect(mkfifo(har, 0o600) == 0)
        let text = Task { try await onThread { try FileHandle(forReadingFrom: URL(fileURLWithPath: har)).readToEnd() } }
        #expect(await Run(server.url + "/a", "--har", har).code == 0)
        let kind = try FileManager.default.attributesOfItem(atPath: har)[.type] as? FileAttributeType
        try #require(kind != .typeRegular)
        #expect(String(decoding: try await text.value ?? Data(), as: UTF8.self).contains("\"log\""))
    }
}
