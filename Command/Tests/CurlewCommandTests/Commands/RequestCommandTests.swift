// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import Foundation
import Testing

@testable import CurlewCommand

@Suite(.timeLimit(.minutes(2)))
struct RequestCommandTests {
    /// Sends a request and returns what the server received.
    private func received(_ arguments: String..., input: [String] = [], folder: String = "") async throws
        -> RecordedRequest
    {
        let server = try MockServer()
        defer { server.stop() }
        server.on(nil, "/a") { _ in .text("ok") }
        let words = arguments.map { $0 == "URL" ? server.url + "/a" : $0 }
        let run = await Run(words, input: input, folder: folder)
        #expect(run.code == 0, "\(run.error)")
        return try #require(server.requests.first, "\(run.error)")
    }

    @Test func itemsBecomeAJSONObject() async throws {
        let request = try await received("URL", "name=Ann", "age:=31", "tags:=[1,\"a\"]", "q==a b", "X-A:1")
        #expect(request.method == .post)
        #expect(request.text == #"{"name":"Ann","age":31,"tags":[1,"a"]}"#)
        #expect(request.headers[.contentType] == "application/json")
        #expect(request.query["q"] == "a b" && request.headers["X-A"] == "1")
        #expect(request.headers[.userAgent] == "curlew/0.1" && request.headers[.accept] == "*/*")
    }

    @Test func theMethodIsGuessedOrGiven() async throws {
        #expect(try await received("URL").method == .get)
        #expect(try await received("URL", "q==1").method == .get)
        #expect(try await received("PUT", "URL", "a=b").method == .put)
        #expect(try await received("delete", "URL").method == .delete)
        #expect(try await received("PURGE", "URL").method == "PURGE")
        #expect(try await received("M-SEARCH", "URL").method == "M-SEARCH")
    }

    @Test func fieldsAreRemovedAndEmptied() async throws {
        let request = try await received("URL", "User-Agent:", "Accept:", "X-B;")
        #expect(request.headers[.userAgent] == nil)
        #expect(request.headers["X-B"]?.isEmpty == true)
    }

    @Test func formsAndFiles() async throws {
        let folder = try TemporaryFolder()
        _ = try folder.file("f.txt", Data("text".utf8))
        _ = try folder.file("f.json", Data("[1]".utf8))
        let form = try await received("--form", "URL", "a=b c", "d=&")
        #expect(form.text == "a=b+c&d=%26" && form.headers[.contentType] == "application/x-www-form-urlencoded")
        let json = try await received("--json", "URL", "a=@f.txt", "b:=@f.json", folder: folder.path)
        #expect(json.text == #"{"a":"text","b":[1]}"#)
        for option in ["--form", "--multipart"] {
            let parts = try await received(option, "URL", "f@f.txt;type=text/plain", "a=b", folder: folder.path)
            #expect(parts.headers[.contentType]?.contains("multipart/form-data") == true)
            #expect(parts.text.contains("filename=\"f.txt\"") && parts.text.contains("Content-Type: text/plain"))
        }
        #expect(try await received("URL", "@f.txt", folder: folder.path).text == "text")
        #expect(try await received("URL", "--raw", "{\"a\":1}").headers[.contentType] == "application/json")
        #expect(try await received("URL", "@-", input: ["a", "b"]).text == "ab")
    }

    @Test func aLongInputIsStreamed() async throws {
        let piece = String(repeating: "x", count: 600_000)
        let request = try await received("URL", "@-", input: [piece, piece, piece])
        #expect(request.body.count == 1_800_000)
    }

