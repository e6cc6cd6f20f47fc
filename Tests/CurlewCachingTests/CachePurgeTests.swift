// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCaching
@testable import CurlewCore

/// What a store evicts, and how it can be configured.
@Suite(.timeLimit(.minutes(1)))
struct CachePurgeTests {
    private static func put(
        _ target: String, _ count: Int = 10, at time: Date = Date(timeIntervalSince1970: 1000),
        in store: HTTPCache.MemoryStore
    ) async throws {
        let response = HTTPCache.Entry(key: HTTPCache.Entry.Key(target: target), requestTime: time, responseTime: time)
        let writer = await store.write(response, since: nil)
        _ = try await writer.append(Data(count: count))
        _ = try await writer.commit(replacing: [])
    }

    private static func has(_ target: String, _ store: HTTPCache.MemoryStore) async -> Bool {
        await !store.find(HTTPCache.Entry.Key(target: target)).variants.isEmpty
    }

    @Test("remove(.unchecked(since:)) removes by age, and remove(.origin) by origin")
    func removals() async throws {
        let store = HTTPCache.MemoryStore()
        for (number, seconds) in [100.0, 200, 300].enumerated() {
            try await Self.put("https://a.test/\(number)", at: Date(timeIntervalSince1970: seconds), in: store)
            try await Self.put("https://a.test.b/\(number)", at: Date(timeIntervalSince1970: seconds), in: store)
        }
        #expect(await store.remove(.unchecked(since: Date(timeIntervalSince1970: 200))) == 2)
        let origin = try #require(Origin(scheme: "https", host: "a.test"))
        #expect(await store.remove(.origin(origin)) == 2)
        #expect(await Self.has("https://a.test.b/2", store))
    }

    @Test("The least recently used entry is evicted")
    func leastRecentlyUsed() async throws {
        let store = HTTPCache.MemoryStore(entryLimit: 100)
        for number in 0..<100 { try await Self.put("https://one.test/\(number)", in: store) }
        #expect(await store.statistics().entries == 100)
        let first = await store.find(HTTPCache.Entry.Key(target: "https://one.test/0")).variants
        _ = await store.body(of: try #require(first.first))
        for number in 100..<199 { try await Self.put("https://one.test/\(number)", in: store) }
        #expect(await Self.has("https://one.test/0", store), "it was used")
        #expect(await !Self.has("https://one.test/1", store))
    }

    @Test("In any order of operations, limits hold", arguments: UInt64(1)...30)
    func random(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let store = HTTPCache.MemoryStore(byteLimit: 100_000, entryLimit: 40, bodyLimit: 8000)
        for _ in 0..<400 {
            let target = "https://a.test/\(Int.random(in: 0..<200, using: &random))"
            if Int.random(in: 0..<6, using: &random) == 0 {
                await store.remove(.target(target))
            } else {
                try await Self.put(target, Int.random(in: 0...8000, using: &random), in: store)
                #expect(await Self.has(target, store), "seed \(seed): the newest entry is not evicted")
            }
            let statistics = await store.statistics()
            #expect(statistics.bytes <= 100_000 && statistics.entries <= 40, "seed \(seed)")
        }
        #expect(await store.statistics().evicted > 100)
    }

    @Test("A store can be told to hold less temporarily, and memory pressure does the same")
    func relief() async throws {
        let store = HTTPCache.MemoryStore()
        for number in 0..<20 { try await Self.put("https://a.test/\(number)", 10_000, in: store) }
        let before = await store.statistics().bytes
        #expect((15...16).contains(store.trim(to: before / 4)))
        #expect(await store.statistics().bytes <= before / 4)
        #expect(await Self.has("https://a.test/19", store))
        let rest = await store.statistics().bytes
        store.trim(.warning)
        #expect(await store.statistics().bytes <= rest / 2)
        store.trim(.critical)
        #expect(await store.statistics().entries == 0)
        #expect(store.takeEvictionCount() == 20 && store.takeEvictionCount() == 0)
        #expect(store.trim(to: -1) == 0)
    }

    @Test("Observers receive the number of evicted entries, once for each stored response")
    func event() async throws {
        let counts = EventLog { event, _ -> Int? in
            if case .feature(HTTPCache.Event.evicted(let count)) = event { count } else { nil }
        }
        let store = HTTPCache.MemoryStore(byteLimit: 40_000, bodyLimit: 30_000)
        let cache = CacheInterceptor(store: store)
        let transport = MockTransport.answering { call in
            .data(
                Data(count: call.request.target == "/large" ? 30_000 : 10), headers: [.cacheControl: "max-age=60"])
        }
        let client = APIClient.testing(
            transport, baseURL: "https://api.test", pipeline: Pipeline([cache]), observers: [counts])
        for number in 0..<20 { _ = try await client.send(Request<Data>.get("/small/\(number)")) }
        #expect(counts.entries.isEmpty)
        _ = try await client.send(Request<Data>.get("/large"))
        let evicted = await store.statistics().evicted
        #expect(evicted > 5 && counts.entries == [Int(evicted)])
    }
}
