// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewTesting
import TestServers
import Testing

@testable import CurlewSQLite

/// No user gets another user's response from a store on disk, also not from a store that is opened again.
@Suite(.timeLimit(.minutes(2)))
struct IdentityTests {
    @Test("two users, a store and the next one on its file, each way to say who asks")
    func leaks() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/cache.sqlite"
        var (calls, leaks) = (0, [String]())
        for round in [["ann", "bob"], ["bob"]] {
            let cache = CacheInterceptor(
                store: SQLiteCacheStore(path: path, byteLimit: 1 << 30, entryLimit: 100_000))
            for (number, way) in IdentityWay.all.enumerated() {
                await Task.yield()
                let transport = way.server(number.isMultiple(of: 3) ? "public" : "private")
                let shared = way.client(over: cache, transport)
                for user in round {
                    calls += 1
                    let answer = try await IdentityWay.$user.withValue(user) {
                        let client = way.source == .client ? way.client(over: cache, transport) : shared
                        return try await client.send(way.call(to: "/\(number)"))
                    }
                    if answer != user { leaks.append("\(way): \(user) got the response of \(answer)") }
                }
            }
        }
        #expect(calls == (16 * 2 * 2 + 2) * 60 * 3)
        #expect(leaks.count == 0, "\(leaks.count) leaks in \(calls) calls; first: \(leaks.prefix(3))")
    }
}
