// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCaching

/// What has to hold for any messages in any order. A failure names its seed.
@Suite(.timeLimit(.minutes(1)))
struct CachePropertyTests {
    private static let directives = [
        "max-age=5", "max-age=0", "max-age=x", "no-cache", "no-store", "private", "public", "must-revalidate",
        "s-maxage=9",
        "stale-while-revalidate=5", "stale-if-error=5", "immutable", "no-cache=\"X-A\"", "max-stale", "max-stale=3",
        "min-fresh=2", "only-if-cached", "must-understand", "proxy-revalidate", "=,", "\"", "x=\"a",
    ]

    private static func control(_ random: inout SeededGenerator) -> String {
        (0..<Int.random(in: 0...4, using: &random)).compactMap { _ in directives.randomElement(using: &random) }
            .joined(separator: ",")
    }

    private static func answer(_ owner: String, _ random: inout SeededGenerator) -> HTTPResponse {
        var headers: HTTPHeaders = ["X-Owner": owner]
        headers[.cacheControl] = Bool.random(using: &random) ? "max-age=5, public" : control(&random)
        if Bool.random(using: &random) {
            headers[.eTag] = ["\"1\"", "W/\"1\"", "x", "\"2\""].randomElement(using: &random)
        }
        if Bool.random(using: &random) {
            headers[.vary] = ["X-A", "*", "Accept, X-A", ","].randomElement(using: &random)
        }
        if Bool.random(using: &random) { headers[.age] = ["0", "9", "-1", "3, 4", "x"].randomElement(using: &random) }
        if Int.random(in: 0..<4, using: &random) == 0 { headers["Expires"] = random.text(upTo: 30) }
        if Int.random(in: 0..<4, using: &random) == 0 { headers[.lastModified] = "Thu, 09 Nov 2023 00:00:00 GMT" }
        let status = [200, 200, 200, 206, 304, 404, 500, 302].randomElement(using: &random) ?? 200
        if status == 206 { headers[.contentRange] = "bytes 0-\(owner.utf8.count - 1)/100" }
        return .data(status == 304 ? Data() : Data(owner.utf8), status: HTTPStatus(status), headers: headers)
    }

    private static func options(_ random: inout SeededGenerator) -> HTTPCache.Policy {
        [.useProtocol, .useProtocol, .reload, .returnStaleElseLoad, .onlyIfCached, .noStore].randomElement(
            using: &random)
            ?? .useProtocol
    }

    /// Two principals, one client, random messages: no principal ever sees a byte or a field of the other's responses.
    @Test(arguments: 1...60)
    func twoPrincipalsNeverSeeEachOthersResponses(seed: UInt64) async throws {
        let random = Locked(SeededGenerator(seed: seed))
        let fixture = CacheFixture { call in
            let owner = call.request.headers[.authorization] ?? "nobody"
            return random.withLock { Self.answer(owner, &$0) }
        }
        for step in 0..<80 {
            let (user, headers, policy, method, path, wait) = random.withLock { random in
                var headers: HTTPHeaders = [:]
                if Bool.random(using: &random) { headers[.cacheControl] = Self.control(&random) }
                if Bool.random(using: &random) { headers["X-A"] = ["1", "2"].randomElement(using: &random) }
                if Int.random(in: 0..<4, using: &random) == 0 { headers[.range] = "bytes=0-2" }
                if Int.random(in: 0..<6, using: &random) == 0 { headers[.ifNoneMatch] = "\"1\"" }
                return (
                    ["Bearer ann", "Bearer bob", nil].randomElement(using: &random) ?? nil, headers,
                    Self.options(&random),
                    [HTTPMethod.get, .get, .get, .head, .post].randomElement(using: &random) ?? .get,
                    ["/", "/a"].randomElement(using: &random) ?? "/", Int.random(in: 0...4, using: &random)
                )
            }
            fixture.clock.advance(by: .seconds(wait))
            var all = headers
            all[.authorization] = user
            let response = try await fixture.send(method, path, headers: all) { $0.cachePolicy = policy }
            let owner = user ?? "nobody"
            let text = try await response.text()
            #expect(owner.hasPrefix(text), "seed \(seed), step \(step): \(owner) got \(text)")
            let named = response.headers["X-Owner"] ?? owner
            #expect(named == owner, "seed \(seed), step \(step): \(owner) got a field of \(named)")
        }
        try await fixture.cache.settle()
    }

    /// Whatever the fields, a response that is used without validation is fresh, or its staleness was allowed and is
    /// reported.
    @Test(arguments: 1...40)
    func whatIsServedUnaskedIsFreshOrAllowedToBeStale(seed: UInt64) async throws {
        let random = Locked(SeededGenerator(seed: seed))
        let fixture = CacheFixture { _ in random.withLock { Self.answer("body", &$0) } }
        for step in 0..<60 {
            let (control, wait) = random.withLock { (Self.control(&$0), Int.random(in: 0...6, using: &$0)) }
            fixture.clock.advance(by: .seconds(wait))
            let response = try await fixture.send(headers: [.cacheControl: control])
            _ = try await response.text()
            let age = Int(response.headers[.age] ?? "") ?? 0
            switch response.served {
            case .cache(let told, let left):
                #expect(told >= .zero && left >= .zero, "seed \(seed), step \(step): \(control)")
                #expect(!CacheControl(response.headers).isUnqualified("no-cache"), "seed \(seed), step \(step)")
                #expect(!CacheControl(control).contains("no-cache"), "seed \(seed), step \(step)")
            case .stale(let because):
                #expect(!because.isEmpty && age > 0, "seed \(seed), step \(step): \(because)")
                #expect(!CacheControl(response.headers).contains("must-revalidate"), "seed \(seed), step \(step)")
            case .refused:
                #expect(response.status == .gatewayTimeout, "seed \(seed), step \(step)")
            default: break
            }
        }
        try await fixture.cache.settle()
    }

    /// 100,000 entries: the limit holds at any time, and what is found is what was stored.
    @Test
    func aLargeStoreHoldsItsLimit() async throws {
        let limit: Int64 = 6 << 20
        let store = HTTPCache.MemoryStore(byteLimit: limit, entryLimit: 100_000)
        let time = Date(timeIntervalSinceReferenceDate: 0)
        for number in 0..<10_000 {
            let key = HTTPCache.Entry.Key(target: "https://api.example/\(number)")
            let writer = await store.write(
                HTTPCache.Entry(key: key, requestTime: time, responseTime: time), since: nil)
            _ = try await writer.append(Data("\(number)".utf8))
            _ = try await writer.commit(replacing: [])
            if number % 100 == 0 { #expect(await store.statistics().bytes <= limit) }
        }
        let statistics = await store.statistics()
        #expect(statistics.bytes <= limit)
        #expect(statistics.bytes >= limit * 95 / 100)
        let last = try #require(
            await store.find(HTTPCache.Entry.Key(target: "https://api.example/9999")).variants.first)
        #expect(await store.body(of: last)?.bytes == Data("9999".utf8))
    }
}
