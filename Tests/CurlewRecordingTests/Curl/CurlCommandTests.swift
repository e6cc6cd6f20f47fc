// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore
@testable import CurlewRecording

@Suite(.timeLimit(.minutes(1)))
struct CurlCommandTests {
    @Test("A command has one option to a line, the URL last")
    func whole() throws {
        let request = try HTTPRequest(
            .post, url: "https://a.test/users?page=2", headers: [.contentType: "application/json", .accept: "*/*"],
            body: .bytes(Data(#"{"name":"O'Neil","password":"hunter2"}"#.utf8)))
        #expect(
            request.curlCommand() == #"""
                curl --request 'POST' \
                    --header 'Content-Type: application/json' \
                    --header 'Accept: */*' \
                    --data-raw '{"name":"O'\''Neil","password":"REDACTED"}' \
                    'https://a.test/users?page=2'
                """#)
    }

    @Test("The method is left out where curl would choose it, and HEAD does not wait for a body")
    func methods() throws {
        func command(_ method: HTTPMethod, _ body: RequestBody = .empty) throws -> String {
            try HTTPRequest(method, url: "https://a.test/", headers: [.contentType: "text/plain"], body: body)
                .curlCommand(redaction: .none).replacing(" \\\n    --header 'Content-Type: text/plain'", with: "")
                .replacing("--header 'Content-Type: text/plain' \\\n    ", with: "")
        }
        #expect(try command(.get) == "curl 'https://a.test/'")
        #expect(try command(.head) == "curl --head \\\n    'https://a.test/'")
        #expect(try command(.delete) == "curl --request 'DELETE' \\\n    'https://a.test/'")
        let body = RequestBody.bytes(Data("@file".utf8))
        #expect(try command(.get, body) == "curl --request 'GET' \\\n    --data-raw '@file' \\\n    'https://a.test/'")
    }

    @Test("Without a content type curl invents none, and a field without a value is kept")
    func headers() throws {
        let request = try HTTPRequest(
            .post, url: "https://a.test/", headers: ["X-Empty": ""], body: .bytes(Data("{}".utf8)))
        let command = request.curlCommand()
        #expect(command.contains("--header 'Content-Type:'"))
        #expect(command.contains("--header 'X-Empty;'"))
    }

    @Test("The brackets of an address are not taken for a range")
    func globbing() throws {
        #expect(try HTTPRequest(url: "https://[::1]/").curlCommand() == "curl --globoff \\\n    'https://[::1]/'")
        #expect(try !HTTPRequest(url: "https://a.test/").curlCommand().contains("--globoff"))
    }

    @Test("A file is named; a stream, a binary, long or multipart body is omitted with a comment")
    func bodies() throws {
        func command(_ body: RequestBody, type: String) throws -> String {
            try HTTPRequest(.put, url: "https://a.test/", headers: [.contentType: type], body: body).curlCommand()
        }
        #expect(try command(.file("/a b/it's"), type: "image/png").contains("--data-binary '@/a b/it'\\''s'"))
        let stream = RequestBody.stream { RequestBody.Chunks(AsyncStream<Data> { $0.finish() }) }
        let left: [(RequestBody, String)] = [
            (stream, "application/json"), (.bytes(Data([0xFF, 0])), "application/octet-stream"),
            (.bytes(Data(repeating: 0x61, count: 20_000)), "text/plain"),
            (.bytes(Data("--x\r\n\r\nhunter2".utf8)), "multipart/form-data; boundary=x"),
            (.bytes(Data("a\u{0}b".utf8)), "text/plain"),
        ]
        for (body, type) in left {
            let text = try command(body, type: type)
            #expect(text.hasPrefix("# The body is omitted (\(body)).\ncurl --request 'PUT'"), "\(text)")
            #expect(!text.contains("--data") && !text.contains("hunter2"))
        }
    }

    @Test("Secrets are replaced in headers, query and body; without redaction they are there")
    func secrets() throws {
        let request = try HTTPRequest(
            .post, url: "https://a.test/?api_key=hunter2",
            headers: [
                .authorization: "Bearer hunter2", .cookie: "a=hunter2", .referer: "/?token=hunter2",
                .contentType: "application/x-www-form-urlencoded",
            ], body: .bytes(Data("user=ada&password=hunter2".utf8)))
        #expect(!request.curlCommand().contains("hunter2"))
        #expect(request.curlCommand(redaction: .none).components(separatedBy: "hunter2").count == 6)
    }
}
