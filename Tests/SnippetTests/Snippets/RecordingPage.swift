// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import Foundation
import Testing

/// The snippets of "Recording and replay".
#if os(Linux)
private func replay() async throws {
    let cassette = try Cassette("Fixtures/users.har", recording: CurlTransport())
    let client = APIClient(baseURL: "https://api.example.com", pipeline: .standard, transport: cassette)
    #expect(try await client.send(.user(id: 1)).firstName == "Ada")
    try await cassette.finish()  // saves; throws if an entry was not used
}
#endif

private func matching() -> Cassette.Options {
    var options = Cassette.Options()
    options.matching.fields = ["Accept-Language"]
    options.matching.ignoredQueryItems = ["timestamp"]
    options.exhaustion = .repeatLast  // the last response again, not an error
    options.redaction = .standard.adding(Redaction.Rules(secretMembers: ["nonce"]))  // hidden, so it may change
    return options
}
