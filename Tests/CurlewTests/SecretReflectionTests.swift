// SPDX-License-Identifier: MIT

import CurlewTransfers
import Testing

@testable import CurlewAuthentication
@testable import CurlewCaching
@testable import CurlewCookies
@testable import CurlewCore

/// Each type that can hold a credential, a query or a body, made with one inside and written down in every way.
@Suite(.timeLimit(.minutes(1)))
struct SecretReflectionTests {
    static let canary = "hunter2-hunter2-hunter2-hunter2-hunter2-hunter2"
    static let url = "https://a.test/x?token=\(canary)"
    static let headers: HTTPHeaders = [.authorization: "Bearer \(canary)", .location: url, "X-Session": canary]
    static let body = Data(#"{"password":"\#(canary)"}"#.utf8)

    /// A value, made again for each test.
    struct Sample: Sendable, CustomTestStringConvertible {
        let name: String
        let make: @Sendable () throws -> Any

        init(_ name: String, _ make: @escaping @Sendable () throws -> Any) {
            self.name = name
            self.make = make
        }

        var testDescription: String { name }
    }

    static let messages: [Sample] = [
        Sample("field") { headers[0] }, Sample("headers") { headers },
        Sample("query") { QueryItems([("a", canary), ("token", canary)]) },
        Sample("query item") { QueryItems([("a", canary)]).items },
        Sample("request") { try HTTPRequest(.post, url: url, headers: headers, body: .bytes(body)) },
        Sample("request body") { RequestBody.bytes(body) },
        Sample("request line") { NetworkError.RequestLine(try HTTPRequest(url: url)) },
        Sample("response") { HTTPResponse(headers: headers, body: ResponseBody(body), url: url) },
        Sample("response body") { ResponseBody(body) },
        Sample("typed response") { Response<Bool>(true, from: HTTPResponse(headers: headers, url: url)) },
        Sample("redirect") {
            let next = "https://b.test/?code=\(canary)#access_token=\(canary)"
            let asked = try HTTPRequest(url: url, headers: headers)
            let answer: HTTPHeaders = [.location: next]
            let decision = RedirectPolicy.standard.decide(.found, answer, to: asked, after: RedirectTrail(), limit: 5)
            return decision
        },
        Sample("answer") { NetworkError.Response(status: 400, headers: headers, body: body) },
        Sample("error") {
            var error = NetworkError(statusCode: 400, headers: headers, body: body)
            error.request = NetworkError.RequestLine(try HTTPRequest(url: url))
            error.detail = "see \(url)"
            error.underlying = NetworkError(.badResponse, detail: "at \(url)")
            return error
        },
        Sample("call") {
            Request<Bool>.post("/x", query: ["a": canary], body: .json(["password": canary])).header("A", canary)
                .options { $0.decodesNotFoundAsNil = true }
        },
        Sample("path in a call") { Request<Bool>.get("/bot\(canary)/x") },
        Sample("call to a URL") { Request<Bool>.get(url: url) },
        Sample("refused call") { Request<Bool>.get(url: "https://u:\(canary)@a.test/") },
        Sample("base URL") { BaseURL(stringLiteral: "https://u:\(canary)@a.test/") },
        Sample("JSON") { RequestContent.json(["password": .string(canary)]) },
        Sample("form") { RequestContent.form(["password": canary]) },
        Sample("text") { RequestContent.text(canary) },
        Sample("multipart") { RequestContent.multipart([.field("password", canary)]) },
        Sample("multipart form") { MultipartForm([.field("password", canary), .data("a", body)]) },
        Sample("event") { ExchangeEvent.sent(try HTTPRequest(url: url, headers: headers, body: .bytes(body))) },
        Sample("event of an answer") { ExchangeEvent.answered(HTTPResponse(headers: headers, url: url)) },
    ]

    static let credentials: [Sample] = [
        Sample("basic") { BasicInterceptor(user: canary, password: canary) },
        Sample("digest") { DigestInterceptor(user: canary, password: canary) },
        Sample("digest state") { DigestAuthenticator(user: "ada", password: canary) },
        Sample("key") { APIKeyInterceptor(canary, in: .query("k")) },
        Sample("bearer") { BearerInterceptor(token: { canary }) },
        Sample("built-in basic") { BuiltInInterceptor.basic(user: canary, password: canary) },
        Sample("built-in digest") { BuiltInInterceptor.digest(user: canary, password: canary) },
        Sample("built-in key") { BuiltInInterceptor.apiKey(canary, in: .query("k")) },
        Sample("built-in bearer") { BuiltInInterceptor.bearer { canary } },
        Sample("pipeline") {
            Pipeline([.basic(user: canary, password: canary), .apiKey(canary, in: .header("X-Key"))])
        },
        Sample("tokens") { Tokens(accessToken: canary, refreshToken: canary) },
        Sample("refresh") { TokenStore.Refresh(tokens: Tokens(accessToken: canary), client: client) },
        Sample("kept tokens") { try StoredTokens.decode(StoredTokens.encode(Tokens(accessToken: canary))) },
        Sample("OAuth") { OAuth2(clientID: "a", tokenEndpoint: url, authentication: .basic(secret: canary)) },
        Sample("OAuth form") { OAuth2.ClientAuthentication.form(secret: canary) },
        Sample("OAuth call") {
            OAuth2(clientID: "a", tokenEndpoint: "https://a.test/", authentication: .form(secret: canary))
                .exchange(canary, redirect: "app://back", OAuth2.PKCE())
        },
        Sample("PKCE") { OAuth2.PKCE(verifier: canary) as Any },
        Sample("cookie") { cookie },
        Sample("cookies") {
            let store = CookieStore()
            store.insert(cookie)
            return [store, CookieInterceptor(store: store)] as [Any]
        },
        Sample("set cookie") { try SetCookie("sid=\(canary)") },
        Sample("proxy") { TransportConfiguration.Proxy.Server("http://u:\(canary)@p.test:8080") as Any },
        Sample("transport") {
            var configuration = TransportConfiguration()
            configuration.proxy = .fixed(
                TransportConfiguration.Proxy.Server(.http, host: "p", port: 1, user: canary, password: canary))
            configuration.tls.identity = .pem(
                certificate: Data(), key: Data(canary.utf8), passphrase: canary)
            return configuration
        },
        Sample("certificate") { TransportConfiguration.TLS.ClientIdentity.pkcs12File("/a.p12", passphrase: canary) },
    ]

    static let clients: [Sample] = [
        Sample("client") { client }, Sample("exchanger") { client.core.exchanger }, Sample("configuration") { own },
        Sample("declared configuration") {
            APIClient.Configuration(headers: ["X-Device": canary], fields: Redaction.Rules(secret: ["X-Device"]))
        },
        Sample("pipeline") { client.pipeline }, Sample("core") { client.core },
        Sample("chain") { client.core.exchanger.chain },
        Sample("next") { Next(context: context, chain: client.core.exchanger.chain) },
        Sample("context") { context },
        Sample("cache key") { HTTPCache.Entry.Key(target: url) },
        Sample("cache selection") {
            [HTTPCache.Removal.target(url), .prefix(url), .principal(canary), .tags([canary])] as [HTTPCache.Removal]
        },
        Sample("stored response") {
            HTTPCache.Entry(
                key: HTTPCache.Entry.Key(target: url), headers: headers, requestTime: Date(), responseTime: Date())
        },
    ]

    static var cookie: Cookie { Cookie(name: "sid", value: canary, domain: "a.test") }
    static var own: APIClient.Configuration { APIClient.Configuration(headers: headers) }
    static var context: ExchangeContext {
        var context = ExchangeContext()
        context.hopFields[.cookie] = "sid=\(canary)"
        return context
    }
    static var client: APIClient {
        APIClient.testing(
            MockTransport(), baseURL: "https://a.test",
            pipeline: .standard.adding(.basic(user: "a", password: canary)).adding(.apiKey(canary, in: .header("A"))),
            configuration: own
        ).with(query: ["a": canary])
    }

    @Test("No text of a value holds its secret", arguments: messages + credentials + clients)
    func texts(sample: Sample) throws {
        let value = try sample.make()
        let lines = everyText(of: value).split(separator: "\n").filter { $0.contains("hunter2") }
        #expect(lines.isEmpty, "\(lines.prefix(3))")
        // Bytes that dump writes as numbers are the same secret.
        var dumped = ""
        dump(value, to: &dumped)
        let bytes = Data("hunter2".utf8).map { "- \($0)" }
        let numbers = dumped.split(separator: "\n").map { $0.drop { $0 == " " } }
        let holds = numbers.indices.contains { numbers[$0...].starts(with: bytes.map { $0[...] }) }
        #expect(!holds, "the bytes stand in the dump")
    }

    @Test("The texts that are written down would show a secret")
    func counterproof() {
        struct Plain {
            let password = SecretReflectionTests.canary
        }
        #expect(everyText(of: Plain()).components(separatedBy: Self.canary).count > 5)
    }

    @Test("Recorded calls of a mock show no body and no field in their texts")
    func recorded() async throws {
        let client = APIClient.mock { $0.onAny { _ in .status(204) } }
        let call = Request<Void>.post("/x", query: ["token": Self.canary], body: .json(["a": .string(Self.canary)]))
        try await client.send(call.header("X-Key", Self.canary))
        let text = everyText(of: client.recordedCalls) + everyText(of: client)
        #expect(!text.contains(Self.canary))
        #expect(client.recordedCalls.first?.text.contains(Self.canary) == true)
    }

    @Test("A signed-in token store shows no token")
    func tokenStore() async throws {
        let store = TokenStore()
        try await store.signIn(Tokens(accessToken: Self.canary, refreshToken: Self.canary))
        #expect(!everyText(of: store).contains(Self.canary))
        #expect(!everyText(of: TokenInterceptor(store)).contains(Self.canary))
    }
}
