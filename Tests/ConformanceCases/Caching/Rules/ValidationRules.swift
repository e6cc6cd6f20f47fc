// SPDX-License-Identifier: MIT

import CurlewCaching
import CurlewCore
import CurlewHTTP

/// Cache cases for RFC 9111 §4.3 and §3.2: the validation of a stored response, and the updates of stored responses
/// that result.
enum ValidationRules {
    static let all: [CacheCase] = sending + receiving + answers + updates + head

    /// Stores a response with these fields and, unless they contain Cache-Control, `max-age=5`. Then advances the clock
    /// by ten seconds, so that the response is stale.
    private static func stale(_ headers: HTTPHeaders, in scene: CacheScene, status: HTTPStatus = .ok) async throws {
        let base: HTTPHeaders = [.cacheControl: "max-age=5"]
        try await scene.first(base.merging(headers, replacing: true), status: status)
        scene.wait(10)
    }

    private static let sending: [CacheCase] = [
        .requirement("RFC 9111 §4.3.1, MUST", "the entity tag is sent with the validation, weak or strong") { scene in
            for tag in ["\"1\"", "W/\"1\"", "\"\"", "unquoted"] {
                try await stale([.eTag: tag], in: scene)
                scene.answer(.notModified, [.eTag: tag])
                try scene.equal(try await scene.send().text, "first", "the body")
                try scene.equal(try scene.lastRequest().headers[.ifNoneMatch], tag, "If-None-Match")
                try await scene.store.clear()
            }
        },
        .requirement("RFC 9111 §4.3.1, SHOULD", "the date of the last change is sent with the validation, unchanged") {
            scene in
            let odd = "Saturday, 11-Nov-23 10:00:00 GMT"
            try await stale([.eTag: "\"1\"", .lastModified: odd, .cacheControl: "max-age=0"], in: scene)
            scene.answer(.notModified)
            let seen = try await scene.send()
            try scene.equal(try scene.lastRequest().headers[.ifModifiedSince], odd, "If-Modified-Since")
            try scene.equal(seen.served, .revalidated, "the verdict")
        },
        .requirement("RFC 9111 §4.3.1", "without a validator the request has no condition") { scene in
            try await stale([.lastModified: "nonsense"], in: scene)
            try await scene.expectAsking()
            let headers = try scene.lastRequest().headers
            try scene.expect(
                !headers.contains(.ifNoneMatch) && !headers.contains(.ifModifiedSince), "there is a condition")
        },
        .requirement("RFC 9111 §4.3.1, SHOULD", "the date does not go with a request for a range") { scene in
            try await stale([.eTag: "\"1\"", .lastModified: scene.date(-1000)], in: scene)
            scene.answer(.notModified, [.eTag: "\"1\""])
            let seen = try await scene.send(.get, "/", [.range: "bytes=0-1"])
            try scene.equal([seen.text, "\(seen.status)"], ["fi", "206"], "the answer")
            try scene.equal(try scene.lastRequest().headers[.ifNoneMatch], "\"1\"", "If-None-Match")
            try scene.expect(
                !(try scene.lastRequest().headers.contains(.ifModifiedSince)), "If-Modified-Since is there")
        },
    ]

