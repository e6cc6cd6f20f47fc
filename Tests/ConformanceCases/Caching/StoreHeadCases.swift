// SPDX-License-Identifier: MIT

import CurlewCaching
import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// Store cases for heads: they are stored unchanged, can be updated, and are distinguished by their keys.
enum StoreHeadCases {
    static let all: [CacheCase] = [
        CacheCase("a head returns as it was stored", rule: "HTTPCache.Store.variants(for:)") { trial in
            let store = try await trial.store()
            var head = HTTPCache.Entry(
                key: HTTPCache.Entry.Key(
                    target: "https://api.example/a?b=%20c", content: "QUERY 00ff", principal: "Zoë"),
                status: 206,
                headers: [
                    .setCookie: "a=1", .setCookie: "b=2", "X-Empty": "", "X-Extra": "naïve, \"quoted\"",
                    .eTag: "W/\"x\"",
                ],
                version: .http2,
                requestTime: Date(timeIntervalSinceReferenceDate: 700_000_000.125),
                responseTime: Date(timeIntervalSinceReferenceDate: -5), tags: ["films", "user 1", ""])
            head.variant = "accept-language\u{1F}de"
            try await trial.put(head, Data("body"), in: store)
            head.bodyLength = 4
            let found = try await trial.newest(head.key, in: store)
            try trial.equal(found, head, "the head")
            try trial.equal(found.headers.map(\.value), head.headers.map(\.value), "the values, in their order")
        },
        CacheCase("an update changes the head and keeps the body", rule: "HTTPCache.Store.update(_:)") { trial in
            let store = try await trial.store()
            var head = try await trial.put(trial.head(tags: ["old"]), Data("body"), in: store)
            head.headers[.eTag] = "\"2\""
            head.responseTime = Date(timeIntervalSinceReferenceDate: 100)
            head.tags = ["new"]
            try trial.expect(try await store.update(head), "the update is refused")
            head.bodyLength = 4
            try trial.equal(try await store.variants(for: head.key), [head], "the entries")
            try trial.equal(try await trial.read(head, in: store), Data("body"), "the body")
            try trial.equal(try await store.remove(.tags(["old"])), 0, "the entries with the old tag")
            try trial.equal(try await store.remove(.tags(["new"])), 1, "the entries with the new tag")
        },
        CacheCase("an update of a removed entry does nothing", rule: "HTTPCache.Store.update(_:)") { trial in
            let store = try await trial.store()
            let old = try await trial.put(trial.head(), Data("1"), in: store)
            try trial.expect(!(try await store.update(trial.head())), "an entry that never was can be updated")
            let new = try await trial.put(trial.head(), Data("2"), in: store)
            try trial.expect(!(try await store.update(old)), "an entry that was replaced can be updated")
            try trial.equal(try await store.variants(for: new.key).map(\.id), [new.id], "the entries")
        },
        CacheCase("an update to another variant replaces what has it", rule: "HTTPCache.Store.update(_:)") {
            trial in
            let store = try await trial.store()
            var head = try await trial.put(trial.head(variant: "a"), Data("1"), in: store)
            try await trial.put(trial.head(variant: "b"), Data("2"), in: store)
            head.variant = "b"
            try trial.expect(try await store.update(head), "the update is refused")
            try trial.equal(try await store.variants(for: head.key).map(\.id), [head.id], "the entries")
        },
        CacheCase("keys are distinguished by every part", rule: "HTTPCache.Entry.Key") { trial in
            let store = try await trial.store()
            let parts: [String?] = [nil, "", "-", "a", "A", "1:a", "a 1:", "ä", "a\u{0}", "%", "_"]
            var heads: [HTTPCache.Entry] = []
            for content in parts {
                for principal in parts {
                    heads.append(trial.head("https://api.example/x", content: content, principal: principal))
                }
            }
            heads += ["https://api.example/X", "https://api.example/x/", "http://api.example/x"].map { trial.head($0) }
            for (number, head) in heads.enumerated() { try await trial.put(head, Data("\(number)"), in: store) }
            for (number, head) in heads.enumerated() {
                try trial.equal(
                    try await store.variants(for: head.key).map(\.id), [head.id], "the entries of \(head.key)")
                try trial.equal(try await trial.read(head, in: store), Data("\(number)"), "the body of \(head.key)")
            }
            try trial.equal(Set(heads.map(\.key.text)).count, heads.count, "the number of key texts")
        },
    ]
}
