// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import Foundation
import Testing

@testable import CurlewCommand

/// curl commands whose meaning must not change when they are read.
@Suite(.timeLimit(.minutes(2)))
struct CurlReaderTests {
    /// Runs a curl command, in which URL is the address of a server, and returns the request that arrived.
    private func received(_ command: String, input: [String] = [], folder: String = "") async throws -> RecordedRequest
    {
        let server = try MockServer()
        defer { server.stop() }
        server.on(nil, "/*") { _ in .text("ok") }
        let text = command.replacingOccurrences(of: "URL", with: server.url + "/a")
        let run = try await Run(["curl", "--"] + shellWords(text), input: input, folder: folder)
        #expect(run.code == 0, "\(command): \(run.error)")
        return try #require(server.requests.last, "\(command): \(run.error)")
    }

    @Test func bytesOfFilesAreSentUnchanged() async throws {
        let folder = try TemporaryFolder()
        let bytes = Data([0x61, 0xFF, 0, 0x0D, 0x0A, 0x62])
        _ = try folder.file("bytes", bytes)
        #expect(try await received("curl --data-binary @bytes URL", folder: folder.path).body == bytes)
        #expect(try await received("curl -d @bytes URL", folder: folder.path).body == Data([0x61, 0xFF, 0x62]))
        #expect(
            try await received("curl --data-urlencode n@bytes URL", folder: folder.path).text == "n=a%FF%00%0D%0Ab")
        #expect(try await received("curl -T bytes URL", folder: folder.path).body == bytes)
    }

    @Test func theInputIsRead() async throws {
        #expect(try await received("curl -d @- URL", input: ["a\n", "b"]).text == "ab")
        #expect(try await received("curl --data-binary @- URL", input: ["a\n", "b"]).text == "a\nb")
        let upload = try await received("curl -T - URL", input: ["c"])
        #expect(upload.method == .put && upload.text == "c")
    }

    @Test func partsOfFormsHaveTypesNamesAndFiles() async throws {
        let folder = try TemporaryFolder()
        _ = try folder.file("f.txt", Data("from a file".utf8))
        let form = try await received(
            "curl -F 'a=b c' -F 'c=@f.txt;type=image/png' -F d=@f.txt --form-string 'e=@f;type=x' URL",
            folder: folder.path
        ).text
        #expect(form.contains("name=\"a\"\r\n\r\nb c\r\n"), "\(form)")
        #expect(form.contains("name=\"c\"; filename=\"f.txt\"\r\nContent-Type: image/png"), "\(form)")
        #expect(form.contains("name=\"d\"; filename=\"f.txt\"") && form.contains("from a file"), "\(form)")
        #expect(form.contains("name=\"e\"\r\n\r\n@f;type=x\r\n"), "\(form)")
        for other in ["a=<f.txt", "a=\"b\"", "=b", "a=@f.txt;type=x"] {
            #expect(await Run("curl", "--", "curl", "-F", other, "http://127.0.0.1:1").code == 2, "\(other)")
        }
        #expect(try await Run(["curl", "--"] + shellWords("curl -F 'a=b;headers=x' http://127.0.0.1:1")).code == 2)
        #expect(try await Run(["curl", "--"] + shellWords("curl -F a=b -d c=d http://127.0.0.1:1")).code == 2)
        #expect(try await Run(["curl", "--"] + shellWords("curl -T f -d c=d http://127.0.0.1:1")).code == 2)
    }

    @Test func fieldsAreThoseOfCurl() async throws {
        let cookies = try await received("curl -b a=1 -b b=2 -A '' -e '' -H 'X-E;' -H 'X-F:' URL")
        #expect(cookies.headers.filter { $0.name == .cookie }.map(\.value) == ["a=1; b=2"])
        #expect(!cookies.headers.contains(.userAgent) && !cookies.headers.contains(.referer))
        #expect(cookies.headers["X-E"]?.isEmpty == true && !cookies.headers.contains("X-F"))
        let type = try await received("curl -H 'Content-Type:' -d a=1 URL")
        #expect(!type.headers.contains(.contentType) && type.text == "a=1")
        #expect(try await received("curl -H 'Accept:' URL").headers[.accept] == nil)
        #expect(try await received("curl -H 'Content-Type: text/csv' -d a=1 URL").headers[.contentType] == "text/csv")
    }

    @Test func commandsThatBrowsersCopyAreSent() async throws {
        // Firefox writes what the connection needs, too.
        let server = try MockServer()
        defer { server.stop() }
        server.on(.post, "/a") { request in .text(request.text) }
        let address = String(server.url.dropFirst("http://".count))
        let command = """
            curl '\(server.url)/a' -X POST -H 'User-Agent: Mozilla/5.0' -H 'Accept-Encoding: gzip' -H 'Host: \(address)' \\
              -H 'Connection: keep-alive' -H 'TE: trailers' -H 'Content-Length: 3' -H 'Priority: u=0' --data-raw 'abc'
            """
        let run = try await Run(["curl", "--"] + shellWords(command))
        #expect(run.code == 0 && run.output == "abc" && run.error.isEmpty, "\(run.error)")
        #expect(server.requests.last?.headers["Priority"] == "u=0")
        let chunked = try await Run(
            ["curl", "--"] + shellWords("curl -H 'Transfer-Encoding: chunked' -d abc \(server.url)/a"))
        #expect(chunked.output == "abc" && chunked.error.contains("Transfer-Encoding"), "\(chunked.error)")
        #expect(try await Run(["curl", "--"] + shellWords("curl -H 'Host: other.example' \(server.url)/a")).code == 2)
    }

    @Test func queriesKeepTheirForm() async throws {
        #expect(try await received("curl -G -d abc URL").target == "/a?abc")
        #expect(try await received("curl -G -d a=%2F -d 'b=c d' 'URL?x=y'").target == "/a?x=y&a=%2F&b=c%20d")
        #expect(try await received("curl -G -d '100%=x' URL").target == "/a?100%25=x")
    }

    @Test func severalURLsInOneAreRefused() async throws {
        for url in ["http://127.0.0.1:1/{a,b}", "http://127.0.0.1:1/[1-3]", "http://127.0.0.1:1/?q=[1-3]"] {
            let run = try await Run(["curl", "--"] + shellWords("curl '\(url)'"))
            #expect(run.code == 2 && run.error.contains("--globoff"), "\(run.error)")
        }
        #expect(try await received("curl -g 'URL/{b}'").target == "/a/%7Bb%7D")
        #expect(try await Run(["curl", "--"] + shellWords("curl 'http://[::1]:1/'")).code == 6)
    }

    @Test func credentialsAreTakenLiterally() async throws {
        #expect(try await received("curl -u '@me:p' URL").headers[.authorization] == "Basic QG1lOnA=")
        #expect(try await received("curl --oauth2-bearer @t URL").headers[.authorization] == "Bearer @t")
        let server = try MockServer()
        defer { server.stop() }
        server.on(.get, "/a") { _ in .text("ok") }
        let address = String(server.url.dropFirst("http://".count))
        #expect(try await Run(["curl", "--"] + shellWords("curl http://u:p%40@\(address)/a")).output == "ok")
        #expect(server.requests.last?.headers[.authorization] == "Basic dTpwQA==")
    }
}
