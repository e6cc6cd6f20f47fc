// SPDX-License-Identifier: MIT

import CurlewAuthentication
import Testing

/// Where credentials go when servers redirect: to their origin, and not even there after a foreign hop.
@Suite(.timeLimit(.minutes(1)))
struct CredentialOriginTests {
    /// Three servers, one of them under two names. Each sends on along the trail.
    private final class Trail: Sendable {
        let servers: [MockServer]
        let hops = Locked<[String]>([])
        let last = Locked(MockResponse.text("end"))

        init() throws {
            var six = MockServer.Configuration()
            six.address = .ipv6
            servers = [try MockServer(), try MockServer(), try MockServer(six)]
            for server in servers {
                server.on(.get, "/hop/:number") { [hops, last] request in
                    let number = request.parameters["number"].flatMap { Int($0) } ?? 0
                    let next = hops.withLock { $0.indices.contains(number) ? $0[number] : nil }
                    return next.map { .redirect(to: "\($0)/hop/\(number + 1)") } ?? last.withLock { $0 }
                }
            }
        }

        var home: String { servers[0].url }

        func url(_ place: String) -> String {
            switch place {
            case "name": "http://localhost:\(servers[0].port)"
            case "port": servers[1].url
            case "six": servers[2].url
            default: home
            }
        }

        /// What each hop saw, in their order.
        var requests: [RecordedRequest] {
            servers.flatMap(\.requests).sorted { Int($0.path.dropFirst(5)) ?? 0 < Int($1.path.dropFirst(5)) ?? 0 }
        }
    }

    private static let kinds = ["tokens", "closure", "basic", "field", "item", "signature"]

    private func interceptor(_ kind: String) async throws -> any Interceptor {
        switch kind {
        case "tokens":
            let store = TokenStore()
            try await store.signIn(Tokens(accessToken: "s3cret", refreshToken: "r"))
            return .bearer(store) { _ in throw NetworkError(.notAuthenticated(.missingCredential)) }
        case "closure": return .bearer { "s3cret" }
        case "basic": return .basic(user: "u", password: "s3cret")
        case "field": return .apiKey("s3cret", in: .header("X-Secret-Key"))
        case "item": return .apiKey("s3cret", in: .query("key"))
        default: return .signing { request, _ in request.headers["X-Signature"] = "s3cret" }
        }
    }

    private func carries(_ request: RecordedRequest) -> Bool {
        request.target.contains("s3cret") || request.headers.contains(.authorization)
            || request.headers.contains { $0.value.contains("s3cret") }
    }

    @Test(
        "No credential is sent to another host, port or address, and it is sent again on return",
        arguments: [
            ["home"], ["name"], ["port"], ["six"], ["name", "home"], ["port", "home"], ["six", "home"],
            ["home", "port", "home", "home"], ["name", "port", "six", "home", "home"],
        ], kinds)
    func redirects(places: [String], kind: String) async throws {
        let trail = try Trail()
        trail.hops.withLock { $0 = places.map(trail.url) }
        let client = APIClient.curl(trail.home, .standard.adding(try await interceptor(kind)))
        #expect(try await client.send(Request<String>.get("/hop/0")) == "end")
        let visited = ["home"] + places
        let atHome = visited.prefix { $0 == "home" }.count
        let requests = trail.requests
        #expect(requests.count == visited.count)
        for (number, request) in requests.enumerated() {
            #expect(carries(request) == (number < atHome), "hop \(number) of \(visited)")
        }
    }

    @Test(
        "A 401 of another origin is the response: its challenge is not met, nothing is refreshed",
        arguments: [["port"], ["port", "home"]], kinds + ["digest"])
    func challenged(places: [String], kind: String) async throws {
        let trail = try Trail()
        trail.hops.withLock { $0 = places.map(trail.url) }
        trail.last.withLock {
            $0 = .status(
                .unauthorized,
                headers: ["WWW-Authenticate": #"Digest realm="r", nonce="n", qop="auth", algorithm=SHA-256, Basic"#])
        }
        let interceptor = kind == "digest" ? .digest(user: "u", password: "s3cret") : try await interceptor(kind)
        let client = APIClient.curl(trail.home, .standard.adding(interceptor))
        #expect(await client.reason(of: .get("/hop/0")) == .status(.unauthorized))
        let requests = trail.requests
        #expect(requests.count == places.count + 1)
        #expect(requests.dropFirst().allSatisfy { !carries($0) })
    }

    @Test("Absolute URLs of other origins, and base URLs that look alike, get no credential")
    func absolute() async throws {
        let trail = try Trail()
        let client = APIClient.curl(trail.home, [.bearer { "s3cret" }])
        for place in ["name", "port", "six"] {
            #expect(await client.reason(of: .get(url: trail.url(place) + "/hop/9")) == nil)
        }
        #expect(trail.requests.allSatisfy { !carries($0) })
        #expect(await client.reason(of: .get("/hop/9")) == nil)
        #expect(trail.requests.count { carries($0) } == 1)
    }

    @Test("No credential is sent to another scheme or TLS host, and it is sent again on return")
    func schemes() async throws {
        let nginx = try await Nginx.shared()
        let transport = CurlTransport(configuration: nginx.configuration)
        let client = { APIClient.curl($0, .standard.adding(.bearer { "s3cret" }), over: transport) }
        func bounce(_ places: [String]) -> String {
            places.dropFirst().reversed().reduce("") { "\($1)/\($0.isEmpty ? "credential" : "bounce?to=\($0)")" }
        }
        let (plain, secure, other) = (nginx.plain, nginx.secure(), nginx.secure(host: "127.0.0.1"))
        for (places, credential) in [
            ([secure, secure], "Bearer s3cret"), ([plain, plain], "Bearer s3cret"),
            ([secure, other], ""), ([secure, other, secure], ""), ([plain, secure], ""), ([plain, other, secure], ""),
        ] {
            let url = "\(places[0])/bounce?to=\(bounce(places))"
            let seen = try await client(places[0]).send(Request<String>.get(url: url))
            #expect(seen == credential, "\(places)")
        }
        // A redirect from TLS to plain http is refused.
        for places in [[secure, plain], [plain, secure, plain]] {
            let url = "\(places[0])/bounce?to=\(bounce(places))"
            let reason = await client(places[0]).reason(of: .get(url: url))
            #expect(reason == .refused(by: .redirects), "\(places)")
        }
    }
}
