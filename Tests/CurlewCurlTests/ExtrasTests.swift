// SPDX-License-Identifier: MIT

import Testing

/// What comes before the head and after the body is reported to observers only.
@Suite(.timeLimit(.minutes(1)))
struct ExtrasTests {
    let transport = CurlTransport()

    /// What an observer heard, in order, as words.
    private let listener = EventLog { event, _ -> String? in
        switch event {
        case .interim(let status, let headers): "interim \(status.code) \(headers["Link"] ?? "-")"
        case .trailers(let headers):
            "trailers " + headers.map { "\($0.name.text)=\($0.value)" }.joined(separator: "&")
        case .measured: "measured"
        default: nil
        }
    }

    @Test("Interim responses come in order and with their fields, and leave nothing in the response")
    func interim() async throws {
        let server = try MockServer()
        for _ in 0..<2 {
            server.enqueue(
                .lines(
                    "HTTP/1.1 103 Early Hints", "Link: </a.css>", "Link: </b.css>", "", "HTTP/1.1 102 Processing", "",
                    "HTTP/1.1 200 OK", "Content-Length: 2", "X-A: b", body: "ok"))
            let response = try await transport.exchange(.get, server.url + "/", observers: [listener])
            #expect(response.status == .ok)
            #expect(response.headers.map(\.name.text) == ["Content-Length", "X-A"])
            #expect(try await response.text() == "ok")
        }
        let once = ["interim 103 </a.css>, </b.css>", "interim 102 -", "measured"]
        #expect(await eventually { listener.entries == once + once })
    }

    @Test("An interim response is reported when it comes, not with the head")
    func timeliness() async throws {
        let (heard, mayGoOn) = (Signal(), Signal())
        let server = try RawServer { connection in
            _ = try connection.readHead()
            try connection.write("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
            mayGoOn.block()
            try connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            connection.waitUntilClosed()
        }
        let observer = EventLog { event, _ -> Void? in
            if case .interim(.earlyHints, _) = event { heard.fire() } else { nil }
        }
        let task = Task { try await transport.exchange(.get, server.url, observers: [observer]) }
        await heard.wait()
        mayGoOn.fire()
        #expect(try await task.value.status == .ok)
    }

    @Test("Trailers are reported before the body's reader receives the end", arguments: [false, true])
    func trailers(isLarge: Bool) async throws {
        let server = try MockServer()
        let body = isLarge ? MockResponse.generated(bytes: 300_000, chunked: true) : .chunks(["one", "two"])
        server.on(.get, "/", respond: body.with(trailers: ["X-Sum": "6", "X-Sum-2": "ünï"]))
        let response = try await transport.exchange(.get, server.url + "/", observers: [listener])
        #expect(!response.headers.contains("X-Sum"))
        #expect(try await response.bytes().count == (isLarge ? 300_000 : 6))
        #expect(await eventually { listener.entries == ["trailers X-Sum=6&X-Sum-2=ünï", "measured"] })
    }

    @Test("Odd trailers are read as fields are")
    func oddTrailers() async throws {
        let server = try MockServer()
        server.enqueue(
            .lines(
                "HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "", "2", "ok", "0", "X-A:b",
                "X-B: a\u{1}b"))
        let response = try await transport.exchange(.get, server.url + "/", observers: [listener])
        #expect(try await response.text() == "ok")
        #expect(listener.entries.first == "trailers X-A=b&X-B=a b")
    }

    @Test("A body that breaks off has no trailers")
    func broken() async throws {
        let server = try MockServer()
        server.on(
            .get, "/",
            respond: .generated(bytes: 100_000, chunked: true).with(trailers: ["X-Sum": "6"])
                .reset(at: .afterBytes(500)))
        await #expect(throws: NetworkError.self) {
            try await transport.exchange(.get, server.url + "/", observers: [listener]).bytes()
        }
        #expect(await eventually { listener.entries == ["measured"] })
    }
}
