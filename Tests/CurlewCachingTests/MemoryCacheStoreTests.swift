// SPDX-License-Identifier: MIT

import ConformanceCases
import CurlewCaching
import Testing

@Suite(.timeLimit(.minutes(1)))
struct MemoryCacheStoreTests {
    @Test(arguments: CacheSuite.stores)
    func keepsTheContract(_ one: CacheCase) async throws {
        try await one.run(on: .memory)
    }

    @Test
    func namesOfCasesAreUnique() {
        #expect(Set(CacheSuite.stores.map(\.name)).count == CacheSuite.stores.count)
    }

    @Test("Each variant of a key is found and can be removed after another one was updated")
    func updateKeepsVariants() async throws {
        let store = HTTPCache.MemoryStore()
        let key = HTTPCache.Entry.Key(target: "https://a.test/")
        var heads: [HTTPCache.Entry] = []
        for number in 0..<4 {
            let time = Date(timeIntervalSinceReferenceDate: Double(number))
            var head = HTTPCache.Entry(key: key, requestTime: time, responseTime: time)
            head.variant = "\(number)"
            let writer = await store.write(head, since: nil)
            _ = try await writer.append(Data("body \(number)".utf8))
            try await writer.commit(replacing: [])
            heads.append(head)
        }
        for updated in [1, 3, 0, 2] {
            heads[updated].headers["X-Round"] = "\(updated)"
            #expect(await store.update(heads[updated]))
            let found = await store.find(key).variants
            #expect(found.map(\.variant) == ["3", "2", "1", "0"])
            #expect(found.first { $0.variant == "\(updated)" }?.headers["X-Round"] == "\(updated)")
            for head in found { #expect(await store.body(of: head)?.bytes == Data("body \(head.variant)".utf8)) }
            let part = try await store.body(of: heads[0])?.read(from: 5, upTo: .max)
            #expect(part == Data("0".utf8))
        }
        #expect(await store.remove(.entries([heads[1].id])) == 1)
        #expect(await store.find(key).variants.map(\.variant) == ["3", "2", "0"])
        #expect(await store.remove(.target(key.target)) == 3)
        #expect(await store.statistics().bytes == 0)
    }

    @Test("Negative limits count as 0")
    func negativeLimits() {
        #expect(HTTPCache.MemoryStore(bodyLimit: -1).bodyLimit == 0)
        #expect(HTTPCache.MemoryStore(byteLimit: -1, entryLimit: -1).bodyLimit == 0)
    }

    @Test
    func bodiesBeingWrittenAreBounded() async throws {
        let store = HTTPCache.MemoryStore(byteLimit: 1000, bodyLimit: 900)
        let time = Date(timeIntervalSinceReferenceDate: 0)
        func writer(_ name: String) async -> any HTTPCache.Entry.Writer {
            await store.write(
                HTTPCache.Entry(key: HTTPCache.Entry.Key(target: name), requestTime: time, responseTime: time),
                since: nil)
        }
        let first = await writer("a")
        let second = await writer("b")
        #expect(try await first.append(Data(count: 800)))
        #expect(try await !second.append(Data(count: 300)))
        first.abandon()
        let third = await writer("c")
        #expect(try await third.append(Data(count: 800)))
    }
}
