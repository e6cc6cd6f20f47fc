// SPDX-License-Identifier: MIT

import Testing

@Suite(.timeLimit(.minutes(1)))
struct MockServerBodyTests {
    @Test("Chunks, trailers and informational heads are on the wire as given")
    func wire() throws {
        let server = try MockServer()
        let response = MockResponse.chunks(["hello ", "", "world"]).after(.earlyHints, headers: [.link: "</a>"])
            .with(trailers: ["Digest": "7"]).closing()
        server.enqueue(response)
        let (text, _) = try RawClient(port: server.port).send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").readToEnd()
        #expect(
            text == "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
                + "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/plain; charset=utf-8\r\n"
                + "Connection: close\r\n\r\n6\r\nhello \r\n5\r\nworld\r\n0\r\nDigest: 7\r\n\r\n")
    }

    @Test("A file is sent whole")
    func file() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("mock-\(UUID().uuidString)").path
        let content = String(repeating: "0123456789", count: 20_000)
        try Data(content.utf8).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let server = try MockServer()
        server.on(.get, "/", respond: .file(path))
        let client = try RawClient(port: server.port)
        #expect(client.get("/").body == content)
        #expect(client.get("/").status == 200)
    }

    @Test("A generated body has the pattern's bytes, with a length or in chunks", arguments: [false, true])
    func generated(chunked: Bool) throws {
        let server = try MockServer()
        server.on(.get, "/", respond: .generated(bytes: 40_000, chunked: chunked).closing())
        let client = try RawClient(port: server.port)
        let head = client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").readHead()
        let (text, ending) = client.readToEnd()
        #expect(ending == .orderly)
        #expect(head.contains("Transfer-Encoding: chunked") == chunked)
        #expect(head.contains("Content-Length: 40000") == !chunked)
        if !chunked { #expect(text == String(decoding: MockResponse.pattern(0..<40_000), as: UTF8.self)) }
        if chunked { #expect(text.hasPrefix("4000\r\n") && text.hasSuffix("\r\n0\r\n\r\n")) }
    }

    @Test("The pattern is the same from any offset")
    func pattern() {
        #expect(MockResponse.pattern(0..<600).dropFirst(300) == MockResponse.pattern(300..<600))
        #expect(MockResponse.pattern(250..<252) == Data([250, 0]))
    }

    @Test(
        "A status without content sends none",
        arguments: [
            (.status(.noContent), "HTTP/1.1 204 No Content\r\n"),
            (.status(.notModified, headers: [.eTag: "\"1\""]), "HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n"),
            (
                .data(Data([1]), type: .html, status: .noContent),
                "HTTP/1.1 204 No Content\r\nContent-Type: text/html\r\n"
            ),
            (.redirect(to: "/b"), "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /b\r\n"),
        ] as [(MockResponse, String)])
    func withoutContent(response: MockResponse, head: String) throws {
        let server = try MockServer()
        server.enqueue(response, .text("next"))
        let client = try RawClient(port: server.port)
        #expect(client.get("/").head == head + "\r\n")
        #expect(client.get("/").body == "next")
    }
}
