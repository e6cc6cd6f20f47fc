// SPDX-License-Identifier: MIT

import CurlewHTTP
import CurlewTesting
import Foundation
import Testing

@testable import CurlewCaching
@testable import CurlewCookies
@testable import CurlewCore

/// Public responses for all users, if the app allows it: what Ada has requested is used for Bob in one case only.
@Suite(.timeLimit(.minutes(1)))
struct CachePublicTests {
    private static let shared: CacheConfiguration = {
        var rules = CacheConfiguration()
        rules.sharesPublic = true
        return rules
    }()

    private static func fixture(
        _ rules: CacheConfiguration = shared, _ status: HTTPStatus = .ok, _ fields: HTTPHeaders
    ) -> CacheFixture {
        CacheFixture(rules: rules) { call in
            .data(Data((call.request.headers[.authorization] ?? "nobody").utf8), status: status, headers: fields)
        }
    }

    private static let kinds: [(Int, HTTPHeaders, Bool)] = [
        (200, [.cacheControl: "public, max-age=60"], true),
        (404, [.cacheControl: "public, max-age=60"], true),
        (200, [.cacheControl: "public, max-age=60", .vary: "Accept"], true),
        (200, [.cacheControl: "max-age=60"], false),
        (200, [.cacheControl: "public", .lastModified: "Mon, 01 Jan 2020 00:00:00 GMT"], false),
        (200, [.cacheControl: "public=yes, max-age=60"], false),
        (200, [.cacheControl: "public, private, max-age=60"], false),
        (200, [.cacheControl: "public, private=\"X-Name\", max-age=60"], false),
        (200, [.cacheControl: "public, no-store, max-age=60"], false),
        (200, [.cacheControl: "public, max-age=60", .setCookie: "sid=1"], false),
        (200, [.cacheControl: "public, max-age=60", .vary: "Authorization"], false),
        (200, [.cacheControl: "public, max-age=60", .vary: "Accept, Cookie"], false),
        (200, [.cacheControl: "public, max-age=60", .vary: "X-User"], false),
        (200, [.cacheControl: "public, max-age=60", .vary: "*"], false),
        (401, [.cacheControl: "public, max-age=60"], false),
        (403, [.cacheControl: "public, max-age=60"], false),
        (500, [.cacheControl: "public, max-age=60"], false),
    ]

    @Test("Bob gets what Ada has asked for if it is public in every respect, and else his own", arguments: kinds)
    func twoUsers(_ one: (status: Int, fields: HTTPHeaders, isShared: Bool)) async throws {
        let fixture = Self.fixture(Self.shared, HTTPStatus(one.status), one.fields)
        #expect(try await fixture.text(headers: [.authorization: "ada"]) == "ada")
        #expect(try await fixture.text(headers: [.authorization: "bob"]) == (one.isShared ? "ada" : "bob"))
        let careful = Self.fixture(.standard, HTTPStatus(one.status), one.fields)
        #expect(try await careful.text(headers: [.authorization: "ada"]) == "ada")
        #expect(try await careful.text(headers: [.authorization: "bob"]) == "bob", "not unless the app says so")
    }

    @Test("lifetimes of the app share nothing between users")
    func lifetimes() async throws {
        var rules = Self.shared
        rules.lifetimes = [
            CacheConfiguration.Lifetime(.seconds(60), under: "https://api.example", overriding: .lifetimeAndNoStore)
        ]
        let fixture = Self.fixture(rules, .ok, [.cacheControl: "public"])
        #expect(try await fixture.text(headers: [.authorization: "ada"]) == "ada")
        #expect(try await fixture.text(headers: [.authorization: "bob"]) == "bob")
    }

    @Test(
        "what the server forbids to store, or to use without validation, is not shared whatever the app allows",
        arguments: ["public, no-store, max-age=60", "public, no-cache, max-age=60"])
    func forbidden(directives: String) async throws {
        var rules = Self.shared
        rules.lifetimes = [
            CacheConfiguration.Lifetime(.seconds(60), under: "https://api.example", overriding: .lifetimeAndNoStore)
        ]
        let fixture = Self.fixture(rules, .ok, [.cacheControl: directives])
        #expect(try await fixture.text(headers: [.authorization: "ada"]) == "ada")
        #expect(try await fixture.text(headers: [.authorization: "bob"]) == "bob")
        #expect(try await fixture.text(headers: [.authorization: "ada"]) == "ada")
        #expect(fixture.transport.requestCount == 2, "each has an entry")
    }

    @Test(
        "a shared response is no longer shared once a validation forbids it",
        arguments: [
            [.cacheControl: "private, max-age=60"], [.cacheControl: "public, max-age=60", .setCookie: "sid=1"],
            [.cacheControl: "public, max-age=60", .vary: "Authorization"],
        ] as [HTTPHeaders])
    func turnedPrivate(fields: HTTPHeaders) async throws {
        let isPublic = Locked(true)
        let fixture = CacheFixture(rules: Self.shared) { call in
            if call.request.headers[.ifNoneMatch] != nil { return .status(304, headers: fields) }
            let wasPublic = isPublic.withLock { isPublic in
                defer { isPublic = false }
                return isPublic
            }
            return .data(
                Data((call.request.headers[.authorization] ?? "").utf8),
                headers: wasPublic ? [.cacheControl: "public, max-age=1", .eTag: "\"1\""] : fields)
        }
        #expect(try await fixture.text(headers: [.authorization: "ada"]) == "ada")
        fixture.clock.advance(by: .seconds(5))
        #expect(try await fixture.text(headers: [.authorization: "ada"]) == "ada")
        #expect(try await fixture.text(headers: [.authorization: "bob"]) == "bob")
    }
}
