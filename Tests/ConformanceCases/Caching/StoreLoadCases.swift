// SPDX-License-Identifier: MIT

import CurlewCaching
import CurlewCore
import CurlewFoundation
import CurlewHTTP
import CurlewTesting
import TestFixtures

/// Store cases for concurrent operations, and for operations in random order.
enum StoreLoadCases {
    static let all: [CacheCase] = [
        CacheCase(
            "many tasks at once never see a body under another's head",
            rule: "HTTPCache.Store: everything may be called from several tasks at once"
        ) { trial in
            let store = try await trial.store { $0.bytes = 400_000 }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<16 {
                    group.addTask { try await work(UInt64(task), trial, store) }
                }
                try await group.waitForAll()
            }
            let bytes = try await store.statistics().bytes
            try trial.expect(bytes <= 400_000, "it keeps \(bytes) bytes at the end")
        },
        CacheCase("any order of calls behaves like a simple model", rule: "HTTPCache.Store") { trial in
            for seed in 1...8 { try await compare(UInt64(seed), trial) }
        },
    ]

    /// Performs random operations on the store. Each head contains the seed from which its body is generated, so a body
    /// with the wrong head is detected.
    private static func work(_ seed: UInt64, _ trial: CacheTrial, _ store: any HTTPCache.Store) async throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<40 {
            let number = Int.random(in: 0..<6, using: &random)
            let key = HTTPCache.Entry.Key(target: "https://api.example/\(number)")
            switch Int.random(in: 0..<6, using: &random) {
            case 0...1:
                let mark = UInt64.random(in: 1...1_000_000, using: &random)
                let head = trial.head(key.target, headers: ["X-Seed": "\(mark)"])
                let bytes = Data.pattern(Int(mark % 50_000), seed: mark)
                let writer = try await store.write(head)
                guard try await writer.append(bytes.prefix(20_000)), try await writer.append(bytes.dropFirst(20_000))
                else { continue }
                _ = try await writer.commit(replacing: [])
            case 2:
                if let found = try await store.variants(for: key).first { _ = try await store.update(found) }
            case 3 where seed == 0:
                _ = try await store.remove(.target(key.target))
            default:
                guard let found = try await store.variants(for: key).first,
                    let mark = UInt64(found.headers["X-Seed"] ?? ""), let body = try await trial.read(found, in: store)
                else { continue }
                try trial.expect(
                    body == Data.pattern(Int(mark % 50_000), seed: mark), "a body is not the one of its head")
            }
        }
    }

    private static func compare(_ seed: UInt64, _ trial: CacheTrial) async throws {
        var random = SeededGenerator(seed: seed)
        let store = try await trial.store()
        var model: [(head: HTTPCache.Entry, body: Data)] = []
        for step in 0..<150 {
            let variant = ["", "a", "b"].randomElement(using: &random) ?? ""
            let principal = [nil, "ann", "bob"].randomElement(using: &random) ?? nil
            let target = "https://api.example/\(Int.random(in: 0..<4, using: &random))"
            let head = trial.head(target, principal: principal, variant: variant, tags: [variant])
            switch Int.random(in: 0..<8, using: &random) {
            case 0...4:
                let body = Data(random.bytes(upTo: 3000))
                try await trial.put(head, body, in: store)
                model.removeAll { $0.head.key == head.key && $0.head.variant == variant }
                model.insert((head, body), at: 0)
            case 5:
                guard let old = model.first(where: { $0.head.key == head.key })?.head else { continue }
                var changed = old
                changed.headers["X-Step"] = "\(step)"
                _ = try await store.update(changed)
                for index in model.indices where model[index].head.id == old.id { model[index].head = changed }
            default:
                let selection = [
                    HTTPCache.Removal.target(target), .principal(principal), .tags([variant]), .prefix(target),
                ].randomElement(using: &random)
                guard let selection, step % 3 == 0 else { continue }
                let count = try await store.remove(selection)
                let before = model.count
                model.removeAll { selection.contains($0.head) }
                try trial.equal(count, before - model.count, "seed \(seed), step \(step): the number removed")
            }
            let expected = model.filter { $0.head.key == head.key }
            let found = try await store.variants(for: head.key)
            try trial.equal(found.map(\.id), expected.map(\.head.id), "seed \(seed), step \(step): the entries")
            for (response, entry) in zip(found, expected) {
                try trial.equal(response.headers, entry.head.headers, "seed \(seed), step \(step): the fields")
                let body = try await trial.read(response, in: store)
                try trial.expect(body == entry.body, "seed \(seed), step \(step): the body differs")
            }
        }
    }
}
