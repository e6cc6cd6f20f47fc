// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

/// Cache cases for RFC 9111 §4.2, §5.1 and §5.3: the freshness lifetime and the age of a response.
enum FreshnessRules {
    static let all: [CacheCase] = lifetimes + expires + heuristics + ages + dates

    private static func age(_ value: String) -> HTTPHeaders { [.cacheControl: "max-age=60", .age: value] }

    private static let lifetimes: [CacheCase] = [
        .reuse(
            "RFC 9111 §4.2.1", "max-age counts before its time is over", [.cacheControl: "max-age=60"], after: 59, true),
        .reuse(
            "RFC 9111 §5.2.2.1", "max-age is over when its time is", [.cacheControl: "max-age=60"], after: 60, false),
        .reuse(
            "RFC 9111 §5.2, ought", "max-age in quotes and capitals counts", [.cacheControl: #"Max-Age="60""#],
            after: 30, true),
        .reuse(
            "RFC 9111 §4.2.1", "max-age that is no whole number is stale",
            [.cacheControl: "max-age=1.5, public", "Expires": "Thu, 31 Dec 2099 00:00:00 GMT"], false),
        .reuse("RFC 9111 §4.2.1", "max-age that differs is stale", [.cacheControl: "max-age=60, max-age=70"], false),
        .reuse("RFC 9111 §4.2.1", "max-age that is said twice counts", [.cacheControl: "max-age=60, max-age=60"], true),
        .reuse(
            "RFC 9111 §4.2.1", "of directives that conflict the most restrictive counts",
            [.cacheControl: "max-age=60, no-cache, public"], false),
        .reuse(
            "RFC 9111 §1.2.2, MUST", "a max-age that is too large is 68 years",
            [.cacheControl: "max-age=99999999999999999999"], after: 2_000_000_000, true),
        .reuse(
            "RFC 9111 §4.2.1", "s-maxage means nothing to a private cache", [.cacheControl: "max-age=60, s-maxage=0"],
            true),
        .reuse(
            "RFC 9111 §5.3, MUST", "max-age overrules Expires", [.cacheControl: "max-age=60", "Expires": "0"],
            after: 30,
            true),
        .reuse(
            "RFC 9111 §5.3, MUST", "max-age=0 overrules Expires",
            [.cacheControl: "max-age=0", "Expires": "Thu, 31 Dec 2099 00:00:00 GMT", .eTag: "\"1\""], false),
        .reuse(
            "RFC 9111 §5.2.3, MUST", "unknown directives are ignored",
            [.cacheControl: #"max-age=60, x-new, community="UCI", max-ages=0"#], true),
    ]

    private static let expires: [CacheCase] =
        [
            .requirement("RFC 9111 §4.2.1", "Expires counts from Date on, not from now on") { scene in
                try await scene.first([.date: scene.date(-100), "Expires": scene.date(100)])
                scene.wait(99)
                try await scene.expectReuse()
                scene.wait(1)
                try await scene.expectAsking()
            },
            .requirement("RFC 9111 §4.2.1, RFC 9110 §6.6.1", "Expires counts from the arrival where Date is absent") {
                scene in
                try await scene.first([.date: "none", "Expires": scene.date(100)])
                scene.wait(99)
                try await scene.expectReuse()
            },
            .requirement("RFC 9111 §4.2.1", "Expires that differs is stale") { scene in
                try await scene.first(["Expires": scene.date(100), "Expires": scene.date(200), .eTag: "\"1\""])
                try await scene.expectAsking()
            },
        ]
        + [
            "0", "-1", "", "never", "Thu, 31 Dec 2099 00:00:00", "Thu, 31 Dec 2099 00:00:00 CET",
            "2099-12-31T00:00:00Z",
            "Thu, 31 Dec 2099 00:00:00 +0000", "4102358400", "Thu, 32 Dec 2099 00:00:00 GMT",
            "Thu,31 Dec 2099 00:00:00 GMT",
        ].map { value in
            .requirement("RFC 9111 §5.3, MUST", "Expires: \(value.isEmpty ? "(empty)" : value) is in the past") {
                scene in
                try await scene.first([
                    "Expires": value, .lastModified: scene.date(-100_000), .cacheControl: "public",
                ])
                try await scene.expectAsking()
            }
        }
        + [
            "Thu, 31 Dec 2099 00:00:00 GMT", "Thursday, 31-Dec-37 00:00:00 GMT", "Thu Dec 31 00:00:00 2099",
            "thu, 31 dec 2099 00:00:00 gmt", "THU, 31 DEC 2099 00:00:00 GMT",
        ].map { value in
            .reuse("RFC 9111 §4.2, SHOULD", "Expires: \(value) is read", ["Expires": value], true)
        }

    private static let heuristics: [CacheCase] = [
        .requirement("RFC 9111 §4.2.2", "a tenth of the time since the last change, and at most a day") { scene in
            try await scene.first([.lastModified: scene.date(-86_400 * 365)])
            scene.wait(86_399)
            try await scene.expectReuse()
            scene.wait(1)
            try await scene.expectAsking()
        },
        .requirement("RFC 9111 §4.2.2, MUST NOT", "no heuristic where an expiration is given") { scene in
            try await scene.first([.lastModified: scene.date(-1_000_000), .cacheControl: "max-age=5"])
            scene.wait(6)
            try await scene.expectAsking()
        },
        .requirement("RFC 9111 §4.2.2", "no heuristic without Last-Modified, or with one in the future") { scene in
            for value in ["nonsense", scene.date(1000)] {
                try await scene.first([.lastModified: value, .eTag: "\"1\""])
                try await scene.expectAsking()
            }
        },
        .requirement("RFC 9111 §5.2.2.9", "public allows a heuristic for any status") { scene in
            try await scene.first([.lastModified: scene.date(-1000), .cacheControl: "public"], status: 403)
            scene.wait(99)
            try await scene.expectReuse()
        },
    ]

    private static let ages: [CacheCase] = [
        .reuse("RFC 9111 §4.2.3", "Age counts", age("40"), after: 19, true),
        .reuse("RFC 9111 §4.2.3", "Age and the time in the cache add up", age("40"), after: 20, false),
        .reuse("RFC 9111 §5.1, SHOULD", "of a list of ages the first counts", age("0, 100"), after: 30, true),
        .reuse("RFC 9111 §5.1, SHOULD", "an old first age of a list counts", age("100, 0"), false),
        .reuse("RFC 9111 §5.1, SHOULD", "an age that is no number is ignored", age("old"), true),
        .reuse("RFC 9111 §5.1, SHOULD", "a negative age is ignored", age("-100"), true),
        .reuse(
            "RFC 9111 §1.2.2, MUST", "an age that is too large is 68 years, not little", age("99999999999999999999"),
            false),
        .requirement("RFC 9111 §4.2.3, MUST", "Age is relative to the time of the request") { scene in
            scene.answer(.ok, [.cacheControl: "max-age=60", .age: "40"], "first", takes: 15)
            try await scene.send()
            scene.wait(4)
            try await scene.expectReuse()
            scene.wait(1)
            try await scene.expectAsking()
        },
        .requirement("RFC 9111 §4.2.3", "the age is not less than what Date says") { scene in
            try await scene.first([.cacheControl: "max-age=60", .date: scene.date(-50)])
            scene.wait(9)
            try await scene.expectReuse()
            scene.wait(1)
            try await scene.expectAsking()
        },
        .requirement("RFC 9111 §4.2.3", "a Date in the future makes nothing younger than its stay in the cache") {
            scene in
            try await scene.first([.cacheControl: "max-age=60", .date: scene.date(1000)])
            scene.wait(60)
            try await scene.expectAsking()
        },
    ]

    private static let dates: [CacheCase] = [
        .requirement("RFC 9111 §4.2", "a Date that cannot be read is replaced by the time of arrival") { scene in
            let now = scene.date()
            try await scene.first([.cacheControl: "max-age=60", .date: "yesterday"])
            scene.wait(30)
            let seen = try await scene.again().seen
            try scene.equal(seen.headers[.date], now, "Date")
            try scene.equal(seen.headers[.age], "30", "Age")
        }
    ]
}
