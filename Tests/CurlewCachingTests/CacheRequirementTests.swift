// SPDX-License-Identifier: MIT

import ConformanceCases
import Testing

@Suite(.timeLimit(.minutes(1)))
struct CacheRequirementTests {
    @Test(arguments: CacheSuite.requirements)
    func everyRequirementIsMet(_ one: CacheCase) async throws {
        try await one.run(on: .memory)
    }

    @Test
    func namesAreUnique() {
        let names = CacheSuite.requirements.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(names.count > 100)
    }
}
