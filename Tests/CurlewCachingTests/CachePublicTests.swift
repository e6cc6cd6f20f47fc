// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCaching

/// Responses that the server marks `public`: a server can be wrong about one user's data.
@Suite(.timeLimit(.minutes(1)))
struct CachePublicTests {
    @Test(
        "A public response belongs to the principal that requested it",
        arguments: [200, 404],
        ["public, max-age=60", "public, s-maxage=60, max-age=60", "public, immutable, max-age=60"])
    func twoUsers(status: Int, control: String) async throws {
        let fixture = CacheFixture { call in
            .data(
                Data((call.request.headers[.authorization] ?? "none").utf8), status: HTTPStatus(status),
                headers: [.cacheControl: control])
        }
        for user in ["ada", "bob", "ada", "bob"] {
            #expect(try await fixture.text(headers: [.authorization: user]) == user)
        }
        #expect(fixture.transport.requestCount == 2)
    }
}
