// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewTesting
import Foundation
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

    @Test
    func bodiesBeingWrittenAreBounded() async throws {
        let store = MemoryCacheStore(byteLimit: 1000, bodyLimit: 900)
        let time = Date(timeIntervalSinceReferenceDate: 0)
        func writer(_ name: String) async -> any CacheWriter {
            await store.write(StoredResponse(key: CacheKey(target: name), requestTime: time, responseTime: time))
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
