// SPDX-License-Identifier: MIT

import CurlewCaching
import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// Store cases for the limits of a store, and for its statistics.
enum StoreLimitCases {
    private static let rule = "HTTPCache.Store: the store holds itself to its limits"

    private static func url(_ number: Int) -> String { "https://api.example/\(number)" }

    static let all: [CacheCase] = [
        CacheCase("no more bytes are kept than the limit, and most of it is used", rule: rule) { trial in
            let store = try await trial.store { $0.bytes = 1 << 20 }
            for number in 0..<100 {
                try await trial.put(trial.head(url(number)), Data.pattern(30_000), in: store)
                let bytes = try await store.statistics().bytes
                try trial.expect(bytes <= 1 << 20, "it keeps \(bytes) bytes, the limit is \(1 << 20)")
            }
            let statistics = try await store.statistics()
            try trial.expect(statistics.entries >= 25, "only \(statistics.entries) entries of 30 kB are kept in 1 MiB")
            try trial.equal(statistics.evicted, Int64(100 - statistics.entries), "the entries dropped")
            try trial.expect(
                try await trial.read(
                    trial.newest(
                        HTTPCache.Entry.Key(target: url(99)), in: store), in: store) == Data.pattern(30_000),
                "the newest body differs")
        },
        CacheCase("no more entries are kept than the limit", rule: rule) { trial in
            let store = try await trial.store { $0.entries = 10 }
            for number in 0..<25 { try await trial.put(trial.head(url(number)), Data("x"), in: store) }
            try trial.equal(try await store.statistics().entries, 10, "the number of entries")
            try trial.equal(try await store.statistics().evicted, 15, "the number dropped")
        },
        CacheCase("what was not used for longest is dropped first", rule: rule) { trial in
            let store = try await trial.store { $0.entries = 4 }
            var heads: [HTTPCache.Entry] = []
            for number in 0..<4 { heads.append(try await trial.put(trial.head(url(number)), Data("x"), in: store)) }
            _ = try await trial.read(heads[0], in: store)
            try await store.update(heads[2])
            _ = try await store.variants(for: heads[1].key)
            for number in 4..<6 { try await trial.put(trial.head(url(number)), Data("x"), in: store) }
            var kept: [Int] = []
            for (number, head) in heads.enumerated() where try await !store.variants(for: head.key).isEmpty {
                kept.append(number)
            }
            try trial.equal(kept, [0, 2], "those that are kept")
        },
        CacheCase("opening what a lookup gave is a use like any other", rule: rule) { trial in
            let store = try await trial.store { $0.entries = 2 }
            let heads = [trial.head(url(0)), trial.head(url(1)), trial.head(url(2))]
            for head in heads.prefix(2) { try await trial.put(head, Data("x"), in: store) }
            _ = try await trial.read(trial.newest(heads[0].key, in: store), in: store)
            try trial.equal(try await store.statistics().hits, 1, "the number of uses")
            try await trial.put(heads[2], Data("x"), in: store)
            try trial.expect(try await store.variants(for: heads[1].key).isEmpty, "what was not used was kept")
            try trial.expect(try await !store.variants(for: heads[0].key).isEmpty, "what was used was dropped")
        },
        CacheCase("a body over its limit is not taken", rule: "HTTPCache.Store.bodyLimit") { trial in
            let store = try await trial.store { $0.body = 10_000 }
            try trial.equal(store.bodyLimit, 10_000, "the limit that it tells")
            let head = trial.head()
            let writer = try await store.write(head)
            try trial.expect(try await writer.append(Data.pattern(10_000)), "a body at the limit is refused")
            try trial.expect(!(try await writer.append(Data("x"))), "a body over the limit is taken")
            try trial.expect(!(try await writer.commit(replacing: [])), "a body over the limit is committed")
            try trial.equal(try await store.statistics().entries, 0, "the number of entries")
            try await trial.put(trial.head(), Data.pattern(10_000), in: store)
        },
        CacheCase("an open body can be read to its end after its entry was dropped", rule: rule) { trial in
            let store = try await trial.store { $0.entries = 1 }
            let bytes = Data.pattern(200_000)
            let head = try await trial.put(trial.head(), bytes, in: store)
            guard let body = try await store.body(of: head) else { throw ConformanceFailure("there is no body") }
            defer { body.close() }
            try await trial.put(trial.head(url(1)), Data("x"), in: store)
            try trial.expect(try await store.body(of: head) == nil, "the entry was not dropped")
            try trial.expect(try await trial.read(body) == bytes, "the body changed")
        },
        CacheCase("at most 32 variants of a key are kept, the newest", rule: "HTTPCache.Entry.variantLimit") { trial in
            let store = try await trial.store()
            for number in 0..<40 { try await trial.put(trial.head(variant: "\(number)"), Data("x"), in: store) }
            let kept = try await store.variants(for: trial.head().key).map(\.variant)
            try trial.equal(kept, (8..<40).reversed().map { "\($0)" }, "the variants")
        },
        CacheCase("a store of no bytes keeps nothing and has no other effect", rule: rule) { trial in
            let store = try await trial.store {
                $0.bytes = 0
                $0.body = 0
            }
            let writer = try await store.write(trial.head())
            if try await writer.append(Data("x")) { _ = try await writer.commit(replacing: []) }
            let empty = try await store.write(trial.head())
            _ = try await empty.commit(replacing: [])
            try trial.equal(try await store.statistics().entries, 0, "the number of entries")
        },
        CacheCase("statistics count what happened", rule: "HTTPCache.Store.statistics()") { trial in
            let store = try await trial.store()
            let head = try await trial.put(trial.head(), Data.pattern(5000), in: store)
            let first = try await store.statistics()
            try trial.expect((5000...10_000).contains(first.bytes), "an entry of 5,000 bytes counts \(first.bytes)")
            _ = try await trial.read(head, in: store)
            _ = try await trial.read(head, in: store)
            try await trial.put(trial.head(), Data("x"), in: store)
            let second = try await store.statistics()
            try trial.equal([second.hits, second.stored, second.evicted], [2, 2, 0], "hits, stored and dropped")
            try trial.expect(second.bytes < first.bytes, "the replaced body still counts")
        },
    ]
}
