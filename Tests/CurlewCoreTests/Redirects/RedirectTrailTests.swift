// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore

@Suite(.timeLimit(.minutes(1)))
struct RedirectTrailTests {
    static let host = [
        "a": "https://a.test/", "b": "https://b.test/", "x": "https://a.test/x", "y": "https://a.test/y",
    ]

    static func redirect(_ from: Character, _ to: Character, _ method: HTTPMethod = .get) throws
        -> RedirectPolicy.Redirect
    {
        let source = try HTTPRequest(method, url: try #require(host["\(from)"]))
        let target = try HTTPRequest(.get, url: try #require(host["\(to)"]))
        return RedirectPolicy.Redirect(status: 302, from: source, to: target, droppedFields: [])
    }

    @Test(
        "A URL requested before is requested again up to the limit, and the error says so",
        arguments: ["xx", "xyx", "axyx", "aba"])
    func circles(way: String) throws {
        var trail = RedirectTrail()
        let loop = Array(way)
        for position in 0..<20 {
            let (from, to) = (position % (loop.count - 1), position % (loop.count - 1) + 1)
            let redirect = try Self.redirect(loop[from], loop[to])
            #expect(trail.failure(toFollow: redirect, limit: 20) == nil)
            trail.append(redirect)
        }
        let failure = trail.failure(toFollow: try Self.redirect(loop[0], loop[1]), limit: 20)
        #expect(failure?.reason == .limitExceeded(.redirects) && failure?.detail.contains("form a loop") == true)
    }

    @Test("The limit counts the redirects that are followed", arguments: [(0, 0), (1, 1), (20, 20), (-5, 0)])
    func limit(limit: Int, followed: Int) throws {
        var trail = RedirectTrail()
        var count = 0
        while count < 50 {
            let from = try HTTPRequest(url: "https://a.test/\(count)")
            let to = try HTTPRequest(url: "https://a.test/\(count + 1)")
            let redirect = RedirectPolicy.Redirect(status: 302, from: from, to: to, droppedFields: [])
            if let failure = trail.failure(toFollow: redirect, limit: limit) {
                #expect(failure.reason == .limitExceeded(.redirects))
                break
            }
            trail.append(redirect)
            count += 1
        }
        #expect(count == followed)
    }

    @Test("Once an origin is left, it stays left")
    func crossed() throws {
        var trail = RedirectTrail()
        trail.append(try Self.redirect("a", "x"))
        #expect(!trail.crossedOrigin)
        trail.append(try Self.redirect("x", "b"))
        #expect(trail.crossedOrigin)
        trail.append(try Self.redirect("b", "a"))
        #expect(trail.crossedOrigin)
    }
}
