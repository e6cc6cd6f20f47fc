// SPDX-License-Identifier: MIT

import ConformanceCases
import Testing

@testable import CurlewCaching

/// No user gets another user's response from the cache, whatever makes a call that user's call.
@Suite(.timeLimit(.minutes(2)))
struct CacheIdentityTests {
    @Test("Two users of two clients on one store share nothing, by each kind of identity")
    func leaks() async throws {
        var (calls, leaks) = (0, [String]())
        for (number, way) in IdentityWay.all.enumerated() {
            await Task.yield()
            let cache = CacheInterceptor(store: HTTPCache.MemoryStore())
            let transport = way.server(number.isMultiple(of: 3) ? "public" : "private")
            for users in [["ann", "bob"], ["bob"]] {
                let shared = way.client(over: cache, transport)
                for user in users {
                    calls += 1
                    let answer = try await IdentityWay.$user.withValue(user) {
                        let client = way.source == .client ? way.client(over: cache, transport) : shared
                        return try await client.send(way.call())
                    }
                    if answer != user { leaks.append("\(way): \(user) got the response of \(answer)") }
                }
            }
        }
        #expect(calls == (Placement.allCases.count * 2 * 2 + 2) * 60 * 3)
        #expect(leaks.count == 0, "\(leaks.count) leaks in \(calls) calls; first: \(leaks.prefix(3))")
    }

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
