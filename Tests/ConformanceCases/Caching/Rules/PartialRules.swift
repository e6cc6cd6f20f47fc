// SPDX-License-Identifier: MIT

import CurlewCaching
import CurlewCore
import CurlewHTTP

/// Cache cases for RFC 9111 §3.3 and §3.4 and RFC 9110 §14: serving ranges from the store, storing parts, and combining
/// them.
enum PartialRules {
    private static let whole = "0123456789"
    private static let fresh: HTTPHeaders = [.cacheControl: "max-age=60", .eTag: "\"1\""]

    static let all: [CacheCase] = serving + storing + combining

    private static func part(
        _ range: ClosedRange<Int>, of length: String = "10", _ headers: HTTPHeaders = fresh, in scene: CacheScene
    ) async throws {
        let text = String(whole.dropFirst(range.lowerBound).prefix(range.count))
        let content: HTTPHeaders = [.contentRange: "bytes \(range.lowerBound)-\(range.upperBound)/\(length)"]
        scene.answer(.partialContent, headers.merging(content, replacing: true), text)
        try await scene.send(.get, "/", [.range: "bytes=\(range.lowerBound)-\(range.upperBound)"])
    }

    private static let serving: [CacheCase] = [
        .requirement("RFC 9111 §3.3, MUST NOT", "a range of a complete response is marked as one") { scene in
            try await scene.first(fresh, whole)
            for (range, text, content) in [
                ("bytes=0-0", "0", "bytes 0-0/10"), ("bytes=2-4", "234", "bytes 2-4/10"),
                ("bytes=7-", "789", "bytes 7-9/10"), ("bytes=-2", "89", "bytes 8-9/10"),
                ("bytes=5-99", "56789", "bytes 5-9/10"),
            ] {
                let (asked, seen) = try await scene.again([.range: range])
                try scene.expect(!asked, "the server was asked for \(range)")
                try scene.equal(
                    [seen.text, seen.headers[.contentRange], "\(seen.status)"], [text, content, "206"], range)
                try scene.equal(seen.headers[.contentLength], "\(text.count)", "Content-Length")
            }
        },
        .requirement("RFC 9110 §15.5.17", "a range beyond the end is a 416 with the length") { scene in
            try await scene.first(fresh, whole)
            let seen = try await scene.again([.range: "bytes=10-"]).seen
            try scene.equal(
                [seen.headers[.contentRange], "\(seen.status)", seen.text], ["bytes */10", "416", ""], "the answer")
        },
        .requirement("RFC 9110 §14.2", "several ranges and other units return the whole") { scene in
            try await scene.first(fresh, whole)
            for range in ["bytes=0-1,3-4", "pages=1-2", "bytes=x"] {
                let seen = try await scene.again([.range: range]).seen
                try scene.equal([seen.text, "\(seen.status)"], [whole, "200"], "the response to \(range)")
            }
        },
        .requirement("RFC 9110 §13.1.5, MUST", "If-Range lets a range through by a strong validator only") { scene in
            let old = scene.date(-1000)
            try await scene.first([.cacheControl: "max-age=60", .eTag: "\"1\"", .lastModified: old], whole)
            for (condition, status) in [
                ("\"1\"", 206), ("\"2\"", 200), ("W/\"1\"", 200), (old, 206), (scene.date(-999), 200),
            ] {
                let seen = try await scene.again([.range: "bytes=0-1", "If-Range": condition]).seen
                try scene.equal(seen.status, status, "the status for \(condition)")
            }
        },
        .requirement("CachedResponseBuilder", "no range is cut from bytes that the transport may have decoded") {
            scene in
            try await scene.first(fresh.merging([.contentLength: "none"], replacing: true), whole)
            let seen = try await scene.again([.range: "bytes=0-1"]).seen
            try scene.equal([seen.text, "\(seen.status)"], [whole, "200"], "the answer")
        },
    ]

    private static let storing: [CacheCase] = [
        .requirement("RFC 9111 §3.3, MUST NOT", "a part answers only requests for what is within it") { scene in
            try await part(2...5, in: scene)
            for range in ["bytes=2-5", "bytes=3-4"] {
                let (asked, seen) = try await scene.again([.range: range])
                try scene.expect(!asked && seen.status == 206, "the server was asked for \(range)")
            }
            for range in ["bytes=1-3", "bytes=4-6", "bytes=2-", "bytes=-5"] {
                try await scene.store.clear()
                try await part(2...5, in: scene)
                try await scene.expectAsking([.range: range])
            }
        },
        .requirement("RFC 9111 §3.3, MUST NOT", "a part does not respond a request for the whole") { scene in
            try await part(2...5, in: scene)
            try await scene.expectAsking()
        },
        .requirement("RFC 9111 §3.3", "a part of unknown length answers only ranges with an end") { scene in
            try await part(2...5, of: "*", in: scene)
            let (asked, seen) = try await scene.again([.range: "bytes=3-4"])
            try scene.expect(!asked, "the server was asked")
            try scene.equal([seen.text, seen.headers[.contentRange]], ["34", "bytes 3-4/*"], "the answer")
            try await scene.expectAsking([.range: "bytes=3-"])
        },
        .requirement("RFC 9111 §3.3, MUST NOT", "parts that are not understood are not stored") { scene in
            for content: HTTPHeaders in [
                [:], [.contentType: "multipart/byteranges; boundary=x"], [.contentRange: "pages 1-2/3"],
                [.contentRange: "bytes 5-2/10"], [.contentRange: "bytes 0-3/10", .contentLength: "7"],
            ] {
                scene.answer(.partialContent, fresh.merging(content, replacing: true), "part")
                try await scene.send(.get, "/", [.range: "bytes=0-3"])
                try scene.equal(try await scene.store.statistics().entries, 0, "the entries after \(content)")
            }
        },
        .requirement("RFC 9111 §3.3", "a part that is shorter than it says is not stored") { scene in
            let content: HTTPHeaders = [.contentRange: "bytes 0-6/10", .contentLength: "none"]
            scene.answer(.partialContent, fresh.merging(content, replacing: true), "part")
            try await scene.send(.get, "/", [.range: "bytes=0-6"])
            try scene.equal(try await scene.store.statistics().entries, 0, "the number of entries")
        },
    ]

    private static let combining: [CacheCase] = [
        .requirement("RFC 9111 §3.4", "parts are not put together, whatever their validators") { scene in
            for (one, other, range) in [
                ("\"1\"", "\"1\"", 5...9), ("\"1\"", "\"2\"", 5...9), ("W/\"1\"", "W/\"1\"", 5...9),
                ("\"1\"", "\"1\"", 6...9),
            ] {
                try await part(0...4, [.cacheControl: "max-age=60", .eTag: one], in: scene)
                try await part(range, [.cacheControl: "max-age=60", .eTag: other], in: scene)
                try await scene.expectAsking()
                try await scene.store.clear()
            }
        },
        .requirement("RFC 9111 §3.4", "a part updates the whole that it belongs to") { scene in
            try await scene.first([.cacheControl: "max-age=5", .eTag: "\"1\""], whole)
            scene.wait(6)
            try await part(2...3, in: scene)
            let (asked, seen) = try await scene.again()
            try scene.expect(!asked, "the server was asked")
            try scene.equal(seen.text, whole, "the body")
        },
    ]
}
