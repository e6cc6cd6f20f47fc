// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore

/// Where a redirect leads, and where it must not.
@Suite(.timeLimit(.minutes(1)))
struct RedirectPolicyTargetTests {
    static func decide(
        _ locations: [String], from url: String = "https://a.test/p/q?r", headers: HTTPHeaders = [:],
        policy: RedirectPolicy = .standard, homeFields: Set<HTTPField.Name> = []
    ) throws -> RedirectPolicy.Decision {
        let request = try HTTPRequest(url: url, headers: headers)
        var answer = HTTPHeaders()
        for location in locations { answer.append(.location, location) }
        return policy.decide(302, answer, to: request, after: RedirectTrail(), homeFields: homeFields)
    }

    static func target(_ location: String, from url: String = "https://a.test/p/q?r") throws -> String {
        switch try decide([location], from: url) {
        case .follow(let next, _): next.urlString
        case .deliver: "delivered"
        case .fail(let error): error.label
        }
    }

    @Test(
        "A Location is resolved against the URL that was asked",
        arguments: [
            ("https://b.test/x", "https://b.test/x"), ("//b.test:8443", "https://b.test:8443/"),
            ("/x?y#z", "https://a.test/x?y"),
            ("x", "https://a.test/p/x"), ("../x", "https://a.test/x"), ("?x", "https://a.test/p/q?x"),
            ("/a b/ü", "https://a.test/a%20b/%C3%BC"), ("\\x", "https://a.test/x"),
            ("/%0d%0aX:%20y", "https://a.test/%0d%0aX:%20y"),
            ("http://b.test/", "refused redirects"), ("HTTP://a.test/", "refused redirects"),
            ("//b.test\\@c.test/", "https://b.test/@c.test/"),
            ("ftp://b.test/", "refused redirects"), ("javascript:alert(1)", "refused redirects"),
            ("data:text/html,x", "refused redirects"), ("myapp://callback?code=1", "refused redirects"),
            ("https://user:hunter2@b.test/", "refused redirects"), ("//user@b.test/", "refused redirects"),
            ("https:///", "badResponse"), ("https://b.test:0/", "badResponse"), ("https://b c.test/", "badResponse"),
            ("https://bücher.test/", "badResponse"), ("https://[::1", "badResponse"),
        ])
    func locations(location: String, expected: String) throws {
        #expect(try Self.target(location) == expected)
    }

    @Test("A redirect from http may lead to https and to http")
    func upgrade() throws {
        #expect(try Self.target("https://a.test/", from: "http://a.test/x") == "https://a.test/")
        #expect(try Self.target("http://b.test/", from: "http://a.test/x") == "http://b.test/")
        #expect(try Self.target("//b.test/", from: "http://a.test/x") == "http://b.test/")
    }

    @Test("An empty Location means the same URL (RFC 3986 §4.4): sent again by GET")
    func emptyLocation() throws {
        #expect(try Self.target("") == "https://a.test/p/q?r")
        let post = try HTTPRequest(.post, url: "https://a.test/form")
        guard
            case .follow(let next, _) = RedirectPolicy.standard.decide(
                303, [.location: ""], to: post, after: RedirectTrail())
        else {
            Issue.record("not followed")
            return
        }
        #expect(next.method == .get && next.urlString == "https://a.test/form")
    }

    @Test("Several Locations are one if they agree, and an error if they do not")
    func severalLocations() throws {
        guard case .follow = try Self.decide(["/x", "/x"]) else {
            Issue.record("not followed")
            return
        }
        guard case .fail(let error) = try Self.decide(["/x", "/y"]) else {
            Issue.record("followed")
            return
        }
        #expect(error.reason == .badResponse)
    }

    @Test("Errors about a Location show no secret of it")
    func redacted() throws {
        for location in ["https://user:hunter2@b.test/", "myapp://x?code=hunter2", "https://b c.test/?token=hunter2"] {
            guard case .fail(let error) = try Self.decide([location]) else {
                Issue.record("\(location)")
                continue
            }
            #expect(!error.description.contains("hunter2"), "\(location)")
            #expect(error.hint != nil)
        }
    }

    static let headers: HTTPHeaders = [
        .accept: "a", .authorization: "s", "proxy-authorization": "s", .cookie: "s", "Cookie2": "s", .xAPIKey: "s",
        "X-Auth-Token": "s", "X-CSRF-Token": "s", "X-Amz-Security-Token": "s", .origin: "https://a.test", .referer: "r",
        .host: "h", .wwwAuthenticate: "s", "Proxy-Authenticate": "s", "X-Mine": "s", "X-Tenant": "t", "X-Other": "o",
        .userAgent: "u", .idempotencyKey: "k", .ifNoneMatch: "e",
    ]

    @Test(
        "Another scheme, host or port is another origin",
        arguments: [
            ("https://a.test/x", true), ("https://A.TEST:443/x", true), ("https://a.test:8443/x", false),
            ("https://b.test/", false), ("https://sub.a.test/", false), ("https://test/", false),
            ("https://a.test./", false),
            ("https://a.test.b.test/", false), ("https://aa.test/", false),
        ])
    func origins(location: String, isSame: Bool) throws {
        let policy = RedirectPolicy.standard.keeping(secret: ["x-mine"])
        guard
            case .follow(let next, let redirect) = try Self.decide(
                [location], headers: Self.headers, policy: policy, homeFields: ["X-Tenant"])
        else {
            Issue.record("not followed")
            return
        }
        #expect(redirect.leavesOrigin == !isSame)
        let kept = ["Accept", "User-Agent", "Idempotency-Key", "If-None-Match"]
        #expect(next.headers.map(\.name.text) == (isSame ? Self.headers.map(\.name.text) : kept))
    }

    @Test("A policy may follow no redirect, those of one origin, or those that a closure allows")
    func policies() throws {
        struct Stop: Error {}
        let here = ["/x"]
        let away = ["https://b.test/"]
        func outcome(_ policy: RedirectPolicy, _ locations: [String]) throws -> String {
            switch try Self.decide(locations, policy: policy) {
            case .follow: "follow"
            case .deliver: "deliver"
            case .fail(let error): error.underlying is Stop ? "stop" : error.label
            }
        }
        #expect(try outcome(.manual, here) == "deliver")
        #expect(try outcome(.manual, ["ftp://x"]) == "deliver")
        #expect(try outcome(.sameOrigin, here) == "follow")
        #expect(try outcome(.sameOrigin, away) == "deliver")
        #expect(try outcome(.asking { $0.leavesOrigin }, here) == "deliver")
        #expect(try outcome(.asking { $0.leavesOrigin }, away) == "follow")
        #expect(try outcome(.asking { _ in throw Stop() }, here) == "stop")
        #expect(try outcome(.asking { _ in true }, ["http://a.test/"]) == "refused redirects", "rules come first")
    }
}
