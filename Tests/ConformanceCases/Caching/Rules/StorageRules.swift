// SPDX-License-Identifier: MIT

import CurlewCaching
import CurlewCookies
import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// Cache cases for RFC 9111 §3: the responses that may be stored, and the fields that are stored with them.
enum StorageRules {
    static let all: [CacheCase] = status + conditions + fields + bodies

    private static let status =
        [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].map { code in
            CacheCase.requirement("RFC 9111 §3, §4.2.2", "\(code) without explicit freshness is kept by a heuristic") {
                scene in
                try await scene.first([.lastModified: scene.date(-1000)], status: HTTPStatus(code))
                scene.wait(99)
                try await scene.expectReuse()
                scene.wait(2)
                try await scene.expectAsking()
            }
        }
        + [201, 202, 302, 303, 307, 400, 403, 409, 429, 500, 503].map { code in
            CacheCase.requirement(
                "RFC 9111 §3, MUST NOT", "\(code) without explicit freshness is not used without asking"
            ) { scene in
                try await scene.first([.lastModified: scene.date(-1000)], status: HTTPStatus(code))
                try await scene.expectAsking()
            }
        }
        + [201, 302, 307, 403, 500, 599].map { code in
            CacheCase.requirement("RFC 9111 §3", "\(code) with max-age is kept") { scene in
                try await scene.first([.cacheControl: "max-age=60"], status: HTTPStatus(code))
                try await scene.expectReuse()
            }
        }

    private static let conditions: [CacheCase] = [
        .requirement("RFC 9111 §3, MUST NOT", "a response to a method that is not understood is not stored") { scene in
            for method: HTTPMethod in ["PUT", "POST", "PATCH", "DELETE", "OPTIONS", "QUERY", "FOO", "get"] {
                scene.answer(.ok, [.cacheControl: "max-age=60, public"], "other")
                try await scene.send(method)
                try await scene.expectAsking()
            }
        },
        .reuse(
            "RFC 9111 §3, MUST NOT", "no-store keeps a response out", [.cacheControl: "max-age=60, no-store"], false),
        .reuse(
            "RFC 9111 §5.2.2.5, MUST NOT", "no-store counts with an argument and in capitals",
            [.cacheControl: "max-age=60, No-Store=1"], false),
        .reuse(
            "RFC 9111 §3, MUST NOT", "must-understand keeps a response of an unknown status out",
            [.cacheControl: "max-age=60, must-understand, no-store"], status: 299, false),
        .reuse(
            "RFC 9111 §5.2.2.3, SHOULD", "must-understand overrules no-store where the status is understood",
            [.cacheControl: "max-age=60, must-understand, no-store"], true),
        .reuse(
            "RFC 9111 §3", "Expires makes a response of any status storable",
            [.date: "Tue, 14 Nov 2023 22:13:20 GMT", "Expires": "Tue, 14 Nov 2023 23:13:20 GMT"], status: 403, true),
        .requirement("RFC 9111 §3", "private makes a response storable in a private cache, to be validated") { scene in
            try await scene.first([.cacheControl: "private", .eTag: "\"1\""], status: 307)
            scene.answer(.notModified, [.eTag: "\"1\""])
            try scene.equal(try await scene.send().text, "first", "the body")
            try scene.equal(try scene.lastRequest().headers[.ifNoneMatch], "\"1\"", "the condition")
        },
        .requirement("RFC 9111 §3", "what is stale at once and cannot be validated is not kept") { scene in
            try await scene.first([.cacheControl: "max-age=0"])
            try scene.equal(try await scene.store.statistics().entries, 0, "the number of entries")
        },
        .requirement("RFC 9111 §5.2.1.5, MUST NOT", "a response to a request with no-store is not kept") { scene in
            try await scene.first([.cacheControl: "max-age=60"], request: [.cacheControl: "no-store"])
            try scene.equal(try await scene.store.statistics().entries, 0, "the number of entries")
            try await scene.expectAsking()
        },
        .requirement("RFC 9111 §5.2.1.5", "a request with no-store may be served by what is stored") { scene in
            try await scene.first([.cacheControl: "max-age=60"])
            try await scene.expectReuse([.cacheControl: "no-store"])
        },
        .reuse(
            "RFC 9111 §4.1", "Vary: * keeps a response out", [.cacheControl: "max-age=60", .vary: "Accept, *"], false),
        .reuse(
            "RFC 9110 §15.5.17", "416 is not kept, because it depends on the range that was asked for",
            [.cacheControl: "max-age=60"], status: 416, false),
    ]

