// SPDX-License-Identifier: MIT

import CurlewCaching
import CurlewCore
import CurlewHTTP

/// Cache cases for RFC 5861: responses that may be used although they are stale.
enum StaleRules {
    static let all: [CacheCase] = background + errors

    private static let refreshed: HTTPHeaders = [
        .cacheControl: "max-age=10, stale-while-revalidate=20", .eTag: "\"1\"",
    ]

    private static let background: [CacheCase] = [
        .requirement(
            "RFC 5861 §3, SHOULD", "what is stale within its window is used at once, and refreshed in the meantime"
        ) { scene in
            try await scene.first(refreshed)
            scene.wait(30)
            scene.answer(.ok, refreshed, "second")
            let seen = try await scene.send()
            try scene.equal(seen.text, "first", "the body")
            guard case .stale = seen.served else { throw ConformanceFailure("the verdict is \(seen.served)") }
            try await scene.cache.settle()
            try scene.equal(try scene.lastRequest().headers[.ifNoneMatch], "\"1\"", "the condition of the refresh")
            try await scene.expectReuse(body: "second")
        },
        .requirement("RFC 5861 §3, SHOULD NOT", "what is stale beyond its window is not used") { scene in
            try await scene.first(refreshed)
            scene.wait(31)
            try await scene.expectAsking()
        },
        .requirement("RFC 5861 §3, SHOULD", "what is used stale has an age") { scene in
            try await scene.first([.cacheControl: "max-age=0, stale-while-revalidate=20"])
            scene.answer(.ok, [:], "second")
            let age = try await scene.send().headers[.age] ?? ""
            try scene.expect(Int(age) ?? 0 > 0, "the age is \"\(age)\"")
            try await scene.cache.settle()
        },
        .requirement("RFC 5861 §3", "a refresh that finds nothing new makes the entry fresh") { scene in
            try await scene.first(refreshed)
            scene.wait(15)
            scene.answer(.notModified, [.eTag: "\"1\""])
            try scene.equal(try await scene.send().text, "first", "the body")
            try await scene.cache.settle()
            scene.wait(9)
            try await scene.expectReuse()
        },
        .requirement("RFC 5861 §3", "a refresh that fails leaves the entry for the rest of its window") { scene in
            try await scene.first(refreshed)
            for wait in [15, 10] {
                scene.wait(wait)
                scene.fail()
                try scene.equal(try await scene.send().text, "first", "the body")
                try await scene.cache.settle()
            }
            scene.wait(10)
            try await scene.expectAsking()
        },
        .requirement("RFC 9111 §4.2.4, MUST NOT", "no-cache and must-revalidate overrule stale-while-revalidate") {
            scene in
            for directive in ["no-cache", "must-revalidate"] {
                try await scene.first([
                    .cacheControl: "max-age=1, stale-while-revalidate=20, \(directive)", .eTag: "\"1\"",
                ])
                scene.wait(5)
                try await scene.expectAsking()
            }
        },
        .requirement("RFC 9111 §5.2.1.1", "a request's own limits overrule stale-while-revalidate") { scene in
            for directive in ["max-age=12", "min-fresh=1", "no-cache"] {
                try await scene.first(refreshed)
                scene.wait(15)
                try await scene.expectAsking([.cacheControl: directive])
            }
        },
    ]

    private static let lenient: HTTPCache.Options = {
        var rules = HTTPCache.Options()
        rules.staleIfError = .seconds(20)
        return rules
    }()

    private static func expectStale(_ scene: CacheScene, _ headers: HTTPHeaders = [:]) async throws {
        let seen = try await scene.send(.get, "/", headers)
        try scene.equal(seen.text, "first", "the body")
        guard case .stale(let reason) = seen.served else { throw ConformanceFailure("the verdict is \(seen.served)") }
        try scene.expect(reason.contains("failed") || reason.contains("did not respond"), "the reason is \(reason)")
        try scene.expect(Int(seen.headers[.age] ?? "") ?? 0 > 0, "there is no age (SHOULD)")
    }

    private static let errors =
        [500, 502, 503, 504].map { code in
            CacheCase.requirement("RFC 5861 §4", "stale-if-error replaces a \(code)") { scene in
                try await scene.first([.cacheControl: "max-age=10, stale-if-error=20"])
                scene.wait(30)
                scene.answer(HTTPStatus(code), [:], "failed")
                try await expectStale(scene)
            }
        }
        + [
            NetworkError.Reason.unreachable, .connectionLost(.requestMayHaveArrived), .timedOut(.firstByte),
            .badResponse,
        ]
        .map { reason in
            CacheCase.requirement("RFC 5861 §4", "stale-if-error is used where no response comes (\(reason))") {
                scene in
                try await scene.first([.cacheControl: "max-age=10, stale-if-error=20", .eTag: "\"1\""])
                scene.wait(30)
                scene.fail(reason)
                try await expectStale(scene)
            }
        }
        + [
            .requirement("RFC 5861 §4, SHOULD NOT", "stale-if-error does not reach beyond its time") { scene in
                try await scene.first([.cacheControl: "max-age=10, stale-if-error=20"])
                scene.wait(31)
                scene.answer(.internalServerError, [:], "failed")
                try scene.equal(try await scene.send().text, "failed", "the body")
            },
            .requirement("RFC 5861 §4", "a request's stale-if-error is for that request") { scene in
                try await scene.first([.cacheControl: "max-age=10", .eTag: "\"1\""])
                scene.wait(20)
                scene.fail()
                try await expectStale(scene, [.cacheControl: "stale-if-error=10"])
                scene.fail()
                try scene.expect((try? await scene.send()) == nil, "the next call did not fail")
            },
            .requirement("HTTPCache.Options.staleIfError", "a client may allow the same for all calls", rules: lenient)
            {
                scene in
                try await scene.first([.cacheControl: "max-age=10"])
                scene.wait(30)
                scene.fail()
                try await expectStale(scene)
            },
            .requirement("RFC 5861 §4", "other responses and decisions of the client are no such errors") { scene in
                try await scene.first([.cacheControl: "max-age=10, stale-if-error=90", .eTag: "\"1\""])
                scene.wait(20)
                for status: HTTPStatus in [400, 403, 429, 501] {
                    scene.answer(status, [.cacheControl: "no-store"], "told")
                    try scene.equal(try await scene.send().text, "told", "the response to \(status.code)")
                    try await scene.first([.cacheControl: "max-age=10, stale-if-error=90", .eTag: "\"1\""])
                    scene.wait(20)
                }
                for reason: NetworkError.Reason in [.cancelled, .secureConnectionFailed(.untrusted), .invalidRequest] {
                    scene.fail(reason)
                    try scene.expect((try? await scene.send()) == nil, "\(reason) did not fail the call")
                }
            },
            .requirement("RFC 9111 §4.2.4, MUST NOT", "no-cache overrules stale-if-error") { scene in
                try await scene.first([.cacheControl: "no-cache, stale-if-error=90", .eTag: "\"1\""])
                scene.wait(5)
                scene.answer(.internalServerError, [:], "failed")
                try scene.equal(try await scene.send().text, "failed", "the body")
            },
        ]
}