    @Test func aPipeReceivesTheBytesAndATerminalReadableText() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.get, "/a") { _ in .json(text: #"{"b":[1,{}],"a":"é\u001b"}"#) }
        let plain = await Run(server.url + "/a")
        #expect(plain.output == #"{"b":[1,{}],"a":"é\u001b"}"#)
        let shown = await Run(server.url + "/a", "-b", terminal: true, environment: ["NO_COLOR": "1"])
        #expect(shown.output == "{\n  \"b\": [\n    1,\n    {}\n  ],\n  \"a\": \"é\\u001b\"\n}\n")
        let colored = await Run(server.url + "/a", "--color=always")
        #expect(colored.output.contains("\u{1B}[36m\"b\"\u{1B}[0m"))
        let head = await Run(server.url + "/a", "--color=never", terminal: true)
        #expect(head.output.hasPrefix("HTTP/1.1 200") && !head.output.contains("\u{1B}"))
    }

    @Test func hostileTextCannotReachTheTerminal() async throws {
        let server = try MockServer()
        defer { server.stop() }
        let hostile = "a\u{1B}]0;x\u{7}\u{9B}31m\u{202E}\u{7F}\rb"
        server.on(.get, "/text") { _ in .text(hostile) }
        server.on(.get, "/json") { _ in .json(text: "{\"a\":\"\u{9B}\u{202E}\u{7F}\"}") }
        server.on(.get, "/head") { _ in MockResponse(headers: ["X-A": "a\u{9B}31m"]) }
        server.on(.get, "/bytes") { _ in .data(Data([0, 0x1B, 0x5D])) }
        for path in ["text", "json", "head", "bytes"] {
            let run = await Run(server.url + "/" + path, terminal: true, environment: ["NO_COLOR": "1"])
            #expect(run.code == 0, "\(run.error)")
            #expect(!run.output.unicodeScalars.contains(where: SafeText.isActive), "\(path)")
        }
        let json = await Run(server.url + "/json", "-b", terminal: true, environment: ["NO_COLOR": "1"])
        #expect(json.json["a"].string == "\u{9B}\u{202E}\u{7F}")
        let bytes = await Run(server.url + "/bytes", "-b", terminal: true)
        #expect(bytes.output.contains("3 bytes"))
    }

    @Test func thePartsAreChosen() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.post, "/a") { _ in .text("body") }
        let url = server.url + "/a"
        #expect(await Run(url, "a=b", "--body").output == "body")
        #expect(await Run(url, "a=b", "--headers").output.hasPrefix("HTTP/1.1 200"))
        #expect(await Run(url, "a=b", "--print=m").output.hasPrefix("Status: 200\n"))
        #expect(await Run(url, "a=b", "--print=bm").output.contains("Body: 4 bytes"))
        let verbose = await Run(url, "a=b", "--verbose").output
        #expect(verbose.contains("POST /a HTTP/1.1") && verbose.contains("HTTP/1.1 200") && verbose.contains("Time: "))
        #expect(await Run(url, "a=b", "--print=B").output == "{\"a\":\"b\"}\n")
        #expect(await Run(url, "--print=x").code == 2)
        #expect(await Run(url, "a=b", "--print=").output.isEmpty)
    }

    @Test func secretsAreShownOnDemandOnly() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(nil, "/a") { _ in MockResponse(headers: ["Set-Cookie": "sid=hunter2"]) }
        let words = [server.url + "/a?token=hunter2", "-a", "me:hunter2", "password=hunter2", "Authorization2:x", "-v"]
        let hidden = await Run(words)
        #expect(hidden.code == 0 && !hidden.output.contains("hunter2"), "\(hidden.output)")
        #expect(!hidden.output.contains("bWU6aHVudGVyMg"))
        let shown = await Run(words + ["--show-secrets"])
        #expect(shown.output.contains("hunter2") && shown.output.contains("bWU6aHVudGVyMg"))
        for option in ["--offline", "--curl"] {
            let preview = await Run(words + [option])
            #expect(preview.code == 0 && !preview.output.contains("hunter2"), "\(preview.output)")
            #expect(!preview.output.contains("bWU6aHVudGVyMg"))
            #expect(
                preview.error == "curlew: Secrets are withheld from Authorization2, Authorization, the URL, the body. "
                    + "--show-secrets shows them.\n")
            #expect(await Run(words + [option, "--quiet"]).error.isEmpty)
            let shown = await Run(words + [option, "--show-secrets"])
            #expect(shown.output.contains("bWU6aHVudGVyMg") && shown.error.isEmpty)
        }
        #expect(await Run(words + ["--explain"]).error.contains("hunter2") == false)
        // The secrets of some types of bodies cannot be recognized.
        for type in [["--multipart"], ["--form"], ["Content-Type:multipart/form-data; boundary=b"]] {
            for option in ["-v", "--offline", "--curl", "--print=B"] {
                let other = await Run([server.url + "/a", "password=hunter2", option] + type)
                #expect(other.code == 0 && !other.output.contains("hunter2"), "\(other.output)")
            }
        }
        let parts = await Run(server.url + "/a", "password=hunter2", "--multipart", "--print=B", "--show-secrets")
        #expect(parts.output.contains("hunter2"))
    }

    @Test func exitCodesFollowTheTable() async throws {
        let server = try MockServer()
        server.on(.get, "/:status") { request in .status(HTTPStatus(Int(request.path.dropFirst()) ?? 500)) }
        server.on(.get, "/lost") { _ in MockResponse.text("abc").truncated(after: 1) }
        server.on(.get, "/slow") { _ in MockResponse.text("abc").stalled(at: .beforeHead) }
        server.on(.get, "/bad") { _ in .raw(Data("nonsense\r\n\r\n".utf8)) }
        for (path, code) in [("200", 0), ("204", 0), ("302", 3), ("404", 4), ("503", 5), ("lost", 7)] {
            #expect(await Run(server.url + "/" + path).code == code, "\(path)")
        }
        #expect(await Run(server.url + "/404", "--ignore-status").code == 0)
        #expect(await Run(server.url + "/slow", "--max-time=0.2").code == 8)
        let origin = server.url
        server.stop()
        #expect(await Run(origin + "/a").code == 6)
        #expect(await Run([]).code == 2)
        #expect(await Run("http://[bad").code == 2)
        #expect(await Run(origin, "@/missing/file").code == 2)
        #expect(await Run(origin, "a=@/missing/file").code == 14)
        #expect(await Run(origin, "-a", "x").code == 2)
        #expect(Set(ExitCode.allCases.map(\.rawValue)).count == ExitCode.allCases.count)
    }

    @Test func redirectsAreFollowedOnRequest() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.get, "/a") { _ in .redirect(to: "/b") }
        server.on(.get, "/b") { _ in .text("there") }
        let stays = await Run(server.url + "/a", terminal: true)
        #expect(stays.code == 3 && stays.error.contains("Add --follow"))
        let quiet = await Run(server.url + "/a", "--quiet", terminal: true)
        #expect(!quiet.error.contains("Add --follow"))
        let follows = await Run(server.url + "/a", "--follow", "--explain", "--timing")
        #expect(follows.code == 0 && follows.output == "there")
        #expect(follows.error.contains("redirect.followed") && follows.error.contains("after 1 redirect"))
        #expect(follows.error.contains("send and wait") && follows.error.contains("receive"))
    }

    @Test func exchangesAreRecorded() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.post, "/a") { _ in .json(text: #"{"token":"hunter2","b":1}"#) }
        let folder = try TemporaryFolder()
        let run = await Run(
            server.url + "/a?token=hunter2", "-a", "u:hunter2", "password=hunter2", "--har", "x.har",
            "--report=x.html", folder: folder.path)
        #expect(run.code == 0, "\(run.error)")
        for name in ["x.har", "x.html"] {
            let text = try String(contentsOfFile: folder.path + "/" + name, encoding: .utf8)
            #expect(text.contains("REDACTED") && !text.contains("hunter2") && !text.contains("dTpodW50ZXIy"), "\(name)")
        }
        let curl = await Run("har", "curl", "x.har", folder: folder.path)
        #expect(curl.output.components(separatedBy: "curl --").count == 2, "\(curl.output)")
        #expect(await Run(server.url + "/a", "x=y", "--har", "no/such/x.har", folder: folder.path).code == 14)
        // The failure of the request matters more than that of the file.
        for command in [[], ["download"], ["events"], ["ws"]] {
            let words =
                command + ["http://127.0.0.1:1/a", "--har", "no/such/x.har"]
                + (command == ["events"] ? ["--no-reconnect"] : [])
            let failed = await Run(words, folder: folder.path)
            #expect(failed.code == 6 && failed.error.contains("no/such/x.har"), "\(command): \(failed.error)")
        }
    }

    @Test func failedRequestsAreRepeatedOnRequest() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.enqueue(.status(503), .text("ok"))
        let run = await Run(server.url, "--retry=2", "--explain")
        #expect(run.code == 0 && run.output == "ok" && server.requestCount == 2, "\(run.error)")
        #expect(run.error.contains("attempt 2"))
    }

    @Test func bodiesAreWrittenToFiles() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.get, "/a") { _ in .generated(bytes: 300_000, chunked: true) }
        let folder = try TemporaryFolder()
        let run = await Run(server.url + "/a", "--output", "out.bin", folder: folder.path)
        #expect(run.code == 0 && run.output.isEmpty)
        #expect(
            try Data(contentsOf: URL(fileURLWithPath: folder.path + "/out.bin")) == MockResponse.pattern(0..<300_000))
        #expect(await Run(server.url + "/a", "-o", "no/such/out", folder: folder.path).code == 14)
    }

    @Test func aClosedOutputEndsQuietly() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.get, "/a") { _ in .generated(bytes: 5_000_000) }
        let streams = Streams()
        streams.content.withLock { $0.isClosed = true }
        let code = await CommandLineTool.run([server.url + "/a"], io: streams.io())
        #expect(code == 141 && streams.text(\.error).isEmpty)
    }

    @Test func cancellingTheTaskInterrupts() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.get, "/a") { _ in MockResponse.text("abc").stalled(at: .beforeHead) }
        let url = server.url + "/a"
        let task = Task { await CommandLineTool.run([url], io: Streams().io()) }
        try await server.waitForRequests(count: 1, timeout: .seconds(60))
        task.cancel()
        #expect(await task.value == 130)
    }

    @Test func sessionsKeepCookies() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.get, "/a") { _ in MockResponse(headers: ["Set-Cookie": "sid=7"]) }
        let folder = try TemporaryFolder()
        let environment = ["XDG_CONFIG_HOME": folder.path]
        #expect(await Run(server.url + "/a", "--session=me", "-a", "u:p", environment: environment).code == 0)
        #expect(await Run(server.url + "/a", "--session=me", environment: environment).code == 0)
        let second = try #require(server.requests.last)
        #expect(second.headers[.cookie] == "sid=7" && second.headers[.authorization] == nil)
        let path = folder.path + "/curlew/sessions/me.cookies.json"
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(await Run(server.url + "/a", "--session=./own", folder: folder.path).code == 0)
        #expect(FileManager.default.fileExists(atPath: folder.path + "/own.cookies.json"))
    }

    @Test func credentialsOfEveryKind() async throws {
        let folder = try TemporaryFolder()
        _ = try folder.file("token", Data("abc\n".utf8))
        let bearer = try await received("URL", "-a", "@token", "--auth-type=bearer", folder: folder.path)
        #expect(bearer.headers[.authorization] == "Bearer abc")
        #expect(try await received("URL", "--auth=a:b:c").headers[.authorization] == "Basic YTpiOmM=")
        let server = try MockServer()
        defer { server.stop() }
        server.on(.get, "/a") { request in
            guard let field = request.headers[.authorization] else {
                let challenge = "Digest realm=\"r\", nonce=\"n\", qop=\"auth\", algorithm=MD5"
                return MockResponse(status: 401, headers: ["WWW-Authenticate": challenge])
            }
            return .text(field.hasPrefix("Digest ") ? "ok" : "no")
        }
        #expect(await Run(server.url + "/a", "-A", "digest", "-a", "u:p").output == "ok")
        #expect(await Run(server.url + "/a", "-A", "digest").code == 2)
    }
}
