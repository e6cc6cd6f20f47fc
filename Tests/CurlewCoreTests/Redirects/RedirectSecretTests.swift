// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewAuthentication
@testable import CurlewCookies
@testable import CurlewCore

/// No credential, cookie or declared secret on any foreign hop: every way of five redirects through three origins.
@Suite(.timeLimit(.minutes(1)))
struct RedirectSecretTests {
    /// Everything that may carry a secret, each with a value of its own.
    static let callFields: HTTPHeaders = [
        .authorization: "secret-authorization", .cookie: "own=secret-cookie",
        .xAPIKey: "secret-key", "X-CSRF-Token": "secret-csrf", "X-Declared": "secret-declared",
        .referer: "secret-referer",
    ]

    /// A client that attaches secrets in every way there is: fields, token, hooks on both sides, and a cookie jar.
    static func client(
        _ origins: [String], status: HTTPStatus, way: [Int], jar: CookieStore?, ownCookie: Bool
    ) -> APIClient {
        var pipeline = Pipeline.empty
            .adding(.redirects(.standard.keeping(secret: ["X-Declared", "X-Hook"])))
            .adding(.bearer { "secret-bearer" })
            .adding(
                .onRequest { request, _ in
                    request.headers["X-Hook"] = "secret-hook"
                    request.headers["X-Auth-Token"] = "secret-token"
                }
            )
            .adding(.onRequest(at: .signing) { request, _ in request.headers["X-Access-Token"] = "secret-signature" })
        if let jar { pipeline = pipeline.adding(.cookies(jar)) }
        let configuration = APIClient.Configuration(headers: ["X-Home": "secret-home"])
        let base = BaseURL(stringLiteral: origins[0])
        return .mock(baseURL: base, pipeline: pipeline, configuration: configuration) {
            $0.onAny { call in
                let hop = call.context.hop
                guard hop < way.count else { return .status(200) }
                var answer = HTTPResponse.status(status, headers: [.location: "\(origins[way[hop]])/\(hop + 1)"])
                answer.headers.append(.setCookie, "jar-\(call.request.origin.host)=1; Path=/")
                return answer
            }
        }
    }

    static let ways: [[Int]] = (0..<243).map { number in
        (0..<5).map { digit in [1, 3, 9, 27, 81].map { number / $0 % 3 }[digit] }
    }

    static func check(_ origins: [String], _ way: [Int], _ status: HTTPStatus, jar: Bool, ownCookie: Bool) async throws
    {
        let store = jar ? CookieStore() : nil
        let client = client(origins, status: status, way: way, jar: store, ownCookie: ownCookie)
        var call = Request<HTTPResponse>(.get, "/0")
        for field in callFields where ownCookie || field.name != .cookie {
            call = call.header(field.name, field.value)
        }
        #expect(try await client.send(call).status == .ok)
        let requests = client.recordedCalls.map(\.request)
        #expect(requests.count == 6)
        var isForeign = false
        for (hop, request) in requests.enumerated() {
            isForeign = isForeign || request.origin != requests[0].origin
            let sent = request.headers.map(\.value).joined(separator: " ")
            let place = Comment(rawValue: "\(origins) \(way) hop \(hop) \(status.code)")
            if isForeign {
                #expect(!sent.contains("secret"), place)
            } else {
                // As long as the call is at home everything is sent, so that this test can fail.
                let expected = ownCookie ? 10 : 9
                #expect(
                    sent.split(separator: "secret-", omittingEmptySubsequences: false).count - 1 == expected, place)
            }
            guard jar, !ownCookie || isForeign else { continue }
            // The jar gives each host its own cookies, and so it does abroad.
            let cookies = (request.headers[.cookie] ?? "").split(separator: "; ")
            #expect(cookies.allSatisfy { $0 == "jar-\(request.origin.host)=1" }, place)
            let wasHere = requests[..<hop].contains { $0.origin.host == request.origin.host }
            #expect(cookies.isEmpty == !wasHere, place)
        }
    }

    @Test(
        "No secret leaves its origin on any way through three hosts", arguments: [302, 307] as [HTTPStatus],
        [true, false])
    func hosts(status: HTTPStatus, ownCookie: Bool) async throws {
        let origins = ["https://a.test", "https://b.test", "https://sub.a.test"]
        for way in Self.ways {
            try await Self.check(origins, way, status, jar: true, ownCookie: ownCookie)
        }
    }

    @Test("No secret leaves its port, without a jar: cookies do not know ports (RFC 6265 §8.5)")
    func ports() async throws {
        let origins = ["https://a.test", "https://a.test:8443", "https://a.test:9443"]
        for way in Self.ways {
            try await Self.check(origins, way, 302, jar: false, ownCookie: true)
        }
    }

    @Test("No secret leaves its scheme and host in three spellings of one name")
    func names() async throws {
        let origins = ["https://a.test", "https://a.test.", "https://a.test.b.test"]
        for way in Self.ways {
            try await Self.check(origins, way, 302, jar: true, ownCookie: true)
        }
    }
}
