// SPDX-License-Identifier: MIT

import ConformanceCases
import CurlewAuthentication
import CurlewCaching
import TestServers
import Testing

@testable import CurlewSQLite

/// No user gets another user's response from a store on disk, also not from a store that is opened again.
@Suite(.timeLimit(.minutes(2)))
struct IdentityTests {
    @Test("Two users of a store and its successor share nothing, by each kind of identity")
    func leaks() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/cache.sqlite"
        var (calls, leaks) = (0, [String]())
        for round in [["ann", "bob"], ["bob"]] {
            let cache = CacheInterceptor(
                store: HTTPCache.SQLiteStore(path: path, byteLimit: 1 << 30, entryLimit: 100_000))
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
        #expect(calls == (Placement.allCases.count * 2 * 2 + 2) * 60 * 3)
        #expect(leaks.count == 0, "\(leaks.count) leaks in \(calls) calls; first: \(leaks.prefix(3))")
    }

    @Test("After a restart each credential finds its user's responses again, and no others")
    func restart() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/cache.sqlite"
        var (calls, leaks, hits) = (0, [String](), Set<CredentialWay.Kind>())
        for round in [["ann", "bob"], ["bob", "ann"]] {
            let cache = CacheInterceptor(
                store: HTTPCache.SQLiteStore(path: path, byteLimit: 1 << 30, entryLimit: 100_000))
            for (number, way) in CredentialWay.all.enumerated() {
                await Task.yield()
                for user in round {
                    calls += 1
                    try await IdentityWay.$user.withValue(user) {
                        let (client, call) = try await way.client(
                            through: cache, .init(number.isMultiple(of: 3) ? "public" : "private"), path: "/\(number)")
                        let response = try await client.response(for: call)
                        if response.value != user { leaks.append("\(way): \(user) got that of \(response.value)") }
                        if case .cache = response.served, way.placement == nil { hits.insert(way.kind) }
                    }
                }
            }
        }
        #expect(calls == CredentialWay.all.count * 4)
        #expect(leaks.isEmpty, "\(leaks.count) leaks in \(calls) calls; first: \(leaks.prefix(3))")
        // Without a name the owner of a token or signature is unknown; a sign-in of another process is another
        // principal.
        #expect(Set(CredentialWay.Kind.allCases).subtracting(hits) == [.bearer, .signature, .tokens])
    }

    @Test("The key of a store is made once, for its owner, and not used when others can read it")
    func key() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/deep/cache.sqlite"
        let keys = (0..<8).map { _ in HTTPCache.SQLiteStore(path: path).principalKey }
        #expect(keys[0]?.count == 32 && Set(keys).count == 1)
        let facts = try FileManager.default.attributesOfItem(atPath: path + "-key")
        #expect((facts[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/deep") == ["cache.sqlite-key"])
        for spoil in [
            { try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path + "-key") },
            { try Data("short".utf8).write(to: URL(fileURLWithPath: path + "-key")) },
        ] {
            let before = HTTPCache.SQLiteStore(path: path).principalKey
            try spoil()
            let after = HTTPCache.SQLiteStore(path: path).principalKey
            #expect(after?.count == 32 && after != before)
            #expect(HTTPCache.SQLiteStore(path: path).principalKey == after)
        }
        #expect(HTTPCache.SQLiteStore(path: "/dev/null/cache.sqlite").principalKey == nil)
    }

    @Test("Stores that begin at the same time have one key")
    func oneKey() async throws {
        for _ in 0..<50 {
            let path = try TemporaryFolder().path + "/cache.sqlite"
            let keys = await withTaskGroup(of: Data?.self) { group in
                for _ in 0..<8 { group.addTask { HTTPCache.SQLiteStore(path: path).principalKey } }
                return await group.reduce(into: Set<Data?>()) { $0.insert($1) }
            }
            #expect(keys.count == 1)
        }
    }
}
