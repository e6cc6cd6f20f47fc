// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewAuthentication
@testable import CurlewCookies
@testable import CurlewCore
@testable import CurlewObservability
@testable import CurlewRecording
@testable import CurlewResilience

/// Texts that hold a secret somewhere, and how they are shown.
@Suite(.timeLimit(.minutes(1)))
struct SecretTextTests {
    static let canary = "hunter2"

    @Test(
        "A user name or password shows in no text about a URL that cannot be used",
        arguments: [
            "admin:hunter2@api.example.com", "https:/admin:hunter2@api.example.com", "https:admin:hunter2@api",
            "https://admin:hun/ter2@api.example.com", "https://admin:hun#ter2@api.example.com",
            "https://admin:hun?ter2@api.example.com", "https://admin:hunter2@[api/", "ftp://admin:hunter2@api/",
            "https://admin:hunter2@api.example.com/v1",
        ])
    func userInformation(url: String) async throws {
        let base = BaseURL(stringLiteral: url)
        let client = APIClient.testing(MockTransport(), baseURL: base, pipeline: .standard)
        let error = await #expect(throws: NetworkError.self) { try await client.send(Request<Void>.get("/x")) }
        let absolute = #expect(throws: NetworkError.self) { try HTTPRequest(url: url) }
        for text in ["\(base)", "\(client)", "\(client.problems)", error?.detail, absolute?.detail, error?.description]
        {
            #expect(text?.contains("ter2") == false && text?.contains("hun") == false, "\(text ?? "")")
        }
    }

    @Test("A proxy whose host holds credentials shows none of them")
    func proxy() {
        let proxy = TransportConfiguration.Proxy.Server(.http, host: "user:hunter2@proxy.example", port: 3128)
        var configuration = TransportConfiguration()
        configuration.proxy = .fixed(proxy)
        var dumped = ""
        dump(proxy, to: &dumped)
        for text in ["\(proxy)", "\(configuration.proxy)", dumped, String(reflecting: proxy)] {
            #expect(!text.contains(Self.canary), "\(text)")
        }
        #expect("\(proxy)" == "http://REDACTED@proxy.example:3128")
    }

    private struct Foreign: Error, CustomStringConvertible {
        let description: String
    }

    @Test(
        "Errors of others are shown without secrets and steer no terminal",
        arguments: [
            "at https://u:hunter2@h.test/", "token=hunter2", "Authorization: Bearer hunter2",
            "{\"password\":\"hunter2\"}",
            "<password>hunter2</password>", "\u{1B}[2J\n\r\u{202E}\u{2066}\u{9B}",
        ])
    func foreignErrors(text: String) async throws {
        let thrown = Foreign(description: "it failed: \(text)")
        let client = APIClient.mock(pipeline: [.onRequest { _, _ in throw thrown }]) { _ in }
        let error = try #require(
            await #expect(throws: NetworkError.self) { try await client.send(Request<Void>.get("/")) })
        var caused = NetworkError(.unreachable, detail: text, underlying: thrown)
        caused.hint = text
        for shown in [error.description, error.detail, caused.description] {
            #expect(!shown.contains(Self.canary), "\(shown)")
            let isSafe = shown.unicodeScalars.allSatisfy { scalar in
                scalar == "\n" || scalar.value >= 0x20 && ![0x7F, 0x9B, 0x202E, 0x2066].contains(scalar.value)
            }
            #expect(isSafe, "\(shown.debugDescription)")
        }
        #expect(caused.description.split(separator: "\n").count == 4)
    }

    @Test("A method of control characters is shown escaped")
    func method() throws {
        let request = try HTTPRequest(HTTPMethod("GET\u{1B}[2J\nX"), url: "https://a.test/")
        #expect("\(request)\(NetworkError.RequestLine(request))".unicodeScalars.allSatisfy { $0.value >= 0x20 })
    }