    private static let fields: [CacheCase] = [
        .requirement("RFC 9111 §3.1, MUST", "every field is stored, known or not") { scene in
            try await scene.first([
                .cacheControl: "max-age=60", "X-New": "a", "X-New": "b", .contentType: "text/x-odd; a=b", "X-Empty": "",
            ])
            let seen = try await scene.again().seen
            try scene.equal(seen.headers[values: "X-New"], ["a", "b"], "X-New")
            try scene.equal(seen.headers[.contentType], "text/x-odd; a=b", "Content-Type")
            try scene.expect(seen.headers.contains("X-Empty"), "an empty field is removed")
        },
        .requirement("RFC 9110 §7.6.1, MUST", "fields of the connection are not stored") { scene in
            try await scene.first([
                .cacheControl: "max-age=60", .connection: "close, X-Hop", "X-Hop": "1", "Keep-Alive": "timeout=5",
                "Proxy-Connection": "x", "Upgrade": "h2c", "TE": "trailers",
            ])
            let seen = try await scene.again().seen
            for name: HTTPField.Name in [.connection, "X-Hop", "Keep-Alive", "Proxy-Connection", "Upgrade", "TE"] {
                try scene.expect(!seen.headers.contains(name), "\(name) is there")
            }
        },
        .requirement("RFC 9111 §3.1, MUST NOT", "fields of the proxy are not stored") { scene in
            try await scene.first([
                .cacheControl: "max-age=60", "Proxy-Authenticate": "Basic", "Proxy-Authentication-Info": "x",
                "Proxy-Authorization": "x",
            ])
            let seen = try await scene.again().seen
            for name: HTTPField.Name in ["Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization"] {
                try scene.expect(!seen.headers.contains(name), "\(name) is there")
            }
        },
        .requirement("RFC 9111 §3.1, §5.2.2.4", "fields that no-cache names are not stored") { scene in
            try await scene.first([
                .cacheControl: #"max-age=60, no-cache="x-own, X-Other""#, "X-Own": "1", "X-Kept": "2",
            ])
            let (asked, seen) = try await scene.again()
            try scene.expect(!asked, "the server was asked")
            try scene.expect(!seen.headers.contains("X-Own"), "X-Own is there")
            try scene.equal(seen.headers["X-Kept"], "2", "X-Kept")
        },
        .requirement("RFC 9110 §6.6.1, MUST", "a response without a date gets the time at which it came") { scene in
            let now = scene.date()
            try await scene.first([.cacheControl: "max-age=60", .date: "none"])
            scene.wait(10)
            try scene.equal(try await scene.again().seen.headers[.date], now, "Date")
        },
        .requirement(".caching()", "cookies are set by the server's response only, not again by the cache") {
            scene in
            try await scene.first([.cacheControl: "max-age=60", .setCookie: "a=1"])
            try scene.expect(!(try await scene.again().seen.headers.contains(.setCookie)), "Set-Cookie is there")
        },
    ]

    private static let bodies: [CacheCase] = [
        .requirement("RFC 9111 §3.3, MUST NOT", "a body that breaks off is not used") { scene in
            scene.server.enqueue { _ in
                let body = AsyncThrowingStream<Data, any Error> { stream in
                    stream.yield(Data("half"))
                    stream.finish(throwing: NetworkError(.connectionLost(.requestMayHaveArrived)))
                }
                return HTTPResponse(headers: [.cacheControl: "max-age=60"], body: ResponseBody(body))
            }
            let seen = try? await scene.send()
            try scene.expect(seen == nil, "the call did not fail")
            try await scene.expectAsking()
        }
    ]
}
