// SPDX-License-Identifier: MIT

import CurlewCaching
import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// Store cases for writing and reading entries.
enum StoreEntryCases {
    private static let rule = "HTTPCache.Store: an entry is visible from its commit on"

    static let all: [CacheCase] = [
        CacheCase("an entry is visible only after its commit", rule: rule) { trial in
            let store = try await trial.store()
            let head = trial.head()
            let writer = try await store.write(head)
            try trial.expect(try await writer.append(Data("half")), "the chunk is refused")
            try trial.equal(try await store.variants(for: head.key).count, 0, "the number of entries before the commit")
            try trial.expect(try await store.body(of: head) == nil, "the body can be opened before the commit")
            try trial.expect(try await writer.commit(replacing: []), "the commit is refused")
            try trial.equal(try await store.variants(for: head.key).map(\.id), [head.id], "the entries")
            try trial.equal(try await trial.read(head, in: store), Data("half"), "the body")
        },
        CacheCase("an abandoned entry never appears", rule: rule) { trial in
            let store = try await trial.store()
            let head = trial.head()
            let writer = try await store.write(head)
            _ = try await writer.append(Data("x"))
            writer.abandon()
            writer.abandon()
            try trial.expect(!(try await writer.commit(replacing: [])), "what was abandoned can be committed")
            try trial.equal(try await store.variants(for: head.key).count, 0, "the number of entries")
            try trial.equal(try await store.statistics().entries, 0, "the number of entries that it tells")
        },
        CacheCase("a writer that is released without a commit stores nothing", rule: rule) { trial in
            let store = try await trial.store()
            let head = trial.head()
            do {
                let writer = try await store.write(head)
                _ = try await writer.append(Data("x"))
            }
            try trial.equal(try await store.variants(for: head.key).count, 0, "the number of entries")
            try await trial.put(trial.head(), Data("y"), in: store)
            try trial.equal(try await store.statistics().entries, 1, "the number of entries that it tells")
        },
        CacheCase("abandoning after the commit changes nothing", rule: rule) { trial in
            let store = try await trial.store()
            let head = trial.head()
            let writer = try await store.write(head)
            _ = try await writer.append(Data("kept"))
            _ = try await writer.commit(replacing: [])
            writer.abandon()
            try trial.equal(try await trial.read(head, in: store), Data("kept"), "the body")
        },
        CacheCase("an empty body is a body", rule: rule) { trial in
            let store = try await trial.store()
            let head = try await trial.put(trial.head(), in: store)
            try trial.equal(try await trial.read(head, in: store), Data(), "the body")
            try trial.equal(try await trial.newest(head.key, in: store).bodyLength, 0, "the length in the head")
        },
        CacheCase("a body returns as it was written, in pieces of every size", rule: rule) { trial in
            let store = try await trial.store()
            let bytes = Data.pattern(300_001)
            for size in [1 << 20, 65_536, 4096, 997] {
                let head = trial.head("https://api.example/\(size)")
                let writer = try await store.write(head)
                var rest = bytes[...]
                while !rest.isEmpty {
                    _ = try await writer.append(Data(rest.prefix(size)))
                    rest = rest.dropFirst(size)
                }
                _ = try await writer.commit(replacing: [])
                for step in [1 << 20, 65_536, 10_007] {
                    let read = try await trial.read(head, by: step, in: store)
                    try trial.expect(read == bytes, "written by \(size) and read by \(step), the body differs")
                }
                let length = try await trial.newest(head.key, in: store).bodyLength
                try trial.equal(length, 300_001, "the length in the head")
            }
        },
        CacheCase("a body can be read from any offset", rule: "HTTPCache.Entry.Body.read(from:upTo:)") { trial in
            let store = try await trial.store()
            let bytes = Data.pattern(200_000)
            let head = try await trial.put(trial.head(), bytes.prefix(70_000), bytes.dropFirst(70_000), in: store)
            guard let body = try await store.body(of: head) else { throw ConformanceFailure("there is no body") }
            defer { body.close() }
            for (offset, count) in [(0, 1), (69_990, 20), (65_536, 65_536), (199_999, 5), (131_071, 2)] {
                let chunk = try await body.read(from: Int64(offset), upTo: count)
                try trial.expect(!chunk.isEmpty, "nothing came from \(offset)")
                let expected = bytes[offset..<min(offset + chunk.count, bytes.count)]
                try trial.expect(Data(chunk) == Data(expected), "other bytes came from \(offset)")
            }
            for offset in [200_000, 200_001, Int64.max] {
                try trial.equal(try await body.read(from: offset, upTo: 10).count, 0, "the bytes beyond the end")
            }
        },
        CacheCase(
            "an open body can be read to its end after its entry was replaced, updated, removed and cleared",
            rule: "HTTPCache.Store: a body that was opened can be read to its end"
        ) { trial in
            let store = try await trial.store()
            let bytes = Data.pattern(500_000)
            let head = try await trial.put(trial.head(), bytes, in: store)
            var bodies: [any HTTPCache.Entry.Body] = []
            for _ in 0..<3 {
                guard let body = try await store.body(of: head) else { throw ConformanceFailure("there is no body") }
                _ = try await body.read(from: 0, upTo: 1000)
                bodies.append(body)
            }
            defer { for body in bodies { body.close() } }
            try await trial.put(trial.head(), Data("another"), in: store)
            try trial.expect(try await trial.read(bodies[0]) == bytes, "the body changed when its entry was replaced")
            _ = try await store.remove(.target("https://api.example/"))
            try trial.expect(try await trial.read(bodies[1]) == bytes, "the body changed when its entry was removed")
            try await store.clear()
            try trial.expect(try await trial.read(bodies[2]) == bytes, "the body changed when the store was cleared")
        },
        CacheCase("the newer entry of a key and variant replaces the older one", rule: rule) { trial in
            let store = try await trial.store()
            let old = try await trial.put(trial.head(variant: "a"), Data("1"), in: store)
            let other = try await trial.put(trial.head(variant: "b"), Data("2"), in: store)
            let new = try await trial.put(trial.head(variant: "a"), Data("3"), in: store)
            try trial.equal(try await store.variants(for: old.key).map(\.id), [new.id, other.id], "the entries")
            try trial.expect(try await store.body(of: old) == nil, "the replaced body can still be opened")
            try trial.equal(try await trial.read(other, in: store), Data("2"), "the other variant")
            try trial.equal(try await store.statistics().entries, 2, "the number of entries")
        },
        CacheCase("a commit removes the entries that it names", rule: rule) { trial in
            let store = try await trial.store()
            let old = try await trial.put(trial.head(variant: "a"), Data("1"), in: store)
            let kept = try await trial.put(trial.head(variant: "b"), Data("2"), in: store)
            let head = trial.head(variant: "c")
            let writer = try await store.write(head)
            _ = try await writer.append(Data("3"))
            _ = try await writer.commit(replacing: [old.id, HTTPCache.Entry.ID()])
            try trial.equal(try await store.variants(for: old.key).map(\.id), [head.id, kept.id], "the entries")
        },
        CacheCase("of two that write one entry at the same time, the last to commit stays", rule: rule) { trial in
            let store = try await trial.store()
            let (first, second) = (trial.head(), trial.head())
            let one = try await store.write(first)
            let other = try await store.write(second)
            for _ in 0..<10 {
                _ = try await one.append(Data("1"))
                _ = try await other.append(Data("2"))
            }
            _ = try await other.commit(replacing: [])
            _ = try await one.commit(replacing: [])
            try trial.equal(try await store.variants(for: first.key).map(\.id), [first.id], "the entries")
            try trial.equal(try await trial.read(first, in: store), Data("1111111111"), "the body")
        },
    ]
}
