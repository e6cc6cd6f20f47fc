// SPDX-License-Identifier: MIT

import ConformanceCases
import CurlewCaching
import CurlewCore
import CurlewHTTP
import CurlewTesting
import Foundation
import Testing

/// No user gets another user's response from the cache, whatever makes a call that user's call.
@Suite(.timeLimit(.minutes(2)))
struct CacheIdentityTests {
    @Test("two users, two clients on one store, each way to say who asks")
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
}
