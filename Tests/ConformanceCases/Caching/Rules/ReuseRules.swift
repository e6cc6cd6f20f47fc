// SPDX-License-Identifier: MIT

import CurlewCaching
import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// Cache cases for RFC 9111 §4, §4.1 and §4.4: the selection of a stored response, and the invalidation of stored
/// responses.
enum ReuseRules {
    private static let vary: HTTPHeaders = [.cacheControl: "max-age=60", .vary: "Accept-Language, Prefer"]

    static let all: [CacheCase] = choice + negotiation + normalisation + unsafe

    private static let choice: [CacheCase] = [
        .requirement("RFC 9111 §4, MUST NOT", "a response of another URL is not used") { scene in
            try await scene.first([.cacheControl: "max-age=60"], path: "/a?b=1")
            for path in ["/a", "/a?b=2", "/A?b=1", "/a?b=1&", "/a?b=1?"] { try await scene.expectAsking([:], path) }
            try await scene.expectReuse([:], "/a?b=1")
        },
        .requirement("RFC 9111 §4, MUST NOT", "a response of another method is not used") { scene in
            try await scene.first([.cacheControl: "max-age=60"])
            for method: HTTPMethod in [.options, .query, "FOO"] {
                scene.answer(.ok, [:], "asked")
                try scene.equal(try await scene.send(method).text, "asked", "the response to \(method)")
                try await scene.store.clear()
                try await scene.first([.cacheControl: "max-age=60"])
            }
        },
        .requirement("RFC 9111 §4, RFC 9110 §9.3.2", "HEAD is served by a stored GET, without the body") { scene in
            try await scene.first([.cacheControl: "max-age=60", "X-Own": "1"])
            let seen = try await scene.send(.head)
            try scene.equal(
                [seen.text, seen.headers["X-Own"], seen.headers[.contentLength]], ["", "1", "5"], "the answer")
        },
        .requirement("RFC 9111 §4, MUST", "a response from the cache has its age") { scene in
            try await scene.first([.cacheControl: "max-age=60", .age: "10"])
            scene.wait(20)
            let seen = try await scene.again().seen
            try scene.equal(seen.headers[values: .age], ["30"], "Age")
            try scene.equal(seen.served, .cache(age: .seconds(30), freshFor: .seconds(30)), "the verdict")
        },
        .requirement("RFC 9111 §4, MUST", "of several responses that match the one made last is used") { scene in
            scene.answer(.ok, [.cacheControl: "max-age=900", .vary: "Prefer", .date: scene.date(-10)], "newer")
            try await scene.send(.get, "/", ["Prefer": "1", "User-Agent": "1"])
            scene.answer(.ok, [.cacheControl: "max-age=900", .vary: "User-Agent", .date: scene.date(-100)], "older")
            try await scene.send(.get, "/", ["Prefer": "2", "User-Agent": "1"])
            try await scene.expectReuse(["Prefer": "1", "User-Agent": "1"], body: "newer")
        },
        .requirement(
            "HTTPCache.Entry.Key", "two users never share a response, nor does a user share with an anonymous caller"
        ) {
            scene in
            for user in ["ann", "bob", nil] {
                scene.answer(.ok, [.cacheControl: "max-age=60, public"], user ?? "nobody")
                try await scene.send(user: user)
            }
            for user in ["ann", "bob", nil] {
                try scene.equal(try await scene.send(user: user).text, user ?? "nobody", "the body")
            }
        },
        .requirement("RFC 9111 §2", "a body is a part of the key when the call says so") { scene in
            for text in ["a", "b"] {
                scene.answer(.ok, [.cacheControl: "max-age=60"], text)
                let body = RequestBody.bytes(Data(text.utf8))
                try await scene.send(.query, body: body) { $0.cacheKeyIncludesBody = true }
            }
            for text in ["a", "b"] {
                let body = RequestBody.bytes(Data(text.utf8))
                let seen = try await scene.send(.query, body: body) { $0.cacheKeyIncludesBody = true }
                try scene.equal(seen.text, text, "the body")
            }
            scene.answer(.ok, [:], "asked")
            let other = try await scene.send(.post, body: .bytes(Data("a".utf8))) { $0.cacheKeyIncludesBody = true }
            try scene.equal(other.text, "asked", "the response to another method")
        },
    ]

