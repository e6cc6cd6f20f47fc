// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import Foundation
import Testing

@testable import CurlewCommand

@Suite(.timeLimit(.minutes(2)))
struct CommandTests {
    @Test func downloadsAreSavedCheckedAndNotOverwritten() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.get, "/f.bin") { _ in MockResponse.generated(bytes: 100_000).with(headers: ["ETag": "\"1\""]) }
        let folder = try TemporaryFolder()
        let url = server.url + "/f.bin"
        let first = await Run("download", url, folder: folder.path)
        #expect(first.code == 0 && first.output.contains("f.bin: 100000 bytes"), "\(first.error)")
        #expect(first.error.contains("100 %"))
        let second = await Run("download", url, "-o", "f.bin", folder: folder.path)
        #expect(second.code == 14 && second.error.contains("--replace"), "\(second.error)")
        #expect(await Run("download", url, "-o", "f.bin", "--replace", "-q", folder: folder.path).error.isEmpty)
        let digest = MessageDigest.sha256(MockResponse.pattern(0..<100_000)).map { byte in
            String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }.joined()
        let checked = await Run("download", url, "-o", "g", "--checksum=sha256:\(digest)", folder: folder.path)
        #expect(checked.code == 0, "\(checked.error)")
        let zeros = String(repeating: "0", count: 64)
        #expect(await Run("download", url, "-o", "h", "--checksum=sha256:\(zeros)", folder: folder.path).code == 10)
        #expect(await Run("download", url, "-o", "h", "--checksum=md5:1", folder: folder.path).code == 2)
    }

    @Test func aPartialDownloadIsContinuedUnlessItIsRestarted() async throws {
        let server = try MockServer()
        defer { server.stop() }
        let body = MockResponse.pattern(0..<3_000_000)
        server.on(.get, "/f") { request in
            let start = request.headers[.range].flatMap { Int($0.dropFirst(6).prefix { $0 != "-" }) } ?? 0
            var response = MockResponse.data(body.suffix(from: start))
            response.headers["ETag"] = "\"1\""
            guard start > 0 else { return response.stalled(at: .afterBytes(2_000_000)) }
            response.status = .partialContent
            response.headers["Content-Range"] = "bytes \(start)-2999999/3000000"
            return response
        }
        let folder = try TemporaryFolder()
        let words = ["download", server.url + "/f", "-o", folder.path + "/f"]
        let streams = Streams()
        let task = Task { await CommandLineTool.run(words, io: streams.io(terminal: true)) }
        let size = {
            (try? FileManager.default.attributesOfItem(atPath: folder.path + "/f.part")[.size] as? Int) ?? 0
        }
        #expect(await eventually { size() >= 1_500_000 })
        task.cancel()
        #expect(await task.value == 130)
        #expect(streams.text(\.error).contains("The same command continues it."))
        let run = await Run(words)
        #expect(run.code == 0 && run.output.contains("were there before"), "\(run.output) \(run.error)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path + "/f")) == body)
        let count = server.requestCount
        let again = await Run(words + ["--replace", "--restart", "--max-time=0.3"])
        #expect(again.code != 0)
        #expect(server.requests.dropFirst(count).first?.headers[.range] == nil)
    }

    @Test func filesAreUploaded() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(nil, "/up") { _ in .text("stored") }
        let folder = try TemporaryFolder()
        _ = try folder.file("f.txt", Data("content".utf8))
        let run = await Run("upload", "f.txt", server.url + "/up", "X-A:1", folder: folder.path)
        #expect(run.code == 0 && run.output == "stored", "\(run.error)")
        #expect(server.requests.last?.text == "content" && server.requests.last?.headers["X-A"] == "1")
        #expect(await Run("upload", "f.txt").code == 2)
    }

    @Test func eventsArePrintedAsJSONLines() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.get, "/e") { _ in .events([.event("one", id: "1"), .event("two\nlines", name: "n")]) }
        let run = await Run("events", server.url + "/e", "--no-reconnect")
        let lines = run.output.split(separator: "\n")
        #expect(
            lines == [#"{"event":"message","id":"1","data":"one"}"#, #"{"event":"n","id":"1","data":"two\nlines"}"#])
        let counted = await Run(
            "events", server.url + "/e", "--count=1", terminal: true, environment: ["NO_COLOR": "1"])
        #expect(counted.code == 0 && counted.output == "message (1)\none\n", "\(counted.output) \(counted.error)")
    }

    @Test func aServerThatIsNotReachedIsReported() async throws {
        let words = ["events", "http://127.0.0.1:1/a", "--max-time=3"]
        let run = await Run(words)
        #expect(run.code == 8 && run.error.components(separatedBy: "unreachable").count == 2, "\(run.error)")
        #expect(await Run(words + ["--quiet"]).error.contains("unreachable") == false)
        #expect(await Run(words + ["--no-reconnect"]).code == 6)
    }

    @Test func linesAreSentOverAWebSocket() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.get, "/ws") { _ in
            .webSocket { socket in
                while let message = try await socket.next() {
                    if case .text(let text) = message { try socket.send("echo \(text)") }
                }
            }
        }
        let run = await Run("ws", server.url + "/ws", input: ["a\nb", "c\r\nd"])
        #expect(run.code == 0 && run.output == "echo a\necho bc\necho d\n", "\(run.output) \(run.error)")
        let counted = await Run("ws", server.url + "/ws", "--count=1", input: ["a\n"])
        #expect(counted.output == "echo a\n")
    }

    @Test func theEndOfAWebSocketDecidesTheExitCode() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.get, "/error") { _ in
            .webSocket { socket in
                _ = try await socket.next()
                socket.close(.internalError, reason: "broken\u{9B}")
            }
        }
        server.on(.get, "/normal") { _ in
            .webSocket { socket in
                _ = try await socket.next()
                socket.close()
            }
        }
        let error = await Run("ws", server.url + "/error", input: ["a\n"])
        #expect(error.code == 10 && error.error.contains("1011: broken"), "\(error.error)")
        #expect(!error.error.unicodeScalars.contains(where: SafeText.isActive))
        let normal = await Run("ws", server.url + "/normal", input: ["a\n"])
        #expect(normal.code == 0 && normal.error.isEmpty, "\(normal.error)")

        // The second line comes after the end.
        let streams = Streams()
        var io = streams.io()
        let sent = Locked(0)
        io.read = {
            if sent.withLock({
                $0 += 1; return $0
            }) > 200 {
                return nil
            }
            return Data((String(repeating: "x", count: 100_000) + "\n").utf8)
        }
        let code = await CommandLineTool.run(["ws", server.url + "/normal"], io: io)
        #expect(code == 1 && streams.text(\.error).contains("Not all lines"), "\(streams.text(\.error))")

        var bytes = Streams().io()
        bytes.read = { Data([0xFF, 0x0A]) }
        #expect(await CommandLineTool.run(["ws", server.url + "/normal"], io: bytes) == 2)
    }

    @Test func theSampleAPIIsServed() async throws {
        let streams = Streams()
        let task = Task { await CommandLineTool.run(["serve", "--port=0"], io: streams.io(terminal: true)) }
        #expect(await eventually { streams.text(\.output).contains("\n") })
        let url = String(streams.text(\.output).dropLast())
        #expect(await Run(url + "/products", "limit==1").code == 0)
        #expect(await Run("serve", "--port=70000").code == 2)
        task.cancel()
        #expect(await task.value == 130)
    }

    @Test func harFilesAreConverted() async throws {
        let folder = try TemporaryFolder()
        func document(_ status: Int, _ text: String) -> Data {
            Data(
                """
                {"log":{"version":"1.2","creator":{"name":"x","version":"1"},"entries":[{"startedDateTime":
                "2026-01-01T00:00:00.000Z","time":12,"request":{"method":"POST","url":"https://h.example/a?token=hunter2",
                "httpVersion":"HTTP/1.1","headers":[{"name":"Authorization","value":"hunter2"}],"cookies":[],
                "queryString":[{"name":"token","value":"hunter2"}],"headersSize":-1,"bodySize":-1,
                "postData":{"mimeType":"application/json","text":"{\\"password\\":\\"hunter2\\"}"}},
                "response":{"status":\(status),"statusText":"","httpVersion":"HTTP/1.1","headers":[],"cookies":
                [{"name":"sid","value":"hunter2"}],"content":{"size":2,"mimeType":"text/plain","text":"\(text)"},
                "redirectURL":"","headersSize":-1,"bodySize":-1},"cache":{},"timings":{"send":0,"wait":1,"receive":1}}]}}
                """.utf8)
        }
        _ = try folder.file("a.har", document(200, "ok"))
        let redacted = await Run("har", "redact", "a.har", folder: folder.path)
        #expect(!redacted.output.contains("hunter2") && redacted.json["log"]["entries"][0]["time"].double == 12)
        let report = await Run("har", "report", "a.har", folder: folder.path)
        #expect(report.output.contains("<html") && !report.output.contains("hunter2"), "\(report.error)")
        let curl = await Run("har", "curl", "a.har", folder: folder.path)
        #expect(curl.output.contains("--request 'POST'") && curl.output.contains("https://h.example/a?token=REDACTED"))
        #expect(!curl.output.contains("hunter2"))
        #expect(await Run("har", "reprot", "a.har").error.contains("har report, curl or redact"))
        #expect(await Run("har", "report", "missing.har", folder: folder.path).code == 14)
        _ = try folder.file("c.har", Data("{}".utf8))
        #expect(await Run("har", "report", "c.har", folder: folder.path).code == 11)
    }
}
