// SPDX-License-Identifier: MIT

import Testing

/// What the last line of an error advises. Every case provokes its error over real sockets.
@Suite(.timeLimit(.minutes(2)))
struct HintTests {
    struct Case: Sendable, CustomTestStringConvertible {
        /// The beginning of the line `next`; empty if there is none.
        let next: String
        /// A part of the line `detail`.
        var detail = ""
        let provoke: @Sendable () async throws -> NetworkError?

        var testDescription: String { "\(next) \(detail)" }
    }

    private struct Film: Decodable { let releaseYear: Int }
    private struct Event: Decodable { let at: Date }

    private struct Guest: Interceptor {
        var principal = Principal.anonymous
        var traits: InterceptorTraits { InterceptorTraits(placement: .authentication) { _, _ in principal } }

        func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse { try await next(request) }
    }

    private static func status(
        _ code: HTTPStatus, _ next: String, _ fields: HTTPHeaders = [:], to call: Request<Void> = .get("/films"),
        through pipeline: Pipeline = [], base: String = ""
    ) -> Case {
        response(MockResponse(status: code, headers: fields), next, to: call, through: pipeline, base: base)
    }

    /// The error of a call to a server that responds like this.
    private static func response<Value>(
        _ response: MockResponse, _ next: String, to call: Request<Value>, through pipeline: Pipeline = [],
        base: String = "", in timeouts: Timeouts = .standard, detail: String = ""
    ) -> Case {
        Case(next: next, detail: detail) {
            let server = try MockServer.answering(response)
            let settings = APIClient.Configuration(timeouts: timeouts)
            let client = APIClient(
                baseURL: try BaseURL(server.url + base), pipeline: pipeline, transport: CurlTransport(),
                configuration: settings)
            return await client.failure(call)
        }
    }

    private static func body<Value: Decodable & Sendable>(_ text: String, as type: Value.Type, _ next: String) -> Case {
        let isPage = text.hasPrefix("<")
        let media: HTTPHeaders = [.contentType: isPage ? "text/html" : "application/json"]
        return response(MockResponse(headers: media, body: .data(Data(text.utf8))), next, to: Request<Value>.get("/"))
    }

    private static func certificate(_ kind: Certificates.Kind, _ next: String) -> Case {
        Case(next: next) {
            let nginx = try await Nginx.shared()
            return await CurlTransport(configuration: nginx.configuration).failure(.get, nginx.secure(kind) + "/empty")
        }
    }

    private typealias Start = @Sendable () throws -> (server: any Sendable, port: Int)

    /// The error of a request to a port, or to another server through a proxy there.
    private static func port(
        _ next: String, detail: String = "", in timeouts: Timeouts = .standard, scheme: String = "http",
        asProxy: Bool = false, _ start: @escaping Start
    ) -> Case {
        Case(next: next, detail: detail) {
            let (server, port) = try start()
            defer { withExtendedLifetime(server) {} }
            let proxy = TransportConfiguration.Proxy.fixed(.init(.http, host: "127.0.0.1", port: port))
            let transport = CurlTransport(configuration: TransportConfiguration(proxy: asProxy ? proxy : .none))
            let url = asProxy ? "https://a.test/" : "\(scheme)://127.0.0.1:\(port)/"
            return await transport.failure(.get, url, timeouts: timeouts)
        }
    }

    private static let gone: Start = {
        let server = try MockServer()
        server.stop()
        return (server, server.port)
    }
    private static let crowded: Start = {
        let crowded = try CrowdedPort()
        return (crowded, crowded.port)
    }

    private static func key(_ name: HTTPField.Name) -> Request<Void> { Request(.get, "/films", headers: [name: "k"]) }

    private static let bearer = "Add a credential, such as .bearer { token }."
    private static let twice = "The path of the base URL was sent twice: leave it out of the path of the call."
    private static let slot = "The call waited for a connection. Start fewer concurrent calls"
    private static let text = Request<Void>.post("/films", body: .text("abc"))
    private static let json = Request<Void>.post("/films", json: 1)

