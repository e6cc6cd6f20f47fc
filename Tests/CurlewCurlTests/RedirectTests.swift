// SPDX-License-Identifier: MIT

import CurlewAuthentication
import CurlewCookies
import Testing

/// Redirects and cookies over real connections to two servers.
@Suite(.timeLimit(.minutes(1)))
struct RedirectTests {
    let home: MockServer
    let other: MockServer
    let store = CookieStore()

    init() throws {
        home = try MockServer()
        other = try MockServer()
    }

    /// The second server under another name: cookies do not distinguish ports.
    var elsewhere: String { "http://localhost:\(other.port)" }

    func client(_ transport: CurlTransport = CurlTransport()) throws -> APIClient {
        APIClient.testing(
            transport, baseURL: try BaseURL(home.url),
            pipeline: .standard.adding(.cookies(store)).adding(.bearer { "token" }), headers: ["X-Tenant": "acme"])
    }

    @Test("Secrets stay at home, cookies go to their host, and the response knows its hops")
    func twoServers() async throws {
        let elsewhere = elsewhere
        let url = home.url
        home.on(.get, "/start") { _ in
            .redirect(to: "\(elsewhere)/there?x=1").with(headers: [.setCookie: "home=1; Path=/"])
        }
        other.on(.get, "/there") { _ in
            .redirect(to: "\(url)/back", status: 307).with(headers: [.setCookie: "there=1; Path=/"])
        }
        home.on(.get, "/back") { _ in .redirect(to: "\(elsewhere)/end") }
        other.on(.get, "/end", respond: .text("done"))
        let response = try await client().response(for: Request<String>.get("/start").header(.xAPIKey, "key"))
        #expect(response.value == "done")
        #expect(response.url == "\(elsewhere)/end")
        #expect(response.redirects.map(\.status) == [302, 307, 302])

        let first = try #require(home.requests.first)
        #expect(first.headers[.authorization] == "Bearer token" && first.headers[.xAPIKey] == "key")
        #expect(first.headers["X-Tenant"] == "acme" && first.headers[.cookie] == nil)
        for request in other.requests + home.requests.dropFirst() {
            for name in [.authorization, .xAPIKey, "X-Tenant"] as [HTTPField.Name] {
                #expect(!request.headers.contains(name), "\(request) \(name)")
            }
        }
        #expect(home.requests.map { $0.headers[.cookie] } == [nil, "home=1"])
        #expect(other.requests.map { $0.headers[.cookie] } == [nil, "there=1"])
        #expect(other.requests.first?.headers[.host] == "localhost:\(other.port)")
    }

    @Test("The connection of a redirect with a short body is used again, streaming or not")
    func reuse() async throws {
        home.on(.get, "/start") { _ in
            var answer = MockResponse.text("Moved.", status: .found)
            answer.headers[.location] = "/end"
            return answer
        }
        home.on(.get, "/end", respond: .text("done"))
        let client = try client()
        #expect(try await client.send(Request<String>.get("/start")) == "done")
        let streamed = try await client.withResponse(to: Request<HTTPResponse>(.get, "/start")) { try await $0.text() }
        #expect(streamed == "done")
        #expect(home.connectionCount == 1)
        #expect(home.requests.map(\.exchangeIndex) == [0, 1, 2, 3])
    }

    @Test("A redirect whose body does not arrive does not delay the call")
    func stalledBody() async throws {
        home.on(.get, "/start") { _ in
            var answer = MockResponse.text("Moved.", status: .found).stalled(at: .afterBytes(2))
            answer.headers[.location] = "/end"
            return answer
        }
        home.on(.get, "/end", respond: .text("done"))
        let start = ContinuousClock.now
        let text = try await client().withResponse(to: Request<HTTPResponse>(.get, "/start")) { try await $0.text() }
        #expect(text == "done")
        #expect(ContinuousClock.now - start < .seconds(20), "the idle timeout is 30 s")
    }

    @Test("307 sends a body of every kind again, whole")
    func bodies() async throws {
        home.on(.put, "/start") { _ in .redirect(to: "/end", status: .temporaryRedirect) }
        home.on(.put, "/end") { .text("\($0.body.count)") }
        let bytes = Data(repeating: 7, count: 100_000)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("redirect-\(UUID().uuidString)")
        try bytes.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let stream = RequestBody.stream(replay: .always) { .init(Produced(bytes, by: 10_000)) }
        let exchanger = Pipeline.Runner(pipeline: .standard, transport: CurlTransport())
        for body in [RequestBody.bytes(bytes), .file(file.path), stream] {
            let request = try HTTPRequest(.put, url: "\(home.url)/start", body: body)
            let response = try await exchanger.exchange(request, in: ExchangeContext())
            #expect(try await response.text() == "100000", "\(body)")
        }
    }
}
