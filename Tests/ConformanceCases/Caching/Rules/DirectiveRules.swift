// SPDX-License-Identifier: MIT

import CurlewCaching
import CurlewCore
import CurlewHTTP

/// Cache cases for RFC 9111 §5.2 and §5.4: directives in requests and responses, and the cache policies of calls.
enum DirectiveRules {
    private static let fresh: HTTPHeaders = [.cacheControl: "max-age=60", .eTag: "\"1\""]

    static let all: [CacheCase] = requests + responses + onlyIfCached + policies

    private static let requests: [CacheCase] = [
        .reuse(
            "RFC 9111 §5.2.1.1", "a request's max-age takes younger answers", fresh,
            second: [.cacheControl: "max-age=30"], after: 30, true),
        .reuse(
            "RFC 9111 §5.2.1.1", "a request's max-age takes no older responses", fresh,
            second: [.cacheControl: "max-age=29"], after: 30, false),
        .reuse(
            "RFC 9111 §5.2.1.1", "a request's max-age that cannot be read takes none", fresh,
            second: [.cacheControl: "max-age=x"], after: 1, false),
        .reuse(
            "RFC 9111 §5.2.1.2", "max-stale takes answers that are so stale", fresh,
            second: [.cacheControl: "max-stale=10"], after: 70, true),
        .reuse(
            "RFC 9111 §5.2.1.2", "max-stale takes no responses that are more stale", fresh,
            second: [.cacheControl: "max-stale=10"], after: 71, false),
        .reuse(
            "RFC 9111 §5.2.1.2", "max-stale without a number takes any", fresh, second: [.cacheControl: "max-stale"],
            after: 100_000, true),
        .reuse(
            "RFC 9111 §5.2.1.2", "max-stale that cannot be read takes none", fresh,
            second: [.cacheControl: "max-stale=x"], after: 61, false),
        .reuse(
            "RFC 9111 §5.2.1.3", "min-fresh takes answers that last", fresh, second: [.cacheControl: "min-fresh=30"],
            after: 30, true),
        .reuse(
            "RFC 9111 §5.2.1.3", "min-fresh takes no responses that do not last", fresh,
            second: [.cacheControl: "min-fresh=30"], after: 31, false),
        .reuse(
            "RFC 9111 §5.2.1.4", "a request's no-cache is validated", fresh,
            second: [.cacheControl: "no-cache"], false),
        .reuse("RFC 9111 §5.4", "Pragma: no-cache is validated", fresh, second: ["Pragma": "no-cache"], false),
        .reuse(
            "RFC 9111 §5.4", "Pragma means nothing beside Cache-Control", fresh,
            second: ["Pragma": "no-cache", .cacheControl: "max-age=60"], true),
        .reuse(
            "RFC 9111 §5.4", "Pragma in a response means nothing", [.cacheControl: "max-age=60", "Pragma": "no-cache"],
            true),
        .reuse(
            "RFC 9111 §5.2.3, MUST", "unknown directives of requests are ignored", fresh,
            second: [.cacheControl: "x-new=1, must-revalidate"], true),
        .reuse(
            "RFC 8246 §2, SHOULD NOT", "what never changes is not asked about while it is fresh",
            [.cacheControl: "max-age=60, immutable"], second: [.cacheControl: "max-age=0"], true),
        .reuse(
            "RFC 8246 §2", "what never changes is asked about once it is stale",
            [.cacheControl: "max-age=60, immutable"], after: 61, false),
        .requirement("RFC 9111 §5.2, MUST", "directives go on to the server as they are") { scene in
            try await scene.expectAsking([.cacheControl: "max-age=5, x-new=\"a b\""])
            try scene.equal(try scene.lastRequest().headers[.cacheControl], "max-age=5, x-new=\"a b\"", "Cache-Control")
        },
    ]

    private static let responses: [CacheCase] = [
        .reuse(
            "RFC 9111 §5.2.2.4, MUST NOT", "no-cache is not used without validation",
            [.cacheControl: "max-age=60, no-cache", .eTag: "\"1\""], false),
        .requirement("RFC 9111 §5.2.2.4", "no-cache is used after validation") { scene in
            try await scene.first([.cacheControl: "max-age=60, no-cache", .eTag: "\"1\""])
            for _ in 0..<2 {
                scene.answer(.notModified, [.eTag: "\"1\""])
                let seen = try await scene.send()
                try scene.equal(seen.text, "first", "the body")
                try scene.equal(seen.served, .revalidated, "the verdict")
            }
        },
        .reuse(
            "RFC 9111 §4.2.4, MUST NOT", "no-cache is not used stale, whatever the call takes",
            [.cacheControl: "no-cache", .eTag: "\"1\""], second: [.cacheControl: "max-stale"], after: 5, false),
        .reuse(
            "RFC 9111 §5.2.2.2, MUST NOT", "must-revalidate is not used stale, whatever the call takes",
            [.cacheControl: "max-age=5, must-revalidate", .eTag: "\"1\""], second: [.cacheControl: "max-stale"],
            after: 6, false),
        .reuse(
            "RFC 9111 §5.2.2.2", "must-revalidate is used while it is fresh",
            [.cacheControl: "max-age=5, must-revalidate"], true),
        .requirement("RFC 9111 §5.2.2.2, MUST", "must-revalidate returns an error if the server cannot be reached") {
            scene in
            try await scene.first([.cacheControl: "max-age=5, must-revalidate, stale-if-error=100", .eTag: "\"1\""])
            scene.wait(6)
            scene.fail()
            let seen = try await scene.send()
            try scene.equal(seen.status, 504, "the status (SHOULD be 504)")
            try scene.equal(seen.served, .refused, "the verdict")
            try scene.expect(seen.response.cacheStatus.reason.contains("unreachable"), "the reason does not say why")
        },
        .reuse(
            "RFC 9111 §5.2.2.8", "proxy-revalidate does not apply to a private cache",
            [.cacheControl: "max-age=5, proxy-revalidate"], second: [.cacheControl: "max-stale=10"], after: 10, true),
        .reuse(
            "RFC 9111 §5.2.2.7", "a private cache keeps what is private", [.cacheControl: "max-age=60, private"], true),
        .reuse(
            "RFC 9111 §4.2.4, MUST NOT", "a stale response is not used unless it is allowed",
            [.cacheControl: "max-age=5"], after: 5, false),
        .requirement("RFC 9111 §4.2.4, MUST NOT", "what is stale is not used for want of a network either") { scene in
            try await scene.first([.cacheControl: "max-age=5", .eTag: "\"1\""])
            scene.wait(6)
            scene.fail()
            do {
                try await scene.send()
            } catch let error as NetworkError where error.reason == .unreachable {
                return
            }
            throw ConformanceFailure("the call did not fail")
        },
    ]