    private static let receiving: [CacheCase] = [
        .requirement("RFC 9111 §4.3.2, SHOULD", "the caller's If-None-Match is answered from the cache") { scene in
            try await scene.first([.cacheControl: "max-age=60", .eTag: "\"1\"", "X-Own": "1"])
            for (list, status) in [
                ("\"1\"", 304), ("W/\"1\"", 304), ("\"0\", \"1\"", 304), ("*", 304), ("\"2\"", 200), ("1", 200),
            ] {
                let (asked, seen) = try await scene.again([.ifNoneMatch: list])
                try scene.expect(!asked, "the server was asked about \(list)")
                try scene.equal(seen.status, status, "the status for \(list)")
                if status == 304 {
                    try scene.equal(seen.headers[.eTag], "\"1\"", "ETag")
                    try scene.expect(
                        !seen.headers.contains("X-Own") && seen.text.isEmpty, "there is more than a 304 has")
                }
            }
        },
        .requirement("RFC 9111 §4.3.2, SHOULD", "the caller's If-Modified-Since is answered from the cache") { scene in
            try await scene.first([.cacheControl: "max-age=60", .lastModified: scene.date(-1000)])
            for (offset, status) in [(-1000, 304), (0, 304), (-1001, 200)] {
                let seen = try await scene.again([.ifModifiedSince: scene.date(offset)]).seen
                try scene.equal(seen.status, status, "the status for \(offset)")
            }
            try scene.equal(
                try await scene.again([.ifModifiedSince: "nonsense"]).seen.status, 200, "the status for nonsense")
        },
        .requirement("RFC 9111 §4.3.2, SHOULD", "Date represents a missing Last-Modified") { scene in
            let (now, before) = (scene.date(), scene.date(-1))
            try await scene.first([.cacheControl: "max-age=60"])
            try scene.equal(try await scene.again([.ifModifiedSince: now]).seen.status, 304, "the status")
            try scene.equal(try await scene.again([.ifModifiedSince: before]).seen.status, 200, "the status")
        },
        .requirement("RFC 9111 §4.3.2", "If-None-Match overrules If-Modified-Since") { scene in
            try await scene.first([.cacheControl: "max-age=60", .eTag: "\"1\"", .lastModified: scene.date(-1000)])
            let seen = try await scene.again([.ifNoneMatch: "\"2\"", .ifModifiedSince: scene.date()]).seen
            try scene.equal(seen.status, 200, "the status")
        },
        .requirement("RFC 9111 §4.3.2, MUST NOT", "conditions for the server alone go to the server") { scene in
            try await scene.first([.cacheControl: "max-age=60", .eTag: "\"1\""])
            for name: HTTPField.Name in [.ifMatch, "If-Unmodified-Since"] {
                let (asked, seen) = try await scene.again([name: name == .ifMatch ? "\"1\"" : scene.date()])
                try scene.expect(asked && seen.text == "asked", "the server was not asked about \(name)")
            }
        },
        .requirement("RFC 9111 §4.3.2", "conditions of the caller are sent unchanged") { scene in
            try await stale([.eTag: "\"1\""], in: scene)
            scene.answer(.notModified, [.eTag: "\"1\"", .cacheControl: "max-age=50"])
            let seen = try await scene.send(.get, "/", [.ifNoneMatch: "\"0\", \"1\""])
            try scene.equal(seen.status, 304, "the status")
            try scene.equal(try scene.lastRequest().headers[.ifNoneMatch], "\"0\", \"1\"", "If-None-Match")
            try await scene.expectReuse()
        },
    ]

    private static let answers: [CacheCase] = [
        .requirement("RFC 9111 §4.3.3, MUST", "a full response to the validation is used, and replaces the stored one")
        { scene in
            try await stale([.eTag: "\"1\""], in: scene)
            scene.answer(.ok, [.eTag: "\"2\"", .cacheControl: "max-age=60"], "second")
            let seen = try await scene.send()
            try scene.equal(seen.text, "second", "the body")
            try scene.equal(seen.served, .network, "the verdict")
            try await scene.expectReuse(body: "second")
            try scene.equal(try await scene.store.statistics().entries, 1, "the number of entries")
        },
        .requirement("RFC 9111 §4.3.3", "a full response that may not be kept removes what it replaces") {
            scene in
            try await stale([.eTag: "\"1\""], in: scene)
            scene.answer(.ok, [.cacheControl: "no-store"], "second")
            try scene.equal(try await scene.send().text, "second", "the body")
            try scene.equal(try await scene.store.statistics().entries, 0, "the number of entries")
        },
        .requirement("RFC 9111 §4.3.3", "a server error is returned, and the stored response stays") { scene in
            try await stale([.eTag: "\"1\""], in: scene)
            scene.answer(.serviceUnavailable, [:], "down")
            try scene.equal(try await scene.send().text, "down", "the body")
            scene.answer(.notModified, [.eTag: "\"1\""])
            try scene.equal(try await scene.send().text, "first", "the body")
        },
        .requirement("RFC 9111 §4.3.4, MUST NOT", "a 304 about another strong validator updates nothing") { scene in
            try await stale([.eTag: "\"1\""], in: scene)
            scene.answer(.notModified, [.eTag: "\"2\"", .cacheControl: "max-age=60"])
            scene.answer(.ok, [.eTag: "\"2\"", .cacheControl: "max-age=60"], "second")
            try scene.equal(try await scene.send().text, "second", "the body")
            try scene.expect(
                !(try scene.lastRequest().headers.contains(.ifNoneMatch)), "the second try has a condition")
            try await scene.expectReuse(body: "second")
        },
        .requirement("RFC 9111 §4.3.4", "a 304 with a weak validator updates what corresponds to it") { scene in
            try await stale([.eTag: "\"1\""], in: scene)
            scene.answer(.notModified, [.eTag: "W/\"1\"", .cacheControl: "max-age=60"])
            try scene.equal(try await scene.send().text, "first", "the body")
            try await scene.expectReuse()
        },
        .requirement("RFC 9111 §4.3.4", "a 304 without a validator answers the question that was asked") { scene in
            try await stale([.eTag: "\"1\""], in: scene)
            scene.answer(.notModified, [.cacheControl: "max-age=60"])
            try scene.equal(try await scene.send().text, "first", "the body")
            try await scene.expectReuse()
        },
    ]