    private static let statuses: [Case] = [
        status(401, bearer),
        status(401, bearer, ["WWW-Authenticate": "Bearer realm=x"]),
        status(401, "Add a credential, such as .basic(…).", ["WWW-Authenticate": "Basic realm=x"]),
        status(401, "Add a credential, such as .digest(…).", ["WWW-Authenticate": "DIGEST nonce=x"]),
        status(401, "The server refused the credential, or none was attached.", to: key(.authorization)),
        status(401, "The server refused the credential, or none was attached.", to: key("X-API-Key")),
        status(401, "No credential was attached: sign in first.", through: [Guest()]),
        status(401, "The call excludes credentials.", to: .get("/films").withoutCredentials()),
        status(401, "The call excludes", to: .get("/a").withoutCredentials(), through: [Guest(principal: .unknown)]),
        status(403, "No credential was attached. Some servers respond with 403 instead of 401."),
        status(403, "Check what the credential permits, such as the scopes of its token.", to: key(.authorization)),
        status(404, twice, to: .get("/v1/films", query: ["q": "/v1/v1"]), base: "/v1"),
        status(404, twice, to: .get("/v1"), base: "/v1"),
        status(404, "", to: .get("/v1x/films", query: ["q": "/v1/v1"]), base: "/v1"),
        status(404, "", to: .get("/films/\("v1")", query: ["q": "a/b"]), base: "/v1"),
        status(404, "The path contains %2F: a value with a slash is one segment.", to: .get("/repos/\("a/b")")),
        status(405, "The server allows POST here.", ["Allow": "POST"]),
        status(407, "Set the proxy's credentials in TransportConfiguration.proxy."),
        status(413, "The server takes no body of 3 bytes here: send less, or send it in pieces", to: text),
        status(415, "The server accepts text/csv here, not application/json.", ["Accept-Post": "text/csv"], to: json),
        status(415, "The server does not accept application/json here. Other bodies are body: .form(…)", to: json),
        status(415, "The server does not accept text/plain here. Other bodies are json: and body", to: text),
        status(415, "The call has no body. Add one: json:, or body: .form(…).", to: .post("/films")),
        status(429, "Wait 30 s before the next call. To send fewer calls", [.retryAfter: "30"]),
        status(429, "To send fewer calls than the server allows, add .rateLimit(_:every:)."),
        status(302, "The redirect was not followed: see .redirects(_:)", [.location: "/b"]),
        status(500, ""),
        body(#"{"release_year": 1927}"#, as: Film.self, "The body has \"release_year\". Use Codecs.snakeCase"),
        body(#"{"a": {"releaseYear": 1}}"#, as: Film.self, "The body has \"releaseYear\" inside another member"),
        body(#"{"at": "2026-01-01T00:00:00Z"}"#, as: Event.self, "The member is a text. If it is a date, use Codecs"),
        body(#"[{"releaseYear": 1}]"#, as: Film.self, "The body is a list: make the response type an array."),
        body(#"{"year": 1}"#, as: Film.self, "Compare the model with the body above, or make the member optional."),
        body("<html>Sign in</html>", as: Film.self, "A web page instead of data often means a wrong URL"),
        body("", as: Film.self, "If this is correct, make the response type Optional or Void."),
    ]

    private static let connections: [Case] = [
        Case(next: "Check the name of the host, and the name servers of this machine.") {
            await CurlTransport().failure(.get, "http://no-such-host.invalid/")
        },
        port("Check host and port, and that the server is running.", gone),
        port("Check scheme and port: the server does not speak TLS there.", scheme: "https") {
            let server = try MockServer()
            return (server, server.port)
        },
        response(  // an alert of TLS
            .raw(Data([0x15, 3, 3, 0, 2, 2, 0x28])), "Check scheme and port: what arrived is not HTTP.",
            to: Request<Void>.get("/")),
        response(
            .closeBeforeReply, "The request changes nothing on the server, so it can be sent again. If that fails too",
            to: Request<Void>.get("/")),
        response(.closeBeforeReply, "The server may have processed the request. Check its state", to: text),
        response(
            .text("abcdef").truncated(after: 3), "The request changes nothing on the server, so it can be sent again.",
            to: Request<Data>.get("/")),
        port("Check TransportConfiguration.proxy, and that the proxy is running.", asProxy: true, gone),
        port("Set the proxy's credentials in TransportConfiguration.proxy.", asProxy: true) {
            let server = try RawServer { connection in
                _ = try connection.readHead()
                try connection.write("HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n")
            }
            return (server, server.port)
        },
        certificate(.expired, "Check the clock of this machine. If it is right, the server needs another certificate."),
        certificate(.notYetValid, "Check the clock of this machine."),
        certificate(.wrongHost, "Check the host of the URL: the server's certificate is for other names."),
        certificate(.selfSigned, "For a private authority, add its certificate to TransportConfiguration.TLS"),
        certificate(.missingIntermediate, "The server sent no certificate of its issuer. If it is an intermediate"),
    ]

    private static let limit = Duration.milliseconds(150)
    private static let total = Timeouts(firstByte: nil, total: limit)
    private static let idle = Timeouts(idle: limit)
    private static let half = MockResponse.generated(bytes: 200_000).stalled(at: .afterBytes(100_000))
    private static let late = MockResponse.text("").stalled(at: .beforeHead)
    private static let deaf = MockResponse.text("").stalled(at: .beforeRequestRead)
    private static let large = Request<Void>.put("/", body: .data(Data(count: 30_000_000)))
    private static let get = Request<Data>.get("/")

    private static let timeouts: [Case] = [
        port("Is the host right and reachable?", detail: "within 150 ms", in: Timeouts(connect: limit), crowded),
        port("Check host and port, and that no firewall", detail: " ms connecting.", in: total, crowded),
        Case(next: slot, detail: " ms queued.") {
            let server = try MockServer.answering(late)
            var configuration = TransportConfiguration()
            configuration.pool.perHost = 1
            let transport = CurlTransport(configuration: configuration)
            let first = Task { await transport.failure(.get, server.url + "/") }
            defer { first.cancel() }
            _ = try await server.waitForRequests(count: 1)
            return await transport.failure(.get, server.url + "/", timeouts: total)
        },
        response(
            late, "The server accepted the request", to: get, in: Timeouts(firstByte: limit), detail: "within 150 ms"),
        response(deaf, "The server stopped reading the request; see", to: large, in: idle, detail: " ms sending."),
        response(half, "The server stopped sending the response; see", to: get, in: idle, detail: " ms receiving."),
        response(
            deaf, "The server or the network takes the body slowly. If", to: large, in: total, detail: " ms sending."),
        response(late, "Check what the server does", to: get, in: total, detail: " ms waiting for the response."),
        response(half, "The server or the network delivers the body", to: get, in: total, detail: " ms receiving."),
        response(
            late, "Check what the server does with this request. If this time is normal, raise .attemptTimeout",
            to: get, in: Timeouts(firstByte: nil, attempt: limit), detail: " ms waiting for the response. The call took"
        ),
    ]

    @Test("Advice names the cause and a step that helps", arguments: statuses + connections + timeouts)
    func advice(example: Case) async throws {
        let error = try #require(await example.provoke())
        if error.isOffline { return }
        let lines = error.description.split(separator: "\n")
        func line(_ name: String) -> String {
            lines.last { $0.hasPrefix("  \(name) ") }.map { String($0.dropFirst(12)) } ?? ""
        }
        #expect(line("next").hasPrefix(example.next) && line("next").isEmpty == example.next.isEmpty, "\(error)")
        #expect(example.detail.isEmpty || line("detail").contains(example.detail), "\(error)")
        // No four words in a row stand in two of the lines.
        let runs = ["detail", "cause", "next"].map { name in
            let words = line(name).split(separator: " ")
            return Set(words.indices.dropLast(3).map { words[$0...($0 + 3)].joined(separator: " ") })
        }
        #expect(runs[0].isDisjoint(with: runs[1].union(runs[2])) && runs[1].isDisjoint(with: runs[2]), "\(error)")
    }
}