    private static let onlyIfCached: [CacheCase] = [
        .requirement("RFC 9111 §5.2.1.7, SHOULD", "only-if-cached returns a stored response, or a 504") { scene in
            let only: HTTPHeaders = [.cacheControl: "only-if-cached"]
            try scene.equal(try await scene.send(.get, "/", only).status, 504, "the status without an entry")
            try await scene.first(fresh)
            try await scene.expectReuse(only)
            scene.wait(61)
            try scene.equal(try await scene.send(.get, "/", only).status, 504, "the status of a stale entry")
            try await scene.expectReuse([.cacheControl: "only-if-cached, max-stale=10"])
            try scene.equal(scene.server.requests.count, 1, "the number of requests")
        },
        .requirement("HTTPCache.Policy.onlyIfCached", "the call's policy does the same") { scene in
            let seen = try await scene.send { $0.cachePolicy = .onlyIfCached }
            try scene.equal([seen.status, scene.server.requests.count], [504, 0], "status and requests")
            try await scene.first(fresh)
            try scene.equal(try await scene.send { $0.cachePolicy = .onlyIfCached }.text, "first", "the body")
        },
    ]

    private static let policies: [CacheCase] = [
        .requirement("HTTPCache.Policy.reload", "the server is asked whatever is stored, and the response kept") {
            scene in
            try await scene.first(fresh)
            scene.answer(.ok, fresh, "second")
            try scene.equal(try await scene.send { $0.cachePolicy = .reload }.text, "second", "the body")
            try scene.equal(try scene.lastRequest().headers[.cacheControl], "no-cache", "Cache-Control")
            try scene.expect(!(try scene.lastRequest().headers.contains(.ifNoneMatch)), "there is a condition")
            try await scene.expectReuse(body: "second")
        },
        .requirement("HTTPCache.Policy.validate", "the server is asked whether what is stored and fresh is still good")
        {
            scene in
            try await scene.first(fresh)
            scene.answer(.notModified, [:], "")
            try scene.equal(try await scene.send { $0.cachePolicy = .validate }.text, "first", "the body")
            let asked = try scene.lastRequest().headers
            try scene.equal([asked[.ifNoneMatch], asked[.cacheControl]], ["\"1\"", "no-cache"], "what was asked")
        },
        .requirement("HTTPCache.Policy.noStore", "the server is asked, and nothing is kept") { scene in
            scene.answer(.ok, fresh, "first")
            try await scene.send { $0.cachePolicy = .noStore }
            try scene.equal(try scene.lastRequest().headers[.cacheControl], "no-store", "Cache-Control")
            try scene.equal(try await scene.store.statistics().entries, 0, "the number of entries")
        },
        .requirement(
            "HTTPCache.Policy.returnStaleElseLoad",
            "what is stored is used however old, and without a word of the server"
        ) { scene in
            let load: @Sendable (inout RequestOptions) -> Void = { $0.cachePolicy = .returnStaleElseLoad }
            scene.answer(.ok, [:], "plain")
            try scene.equal(try await scene.send(options: load).text, "plain", "the body")
            scene.wait(1_000_000)
            let seen = try await scene.send(options: load)
            try scene.equal(seen.text, "plain", "the body")
            guard case .stale = seen.served else { throw ConformanceFailure("the verdict is \(seen.served)") }
        },
        .requirement(
            "HTTPCache.Policy.returnStaleElseLoad, MUST NOT", "what the server forbids to use stale is validated"
        ) {
            scene in
            for directives in ["no-cache, max-age=60", "max-age=5, must-revalidate"] {
                try await scene.first([.cacheControl: directives, .eTag: "\"1\""])
                scene.wait(6)
                scene.answer(.notModified, [.eTag: "\"1\""])
                let seen = try await scene.send { $0.cachePolicy = .returnStaleElseLoad }
                try scene.equal(seen.served, .revalidated, "the verdict")
                try await scene.store.clear()
            }
        },
        .requirement("RequestOptions.cacheTags", "what is stored is removed by the tags of the call and of the server")
        { scene in
            for tag in ["call", "a", "b", "c"] {
                scene.answer(.ok, [.cacheControl: "max-age=60", "Cache-Tag": "a, b", "Surrogate-Key": "c d"])
                try await scene.send { $0.cacheTags = ["call"] }
                try scene.equal(try await scene.store.remove(.tags([tag])), 1, "the entries with \(tag)")
            }
        },
    ]
}