    @Test(
        "No excerpt, log or command shows a secret, whatever surrounds it",
        arguments: [
            ("application/xml", "<user><password>hunter2</password></user>"),
            ("application/xml", "<n:Password x='1'><b>hunter2</b></n:Password>"),
            ("application/xml", "<user password=\"hunter2\" token='hunter2'/>"),
            ("application/xml", "<add key=\"ApiKey\" value=\"hunter2\"/><p name='password'>hunter2</p>"),
            ("application/soap+xml", "<e:Envelope><wsse:Password Type=\"a>b\"><![CDATA[hunter2]]></wsse:Password>"),
            ("text/html", "<input value=hunter2 name=csrf_token type=hidden>"),
            ("text/html", "<input value=\"hunter2\" type=hidden name=\"csrf_token\">"),
            ("application/json", #"{"pwd":"hunter2","pass":"hunter2","device_code":"hunter2"}"#),
            ("application/json", #"{"body":"{\"password\":\"hunter2\"}"}"#),
            ("application/json", #"{"a":"{\"b\":\"{\\\"token\\\":\\\"hunter2\\\"}\"}"}"#),
            ("application/json", #"{"query":"mutation { login(user: \"a\", password: \"hunter2\") { id } }"}"#),
            ("application/json", #"{"query":"mutation { login(input: {pin: 1, token: \"hunter2\"}) { id } }"}"#),
            ("application/json", #"{"log":"sent Authorization: Bearer hunter2"}"#),
            ("application/graphql", "mutation { login(password: \"hunter2\") { id } }"),
            ("text/plain", "sent Authorization: Bearer hunter2 to it"), ("text/plain", "Cookie: a=1; b=hunter2"),
            ("text/plain", "X-Api-Key: hunter2"), ("text/plain", "'password': 'hunter2'"),
            ("text/plain", "got Bearer hunter2.abc here"), ("text/plain", "password: hunter2"),
            ("application/x-www-form-urlencoded", "subscription-key=hunter2&sid=hunter2&a=1"),
            ("application/json", #"{"authorization_details":"x","clientKey":"hunter2","x_session":"hunter2"}"#),
        ])
    func bodies(type: String, text: String) throws {
        let data = Data(text.utf8)
        let error = NetworkError(statusCode: 400, headers: [.contentType: type], body: data)
        let request = try HTTPRequest(.post, url: "https://a.test/", headers: [.contentType: type], body: .bytes(data))
        for shown in [error.description, request.curlCommand(), Redaction.standard.bodyText(text, mediaType: nil)] {
            #expect(!shown.contains(Self.canary), "\(shown)")
        }
        for cut in 0..<text.utf8.count {
            let part = String(decoding: data.prefix(cut), as: UTF8.self)
            let shown = Redaction.standard.bodyText(part, mediaType: MediaType(type))
            #expect(!shown.contains(Self.canary), "\(shown)")
        }
    }

    @Test(
        "Names of secrets in a query and a path are known",
        arguments: [
            "subscription-key", "sid", "jsessionid", "PHPSESSID", "ticket", "SAMLResponse", "hmac", "x-functions-key",
            "code", "key", "pwd", "device_code", "X-Session",
        ])
    func queries(name: String) throws {
        #expect(!Redaction.standard.url("https://a.test/x?\(name)=hunter2").contains(Self.canary))
        #expect(!Redaction.standard.url("https://a.test/x;\(name)=hunter2/y").contains(Self.canary))
        #expect("\(QueryItems([(name, "hunter2"), ("a", "1")]))" == "?\(name)=REDACTED&a=REDACTED")
    }

    @Test("Headers show where a redirect leads, without its secrets")
    func location() {
        let headers: HTTPHeaders = [.location: "https://u:hunter2@a.test/cb?code=hunter2#access_token=hunter2"]
        #expect(!headers.description.contains(Self.canary) && headers.description.contains("a.test/cb"))
        #expect(!"\(headers[0])".contains(Self.canary))
    }

    @Test("Text without the name of a secret is shown unchanged")
    func harmless() {
        for text in [
            "No member \"name\" at $.user.key.", "The token expired at 12:30.", "Expected Int at $.tokens[0]: found 1",
            "The bearer token would go to http://a.test unencrypted.", "a: 1, b: 2", "see https://a.test/x?a=1",
        ] {
            #expect(Redaction.standard.bodyText(text, mediaType: nil) == text)
        }
        for name in ["Idempotency-Key", "Sec-WebSocket-Key", "X-Cache-Key", "Surrogate-Key", "ETag", "X-Total-Count"] {
            #expect(!HTTPField.Name(name).isSensitive, "\(name)")
        }
    }

    @Test("The name of an API key is secret without a declaration")
    func apiKeys() async throws {
        for place in [BuiltInInterceptor.APIKeyLocation.header("X-Plain"), .query("appid")] {
            let page = SecretMatrixTests.Page()
            let pipeline: Pipeline = [.logging(.body) { page.write("\($0)") }, .apiKey(Self.canary, in: place)]
            let inner = pipeline.adding(.logging(.body) { page.write("\($0)") }, at: .attemptTimeout)
            let client = APIClient.mock(pipeline: inner, configuration: .init(observers: [page])) {
                $0.onAny { call in
                    let location = call.request.headers.contains("X-Plain") ? "/" : "/?appid=\(Self.canary)"
                    var headers: HTTPHeaders = [.location: location]
                    headers["X-Plain"] = call.request.headers["X-Plain"]
                    return .status(403, headers: headers)
                }
            }
            let error = await #expect(throws: NetworkError.self) { try await client.send(Request<String>.get("/me")) }
            let preview = try await client.preview(Request<String>.get("/me"))
            page.write("\(error.map { "\($0)" } ?? "")\n\(preview)\n\(preview.headers)\n\(preview.curlCommand())")
            page.write("\(preview.headers.map { "\($0)" })")
            #expect(!page.text.contains(Self.canary), "\(page.text)")
            #expect((preview.target + (preview.headers["X-Plain"] ?? "")).contains(Self.canary))
        }
    }
}
