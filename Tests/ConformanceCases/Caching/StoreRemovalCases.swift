// SPDX-License-Identifier: MIT

import CurlewCaching
import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// Store cases for the removal of entries, including entries that are still being written.
enum StoreRemovalCases {
    private static let rule = "HTTPCache.Store.remove(_:)"

    /// The selections to remove. Each row contains a description, the selection, and the indices of those entries of
    /// `fill` that the selection contains.
    private static let selections: [(String, HTTPCache.Removal, Set<Int>)] = [
        ("everything", .everything, Set(0..<10)),
        ("a URL, for every principal and content", .target("https://api.example/films/1"), [0, 1, 2, 3]),
        ("what begins like a URL, byte by byte", .prefix("https://api.example/films/"), [0, 1, 2, 3, 4, 5]),
        ("a prefix with signs that mean something in patterns", .prefix("https://api.example/a_%*?["), [6]),
        ("a principal", .principal("ann"), [1, 5]),
        ("nobody", .principal(nil), [0, 3, 4, 6, 7, 8, 9]),
        ("the empty principal, which is not anonymous", .principal(""), [2]),
        ("one of some tags", .tags(["film", "odd tag, really"]), [4, 8, 9]),
        ("no tag", .tags([]), []),
        ("what a function says yes to", .matching { $0.variant == "v" }, [3]),
    ]

    private static func fill(_ store: any HTTPCache.Store, _ trial: CacheTrial) async throws -> [HTTPCache.Entry] {
        let film = "https://api.example/films/1"
        let heads = [
            trial.head(film), trial.head(film, principal: "ann"), trial.head(film, principal: ""),
            trial.head(film, content: "QUERY 00", variant: "v"),
            trial.head("https://api.example/films/2", tags: ["film", "two"]),
            trial.head("https://api.example/films/", principal: "ann"),
            trial.head("https://api.example/a_%*?[b"), trial.head("https://api.example/aX%*?[b"),
            trial.head("https://other.example/", tags: ["odd tag, really"]),
            trial.head("https://other.example/films/1", tags: ["film", "odd tag, really"]),
        ]
        for (number, head) in heads.enumerated() { try await trial.put(head, Data("\(number)"), in: store) }
        return heads
    }

    static let all =
        selections.map { name, selection, expected in
            CacheCase("removing takes \(name)", rule: rule) { trial in
                let store = try await trial.store()
                let heads = try await fill(store, trial)
                try trial.equal(try await store.remove(selection), expected.count, "the number that it tells")
                for (number, head) in heads.enumerated() {
                    let found = try await store.variants(for: head.key).contains { $0.id == head.id }
                    try trial.equal(found, !expected.contains(number), "whether entry \(number) is there")
                    try trial.equal(
                        try await trial.read(head, in: store) != nil, !expected.contains(number),
                        "whether the body of entry \(number) is there")
                }
                try trial.equal(try await store.statistics().entries, 10 - expected.count, "the number of entries")
                try trial.equal(try await store.remove(selection), 0, "the number of the second time")
            }
        } + others

    private static let others: [CacheCase] = [
        CacheCase("removing takes the entries that are named", rule: rule) { trial in
            let store = try await trial.store()
            let heads = try await fill(store, trial)
            let ids = Set([heads[2], heads[7]].map(\.id))
            try trial.equal(try await store.remove(.entries(ids.union([HTTPCache.Entry.ID()]))), 2, "the number")
            try trial.expect(try await store.body(of: heads[2]) == nil, "entry 2 is there")
            try trial.expect(try await store.body(of: heads[3]) != nil, "entry 3 was evicted")
        },
        CacheCase("what was found before a removal cannot be opened after it", rule: rule) { trial in
            let store = try await trial.store()
            try await trial.put(trial.head(), Data("x"), in: store)
            let found = try await trial.newest(trial.head().key, in: store)
            try await store.clear()
            try trial.expect(try await store.body(of: found) == nil, "the body is there")
            try await trial.put(trial.head(), Data("y"), in: store)
            try trial.expect(try await store.body(of: found) == nil, "another body is there")
            let next = try await trial.newest(trial.head().key, in: store)
            try await trial.put(trial.head(), Data("z"), in: store)
            try trial.expect(try await store.body(of: next) == nil, "the body that was replaced is there")
        },
        CacheCase(
            "a removal reaches what is being written",
            rule: "HTTPCache.Store: a removal also reaches entries being written"
        ) { trial in
            for selection in [
                HTTPCache.Removal.everything, .target("https://api.example/"), .prefix("https://api"),
                .principal("ann"),
                .tags(["t"]), .matching { _ in true },
            ] {
                let store = try await trial.store()
                let head = trial.head(principal: "ann", tags: ["t"])
                let writer = try await store.write(head)
                _ = try await writer.append(Data("x"))
                try trial.equal(try await store.remove(selection), 0, "the number of visible entries removed")
                let taken = try await writer.append(Data("y"))
                let committed = try await writer.commit(replacing: [])
                try trial.expect(!committed, "what \(selection) removed is committed (\(taken))")
                try trial.equal(try await store.variants(for: head.key).count, 0, "the entries after \(selection)")
            }
        },
        CacheCase("a removal leaves what is being written for others", rule: rule) { trial in
            let store = try await trial.store()
            let head = trial.head(principal: "ann")
            let writer = try await store.write(head)
            _ = try await store.remove(.principal("bob"))
            _ = try await store.remove(.target("https://api.example/other"))
            _ = try await writer.append(Data("x"))
            try trial.expect(try await writer.commit(replacing: []), "the commit is refused")
        },
        CacheCase("a cleared store is empty and usable", rule: "HTTPCache.Store.clear()") { trial in
            let store = try await trial.store()
            _ = try await fill(store, trial)
            try await store.clear()
            try trial.equal(try await store.statistics().entries, 0, "the number of entries")
            try trial.equal(try await store.statistics().bytes, 0, "the number of bytes")
            let head = try await trial.put(trial.head(), Data("again"), in: store)
            try trial.equal(try await trial.read(head, in: store), Data("again"), "the body")
        },
    ]
}
