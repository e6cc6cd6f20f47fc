// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCookies
@testable import CurlewCore

/// What went wrong in other clients, one test for each advisory.
@Suite(.timeLimit(.minutes(1)))
struct RedirectAdvisoryTests {
    static let secrets: HTTPHeaders = [
        .authorization: "hunter2", .cookie: "hunter2", "Proxy-Authenticate": "hunter2",
    ]

    /// The fields that arrive at each of these URLs, one redirecting to the next.
    static func arrived(_ urls: [String], pipeline: Pipeline = .standard) async throws -> [[String]] {
        let client = APIClient.mock(baseURL: "https://a.test", pipeline: pipeline) {
            $0.onAny { call in
                let next = urls.firstIndex(of: call.request.urlString).map { $0 + 1 } ?? urls.count
                guard next < urls.count else { return .status(200) }
                return .status(302, headers: [.location: urls[next]])
            }
        }
        var call = Request<HTTPResponse>(.get, url: urls[0])
        for field in secrets { call = call.header(field.name, field.value) }
        try await client.send(call)
        #expect(client.recordedCalls.count == urls.count)
        return client.recordedCalls.map { call in
            call.request.headers.filter { $0.value.contains("hunter2") }.map(\.name.text)
        }
    }

    static let all = ["Authorization", "Cookie", "Proxy-Authenticate"]

    @Test("CVE-2024-45336 (Go): a redirect within the foreign host does not restore secrets")
    func secondForeignHop() async throws {
        let arrived = try await Self.arrived([
            "https://a.test/1", "https://b.test/1", "https://b.test/2", "https://a.test/2", "https://a.test/3",
        ])
        #expect(arrived == [Self.all, [], [], [], []])
    }

    @Test("CVE-2023-45289 (Go): a subdomain, and a host that only looks like one, are other origins")
    func subdomains() async throws {
        for host in ["sub.a.test", "xa.test", "a.test.b.test"] {
            #expect(try await Self.arrived(["https://a.test/1", "https://\(host)/1"]) == [Self.all, []])
        }
        #expect(try await Self.arrived(["https://sub.a.test/1", "https://a.test/1"]) == [Self.all, []])
    }

    @Test("CVE-2025-4673 (Go): Proxy-Authenticate is secret; Proxy-Authorization is never sent")
    func proxyFields() async throws {
        let arrived = try await Self.arrived(["https://a.test/1", "https://a.test:444/1"])
        #expect(arrived.last?.filter { $0.hasPrefix("Proxy") } == [])
    }

    @Test("GHSA-9w4w-cpc8-h2fq (HTTPie): cookies of a session stay with their host")
    func sessionCookies() async throws {
        let store = CookieStore()
        store.insert(Cookie(name: "session", value: "hunter2", domain: "a.test"))
        let client = APIClient.mock(baseURL: "https://a.test", pipeline: .standard.adding(.cookies(store))) {
            $0.on(.get, "/1", .status(302, headers: [.location: "https://b.test/2"]))
            $0.on(.get, "/2", .status(200))
        }
        try await client.send(Request<HTTPResponse>(.get, "/1"))
        #expect(client.recordedCalls.map { $0.request.headers[.cookie] } == ["session=hunter2", nil])
    }

    @Test("GHSA-qccp-gfcp-xxvc (urllib3): the rule holds on every way to send")
    func everyWay() async throws {
        func sent(_ send: (APIClient, Request<HTTPResponse>) async throws -> Void) async throws -> [String?] {
            let client = APIClient.mock(baseURL: "https://a.test", pipeline: .standard) {
                $0.on(.get, "/1", .status(302, headers: [.location: "https://b.test/2"]))
                $0.on(.get, "/2", .json(text: "{}"))
            }
            try await send(client, Request<HTTPResponse>(.get, "/1").header(.authorization, "hunter2"))
            return client.recordedCalls.map { $0.request.headers[.authorization] }
        }
        let expected = ["hunter2", nil]
        #expect(try await sent { try await $0.send($1) } == expected)
        #expect(try await sent { _ = try await $0.response(for: $1) } == expected)
        #expect(try await sent { try await $0.withResponse(to: $1) { _ in } } == expected)
        #expect(try await sent { _ = try await $0.send($1.decoding(JSONValue.self)) } == expected)
        #expect(try await sent { try await $0.with(options: RequestOptions()).send($1) } == expected)
        #expect(
            try await sent { client, call in
                try await client.send(call.options { $0.redirects = .asking { _ in true } })
            } == expected)
        #expect(
            try await sent { client, call in
                let request = try client.request(for: call)
                let exchanger = Pipeline.Runner(pipeline: client.pipeline, transport: client.transport)
                _ = try await exchanger.exchange(request, in: ExchangeContext())
            } == expected)
        #expect(
            try await sent { client, call in
                _ = try await withCheckedThrowingContinuation { continuation in
                    client.send(call, deliverOn: .anywhere) { continuation.resume(with: $0) }
                }
            } == expected)
    }

    @Test(
        "A signed query is removed: no part of the requested URL is sent along",
        arguments: ["https://b.test", "?x=1"])
    func signedQuery(location: String) async throws {
        let client = APIClient.mock(baseURL: "https://a.test", pipeline: .standard) {
            $0.on(.get, "/1") { call in
                call.query["signature"] == nil ? .status(200) : .status(302, headers: [.location: location])
            }
            $0.on(.get, "/", .status(200))
        }
        try await client.with(query: ["api_key": "hunter2"])
            .send(Request<HTTPResponse>(.get, "/1", query: ["signature": "hunter2"]))
        #expect(client.recordedCalls.last?.request.urlString.contains("hunter2") == false)
    }

    @Test("CVE-2024-39338 and CVE-2025-27152 (axios): a path never leaves the origin of the base URL")
    func basePath() throws {
        let client = APIClient.mock(baseURL: "https://a.test/v1") { _ in }
        for path in ["//b.test/x", "/\\b.test/x", "https://b.test/x", "/https://b.test/x"] {
            let path = RequestPath(stringLiteral: path)
            guard let request = try? client.request(for: Request<Data>.get(path)) else { continue }
            #expect(request.urlString.hasPrefix("https://a.test/v1/"), "\(path)")
        }
    }

    @Test("GHSA-4992-7rv2-5pvq (undici): no Location of a server forges a field")
    func forgedFields() async throws {
        for location in ["/x\r\nX-Forged: 1", "/x%0d%0aX-Forged:%201", "/x\u{0}", "/x\u{85}X"] {
            var answer = HTTPHeaders()
            answer.appendUnchecked(HTTPField(name: .location, value: location))
            let request = try HTTPRequest(url: "https://a.test/")
            guard
                case .follow(let next, _) = RedirectPolicy.standard.decide(
                    302, answer, to: request, after: RedirectTrail())
            else { continue }
            #expect(!next.target.utf8.contains { $0 <= 0x20 || $0 >= 0x7F }, "\(location)")
        }
    }

    @Test("Swift-eventsource#111: an empty Location ends in a response or an error, never in neither")
    func emptyLocation() async throws {
        let client = APIClient.mock(pipeline: .standard) { $0.onAny { _ in .status(307, headers: [.location: ""]) } }
        let error = await #expect(throws: NetworkError.self) {
            try await client.withResponse(to: Request<HTTPResponse>(.get, "/events")) { _ in }
        }
        #expect(error?.reason == .limitExceeded(.redirects))
    }
}
