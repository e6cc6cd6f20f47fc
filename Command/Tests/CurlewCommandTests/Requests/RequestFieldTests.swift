// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import Foundation
import Testing

@testable import CurlewCommand

/// URLs, fields and files of requests, where a mistake would send something else than was written.
@Suite(.timeLimit(.minutes(2)))
struct RequestFieldTests {
    @Test func removedFieldsAreNotSent() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(nil, "/a") { _ in .text("ok") }
        let words = [server.url + "/a", "a=b", "Accept:", "Content-Type:", "Accept-Encoding:", "User-Agent:"]
        let run = await Run(words)
        let request = try #require(server.requests.last, "\(run.error)")
        for name in [HTTPField.Name.accept, .contentType, .acceptEncoding, .userAgent] {
            #expect(!request.headers.contains(name), "\(name)")
        }
        #expect(request.text == #"{"a":"b"}"#)
        #expect(await Run(words + ["--offline"]).output.contains("Content-Type") == false)
        // A field of a credential that a session or --auth would add.
        #expect(await Run(server.url + "/a", "-a", "u:p", "Authorization:").code == 0)
        #expect(server.requests.last?.headers[.authorization] == nil)
        for name in ["Host", "Content-Length", "Transfer-Encoding", "Connection"] {
            #expect(await Run(server.url + "/a", "\(name):").code == 2, "\(name)")
        }
    }

    @Test func aURLInAQueryIsNoScheme() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.get, "/a") { request in .text(request.query["to"] ?? "") }
        let address = String(server.url.dropFirst("http://".count))
        let run = await Run(address + "/a?to=http://x")
        #expect(run.output == "http://x", "\(run.error)")
        #expect(await Run("curl", "--", "curl", "\(address)/a?to=http://x").output == "http://x")
        #expect(await Run("get", address + "/a?to=http://y").output == "http://y")
    }

    @Test func theHostAndCredentialsOfAURLAreExplained() async {
        let user = await Run("http://me:hunter2@127.0.0.1:1/a")
        #expect(user.code == 2 && user.error.contains("--auth") && !user.error.contains("hunter2"), "\(user.error)")
        let host = await Run("http://127.0.0.1:1/a", "Host:x")
        #expect(host.code == 2 && host.error.contains("into the URL"), "\(host.error)")
    }

    @Test func adviceHidesSecrets() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.get, "/a") { _ in .redirect(to: "/b?token=hunter2&c=d") }
        let run = await Run(server.url + "/a", "-h", terminal: true)
        #expect(run.error.contains("c=d") && !(run.error + run.output).contains("hunter2"), "\(run.error)")
        #expect(await Run(server.url + "/a", "--show-secrets", terminal: true).error.contains("hunter2"))
    }

    @Test func aDumbTerminalReceivesSafePlainText() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.get, "/a") { _ in .text("a\u{1B}[31mb") }
        server.on(.get, "/f") { _ in .generated(bytes: 100_000) }
        let run = await Run(server.url + "/a", terminal: true, environment: ["TERM": "dumb"])
        #expect(run.code == 0 && !run.output.contains("\u{1B}") && run.output.contains("a\\u{1B}[31mb"))
        let folder = try TemporaryFolder()
        let download = await Run(
            "download", server.url + "/f", terminal: true, environment: ["TERM": "dumb"], folder: folder.path)
        #expect(!download.error.contains("\u{1B}") && !download.error.contains("\r"), "\(download.error)")
    }

    @Test func aLongTextKeepsItsCharactersOnATerminal() async throws {
        let server = try MockServer()
        defer { server.stop() }
        let text = "x" + String(repeating: "é€", count: 2_400_000)
        server.on(.get, "/a") { _ in .text(text) }
        let run = await Run(server.url + "/a", "-b", terminal: true)
        #expect(run.code == 0 && run.output == text)
    }

    @Test func whatArrivedBeforeAFailureIsShown() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.get, "/a") { _ in MockResponse.text("first line\nsecond").truncated(after: 12) }
        let run = await Run(server.url + "/a", "-b", terminal: true)
        #expect(run.code == 7 && run.output.hasPrefix("first line\n"), "\(run.output)")
    }

    @Test func textsOfFilesAreText() async throws {
        let folder = try TemporaryFolder()
        _ = try folder.file("bytes", Data([0x61, 0xFF]))
        let run = await Run("http://127.0.0.1:1", "a=@bytes", "--offline", folder: folder.path)
        #expect(run.code == 2 && run.error.contains("UTF-8"), "\(run.output)")
    }

    @Test func aDashIsTheStandardOutput() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.get, "/a") { _ in .data(Data([0, 1])) }
        let folder = try TemporaryFolder()
        let run = await Run(server.url + "/a", "-o", "-", "-h", terminal: true, folder: folder.path)
        #expect(run.output.hasSuffix("\u{0}\u{1}"))
        #expect(await Run("download", server.url + "/a", "-o", "-", folder: folder.path).code == 2)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test func aPreviewKeepsNothing() async throws {
        let folder = try TemporaryFolder()
        let words = ["http://127.0.0.1:1/a", "--session=./s", "-a", "u:p"]
        #expect(await Run(words + ["--offline"], folder: folder.path).code == 0)
        #expect(await Run(words + ["--curl"], folder: folder.path).code == 0)
        let curl = ["curl", "--offline", "--session=./s", "-a", "u:p", "--", "curl", "http://127.0.0.1:1/a"]
        #expect(await Run(curl, folder: folder.path).code == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test func adviceNamesOptions() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.get, "/slow") { _ in MockResponse.text("late").stalled(at: .beforeHead) }
        let gone = try MockServer()
        gone.stop()
        for (words, option) in [
            (["http://h.test/a", "--proxy", gone.url], "--proxy"),
            ([server.url + "/slow", "--max-time=0.2"], "--max-time"),
        ] {
            let run = await Run(words)
            let advice = run.error.split(separator: "\n").first { $0.hasPrefix("  next") } ?? ""
            #expect(advice.contains(option), "\(run.error)")
            #expect(!run.error.contains("TransportConfiguration") && !run.error.contains("Timeouts."))
            // On a terminal, lines end between words and have the colours of other texts.
            let shown = await Run(words, terminal: true, columns: 50).error
            let lines = shown.replacing(#/\u{1B}\[[0-9;]*m/#, with: "").split(separator: "\n")
            #expect(lines.allSatisfy { $0.count <= 50 } && lines.contains { $0.hasPrefix("             ") } == false)
            #expect(lines.contains { $0.hasPrefix("            ") })
            #expect(shown.contains("\u{1B}[36m  next      \u{1B}[0m"))
            let plain = await Run(words + ["--color=never"], terminal: true, columns: 50).error
            #expect(!plain.contains("\u{1B}"))
        }
    }

    @Test func theSummaryBeginsALine() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.get, "/a") { _ in .text("body") }
        #expect(await Run(server.url + "/a", "--print=bm").output.hasPrefix("body\nStatus: 200\n"))
    }

    @Test func whatIsSaidOfAPartialFileIsTrue() async throws {
        for hasVersion in [true, false] {
            let server = try MockServer()
            defer { server.stop() }
            server.on(.get, "/f.bin") { _ in
                var response = MockResponse.generated(bytes: 3_000_000)
                if hasVersion { response.headers["ETag"] = "\"1\"" }
                return response.stalled(at: .afterBytes(2_000_000))
            }
            for output in [[], ["-o", "g"]] {
                let folder = try TemporaryFolder()
                let streams = Streams()
                let words = ["download", server.url + "/f.bin"] + output
                let io = streams.io(terminal: true, folder: folder.path)
                let task = Task { await CommandLineTool.run(words, io: io) }
                let path = folder.path
                #expect(await eventually { Self.sizeOfPartialFile(in: path) > 1_000_000 })
                task.cancel()
                #expect(await task.value == 130)
                let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
                let stays = files.contains { $0.hasSuffix(".part") }
                let says = streams.text(\.error).contains("The partial file stays")
                #expect(stays == says && stays == hasVersion, "\(files) \(streams.text(\.error))")
            }
        }
    }

    private static func sizeOfPartialFile(in folder: String) -> Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasSuffix(".part") }.compactMap { name in
            try? FileManager.default.attributesOfItem(atPath: folder + "/" + name)[.size] as? Int
        }.max() ?? 0
    }
}
