// SPDX-License-Identifier: MIT

import CurlewHTTP
import Testing

@testable import CurlewCore

@Suite(.timeLimit(.minutes(1)))
struct RedirectTrailTests {
    static let host = [
        "a": "https://a.test/", "b": "https://b.test/", "x": "https://a.test/x", "y": "https://a.test/y",
    ]

    static func redirect(_ from: Character, _ to: Character, _ method: HTTPMethod = .get) throws -> Redirect {
        let source = try HTTPRequest(method, url: try #require(host["\(from)"]))
        let target = try HTTPRequest(.get, url: try #require(host["\(to)"]))
        return Redirect(status: 302, from: source, to: target, droppedFields: [])
    }

    /// How many redirects of a way are followed before one is a circle; nil if none is.
    static func circle(_ way: String, cookieAt: Int? = nil) throws -> Int? {
        var trail = RedirectTrail()
        for (position, (from, to)) in zip(way, way.dropFirst()).enumerated() {
            let redirect = try redirect(from, to)
            let setsCookie = position == cookieAt
            if trail.failure(toFollow: redirect, setsCookie: setsCookie, limit: 20) != nil { return position }
            trail.append(redirect, setsCookie: setsCookie)
        }
        return nil
    }

    @Test(
        "A request that was made before is a circle",
        arguments: [
            ("xx", 0), ("xyx", 1), ("axyx", 2), ("axay", 1), ("axyb", nil),
            // Back at its origin a request goes without credentials: that is another question, once.
            ("aba", nil), ("abab", 2), ("abxyba", 3), ("xaba", nil), ("xyabxy", nil),
        ] as [(String, Int?)])
    func circles(way: String, expected: Int?) throws {
        #expect(try Self.circle(way) == expected)
    }

    @Test("An answer that sets a cookie changes the question: servers test for cookies so")
    func cookies() throws {
        #expect(try Self.circle("xxx", cookieAt: 0) == 1)
        #expect(try Self.circle("xyx", cookieAt: 1) == nil)
        #expect(try Self.circle("xyxyx", cookieAt: 1) == 3)
    }

    @Test("Another method is another question: a form that redirects to its own URL")
    func methods() throws {
        var trail = RedirectTrail()
        let redirect = try Self.redirect("x", "x", .post)
        #expect(trail.failure(toFollow: redirect, limit: 20) == nil)
        trail.append(redirect, setsCookie: false)
        #expect(trail.failure(toFollow: try Self.redirect("x", "x"), limit: 20) != nil)
    }

    @Test("The limit counts the redirects that are followed", arguments: [(0, 0), (1, 1), (20, 20), (-5, 0)])
    func limit(limit: Int, followed: Int) throws {
        var trail = RedirectTrail()
        var count = 0
        while count < 50 {
            let from = try HTTPRequest(url: "https://a.test/\(count)")
            let to = try HTTPRequest(url: "https://a.test/\(count + 1)")
            let redirect = Redirect(status: 302, from: from, to: to, droppedFields: [])
            if let failure = trail.failure(toFollow: redirect, limit: limit) {
                #expect(failure.reason == .limitExceeded(.redirects))
                break
            }
            trail.append(redirect, setsCookie: false)
            count += 1
        }
        #expect(count == followed)
    }

    @Test("Once an origin is left, it stays left")
    func crossed() throws {
        var trail = RedirectTrail()
        trail.append(try Self.redirect("a", "x"), setsCookie: false)
        #expect(!trail.crossedOrigin)
        trail.append(try Self.redirect("x", "b"), setsCookie: false)
        #expect(trail.crossedOrigin)
        trail.append(try Self.redirect("b", "a"), setsCookie: true)
        #expect(trail.crossedOrigin)
    }
}