    private static let updates: [CacheCase] = [
        .requirement("RFC 9111 §4.3.4, §3.2, MUST", "a 304 replaces and adds fields of what is stored") { scene in
            try await stale([.eTag: "\"1\"", "X-Old": "1", "X-Kept": "1", .age: "3"], in: scene)
            scene.answer(.notModified, [.eTag: "\"1\"", .cacheControl: "max-age=60", "X-Old": "2", "X-New": "3"])
            let now = scene.date()
            for seen in [try await scene.send(), try await scene.again().seen] {
                try scene.equal(
                    [seen.headers["X-Old"], seen.headers["X-New"], seen.headers["X-Kept"], seen.headers[.date]],
                    ["2", "3", "1", now], "the fields")
            }
            scene.wait(59)
            try await scene.expectReuse()
        },
        .requirement("RFC 9111 §3.2, MUST", "an update leaves the length and what depends on the bytes") { scene in
            try await stale([.eTag: "\"1\"", .contentEncoding: "x-own"], in: scene)
            scene.answer(
                .notModified,
                [.eTag: "\"1\"", .contentLength: "9999", .contentEncoding: "gzip", .contentRange: "bytes 0-1/9"])
            let seen = try await scene.send()
            try scene.equal(seen.headers[values: .contentLength], ["5"], "Content-Length")
            try scene.equal(seen.headers[values: .contentEncoding], ["x-own"], "Content-Encoding")
            try scene.expect(!seen.headers.contains(.contentRange), "Content-Range is there")
        },
        .requirement("RFC 9111 §3.2, MUST", "an update takes no field of the connection") { scene in
            try await stale([.eTag: "\"1\""], in: scene)
            scene.answer(.notModified, [.eTag: "\"1\"", .connection: "X-Hop", "X-Hop": "1"])
            try scene.expect(!(try await scene.send().headers.contains("X-Hop")), "X-Hop is there")
        },
        .requirement("RFC 9111 §5.2.2.5, MUST NOT", "what a 304 declares no-store is not kept any longer") { scene in
            try await stale([.eTag: "\"1\""], in: scene)
            scene.answer(.notModified, [.eTag: "\"1\"", .cacheControl: "no-store"])
            try scene.equal(try await scene.send().text, "first", "the body")
            try scene.equal(try await scene.store.statistics().entries, 0, "the number of entries")
        },
    ]

    private static let head: [CacheCase] = [
        .requirement("RFC 9111 §4.3.5, SHOULD and MUST", "a HEAD that agrees updates the stored GET") { scene in
            try await stale([.lastModified: scene.date(-1000), .cacheControl: "no-cache"], in: scene)
            scene.answer(
                .ok,
                [.lastModified: scene.date(-1010), .cacheControl: "max-age=60", .contentLength: "5", "X-New": "1"], "")
            try await scene.send(.head)
            let seen = try await scene.again().seen
            try scene.equal([seen.text, seen.headers["X-New"]], ["first", "1"], "the answer")
        },
        .requirement("RFC 9111 §4.3.5, SHOULD", "a HEAD that disagrees makes the stored GET invalid") { scene in
            for changed: HTTPHeaders in [
                [.eTag: "\"2\""], [.eTag: "\"1\"", .contentLength: "6"],
                [.eTag: "\"1\"", .lastModified: scene.date(-5)],
            ] {
                try await scene.first([
                    .cacheControl: "no-cache, max-age=60", .eTag: "\"1\"", .lastModified: scene.date(-1000),
                ])
                let base: HTTPHeaders = [.cacheControl: "max-age=60", .contentLength: "5"]
                scene.answer(.ok, base.merging(changed, replacing: true), "")
                try await scene.send(.head)
                try await scene.expectAsking()
                try scene.expect(!(try scene.lastRequest().headers.contains(.ifNoneMatch)), "the old tag is sent")
            }
        },
    ]
}
