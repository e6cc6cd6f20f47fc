// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import Foundation
import Testing

#if os(Linux)
import FoundationNetworking
#endif

/// The snippets of "Recording and replay".
#if os(Linux)
private func replay() async throws {
    let cassette = try Cassette("Fixtures/users.har", recording: CurlTransport())
    let client = APIClient(baseURL: "https://api.example.com", pipeline: .standard, transport: cassette)
    #expect(try await client.send(.user(id: 1)).firstName == "Ada")
    try await cassette.finish()  // saves what was recorded; throws if an entry was not used
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

private func session() async throws -> Data {
    let server = try MockServer(replaying: try Cassette("Fixtures/users.har"))
    let url = try #require(URL(string: server.url + "/users/1"))
    let (data, _) = try await URLSession.shared.data(from: url)
    return data
}
