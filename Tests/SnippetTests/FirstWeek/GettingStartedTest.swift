// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct GettingStartedTest {
    @Test func findsEmily() async throws {
        let client = APIClient.mock { $0.on(.get, "/users/:id") { _ in #"{"id": 1, "firstName": "Emily"}"# } }
        #expect(try await client.send(.user(id: 1)).firstName == "Emily")
        #expect(client.recordedCalls.map(\.path) == ["/users/1"])
    }
}
