// SPDX-License-Identifier: MIT

import ConformanceCases
import Testing

/// The cases that are about messages, on the transport that has no wire.
@Suite(.timeLimit(.minutes(1)))
struct MockConformanceTests {
    @Test("MockTransport conforms, as far as a case applies to it", arguments: ConformanceEngine.mock.cases)
    func conforms(_ conformanceCase: ConformanceCase) async throws {
        try await conformanceCase.run(on: .mock, in: ConformanceEnvironment())
    }
}