    private static let negotiation: [CacheCase] = [
        .reuse(
            "RFC 9111 §4.1", "equal request fields select", vary, first: ["Prefer": "a"], second: ["Prefer": "a"],
            true),
        .reuse(
            "RFC 9111 §4.1, MUST NOT", "other request fields do not select", vary, first: ["Prefer": "a"],
            second: ["Prefer": "b"], false),
        .reuse(
            "RFC 9111 §4.1, MUST NOT", "case counts where nothing is known", vary, first: ["Prefer": "a"],
            second: ["Prefer": "A"], false),
        .reuse("RFC 9111 §4.1", "absent matches absent", vary, true),
        .reuse("RFC 9111 §4.1, MUST NOT", "absent does not match empty", vary, second: ["Prefer": ""], false),
        .reuse("RFC 9111 §4.1, MUST NOT", "present does not match absent", vary, first: ["Prefer": "a"], false),
        .reuse(
            "RFC 9111 §4.1", "fields that Vary does not name do not count", vary, first: ["X-Request-ID": "a"],
            second: ["X-Request-ID": "b"], true),
        .requirement("RFC 9111 §4.1", "several variants are kept at the same time") { scene in
            for kind in ["a", "b", "c"] { try await scene.first(vary, kind, request: ["Prefer": kind]) }
            for kind in ["a", "b", "c"] { try await scene.expectReuse(["Prefer": kind], body: kind) }
        },
        .requirement(
            "RFC 9111 §4.1, SHOULD", "a response with Vary is preferred to one that lacks it"
        ) { scene in
            scene.answer(.ok, [.cacheControl: "max-age=900", .vary: "Prefer", .date: scene.date(-50)], "varies")
            try await scene.send(.get, "/", ["Prefer": "a"])
            scene.answer(.ok, [.cacheControl: "max-age=900", .date: scene.date(-5)], "default")
            try await scene.send(.get, "/", ["Prefer": "z"])
            try await scene.expectReuse(["Prefer": "a"], body: "varies")
        },
    ]

    private static let normalisation =
        [
            ("white space around commas", "Prefer", "a, b", "a  ,b"),
            ("white space around semicolons", "Prefer", "a;q=1", "a ; q=1"),
            ("the case of languages", "Accept-Language", "de, EN;q=0.5", "DE,en;q=0.5"),
        ].map { what, name, one, other in
            CacheCase.reuse(
                "RFC 9111 §4.1", "\(what) does not count", vary, first: [HTTPField.Name(name): one],
                second: [HTTPField.Name(name): other], true)
        } + [
            .reuse(
                "RFC 9111 §4.1", "fields on several lines are one list", vary, first: ["Prefer": "a, b"],
                second: ["Prefer": "a", "Prefer": "b"], true),
            .reuse(
                "RFC 9111 §4.1, MUST NOT", "the order of languages counts", vary, first: [.acceptLanguage: "de, en"],
                second: [.acceptLanguage: "en, de"], false),
            .reuse(
                "RFC 9111 §4.1, MUST NOT", "white space inside quotes counts", vary, first: ["Prefer": "\"a, b\""],
                second: ["Prefer": "\"a,b\""], false),
        ]

    private static let unsafe: [CacheCase] =
        [
            .requirement("RFC 9111 §4, MUST", "unsafe requests always go to the server") { scene in
                try await scene.first([.cacheControl: "max-age=60"])
                for method: HTTPMethod in [.post, .put, .patch, .delete, "FOO"] {
                    scene.answer(.ok, [.cacheControl: "max-age=60"], "done")
                    try scene.equal(try await scene.send(method).text, "done", "the response to \(method)")
                }
            }
        ]
        + [HTTPMethod.post, .put, .patch, .delete, "FOO"].map { method in
            .requirement("RFC 9111 §4.4, MUST", "\(method) makes what is stored for its URL invalid") { scene in
                for status: HTTPStatus in [200, 204, 303] {
                    try await scene.first([.cacheControl: "max-age=60"])
                    try await scene.expectReuse()
                    scene.answer(status, [:], "")
                    try await scene.send(method)
                    try await scene.expectAsking()
                }
            }
        } + [
            .requirement("RFC 9111 §4.4", "a failed change makes nothing invalid") { scene in
                try await scene.first([.cacheControl: "max-age=60"])
                for status: HTTPStatus in [400, 409, 500] {
                    scene.answer(status)
                    try await scene.send(.post)
                }
                try await scene.expectReuse()
            },
            .requirement("RFC 9111 §4.4", "Location and Content-Location become invalid too") { scene in
                for name: HTTPField.Name in [.location, "Content-Location"] {
                    for value in ["/other", "other", "https://api.example/other", "//api.example:443/other#x"] {
                        try await scene.first([.cacheControl: "max-age=60"], path: "/other")
                        scene.answer(.created, [name: value], "")
                        try await scene.send(.post, "/things")
                        try await scene.expectAsking([:], "/other")
                    }
                }
            },
            .requirement("RFC 9111 §4.4, MUST NOT", "nothing of another origin becomes invalid") { scene in
                try await scene.first([.cacheControl: "max-age=60"])
                let before = try await scene.store.statistics().entries
                for value in ["http://api.example/", "https://api.example:8443/", "https://evil.example/"] {
                    scene.answer(.created, [.location: value], "")
                    try await scene.send(.post, "/things")
                }
                try scene.equal(try await scene.store.statistics().entries, before, "the number of entries")
                try await scene.expectReuse()
            },
            .requirement("RFC 9111 §4.4, MUST", "a change makes every user's and every variant's response invalid") {
                scene in
                for (kind, user) in [("a", "ann"), ("b", "ann"), ("a", "bob")] {
                    scene.answer(.ok, vary, "first")
                    try await scene.send(.get, "/", ["Prefer": kind], user: user)
                }
                scene.answer(.ok)
                try await scene.send(.put, user: "bob")
                try scene.equal(try await scene.store.statistics().entries, 0, "the number of entries")
            },
        ]
}
