// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCaching
@testable import CurlewCore

/// What a client declares as secret, in what its cache keeps and in what the cache says of its store.
@Suite(.timeLimit(.minutes(1)))
struct StoredSecretTests {
    static let canary = "hunter2"
    static let rules = Redaction.Rules(
        harmless: ["X-Partition-Session"], secret: ["X-Device"], secretMembers: ["appid"], secretPaths: ["/bot*"])

    private func stored(_ rules: Redaction.Rules = rules) -> HTTPCache.Entry {
        let key = HTTPCache.Entry.Key(
            target: "https://a.test/bothunter2/x?appid=hunter2", content: "QUERY 9f", principal: "holder-1",
            secrets: DeclaredSecrets(rules))
        return HTTPCache.Entry(
            key: key, headers: ["X-Device": Self.canary, "X-Partition-Session": "seven"], requestTime: Date(),
            responseTime: Date())
    }

    @Test("A stored response, its key and its fields show no secret, also in the next process")
    func descriptions() throws {
        let here = stored()
        let there = try #require(HTTPCache.Entry(encoded: here.encoded))
        #expect(there == here)
        for response in [here, there] {
            let text = [response, response.key, response.headers, response.headers[0]].map(everyText).joined()
            #expect(!text.contains(Self.canary), "\(text)")
            #expect(
                "\(response)"
                    == "200 OK for https://a.test/botREDACTED/x?appid=REDACTED, QUERY 9f, for one principal, 0 bytes")
            #expect("\(response.headers)".contains("X-Partition-Session: seven"))
            #expect(response.key.target.contains(Self.canary) && response.headers["X-Device"] == Self.canary)
        }
    }

    @Test("Declared secrets are in no key or response, and damaged bytes of one are no head")
    func equality() throws {
        let (declared, plain) = (stored(), stored(Redaction.Rules()))
        #expect(declared.key == plain.key && Set([declared.key, plain.key]).count == 1)
        #expect(plain.encoded.count < declared.encoded.count)
        for count in plain.encoded.count + 1..<declared.encoded.count {
            #expect(HTTPCache.Entry(encoded: declared.encoded.prefix(count)) == nil)
        }
    }

    @Test("A declared field under Vary is a hash in the variant, and a harmless one is plain")
    func variant() throws {
        for (name, isShown) in [
            ("X-Device", false), ("X-Partition-Session", true), ("X-Other", true), ("X-Key", false),
        ] {
            var headers: HTTPHeaders = [HTTPField.Name(name): Self.canary]
            DeclaredSecrets(Self.rules).declare(in: &headers)
            let text = try #require(CacheVariant.text(for: headers, [.vary: name]))
            #expect(text.contains(Self.canary) == isShown, "\(name)")
        }
    }

    @Test("An interceptor that makes the request again reveals no secret to the store")
    func madeAnew() async throws {
        let store = HTTPCache.MemoryStore()
        let anew = BuiltInInterceptor.onRequest(at: .redirects, changesPrincipal: false) { request, _ in
            request = try HTTPRequest(url: request.urlString, headers: HTTPHeaders(request.headers.map { $0 }))
        }
        let client = APIClient.mock(
            pipeline: Pipeline.standard.adding(anew).adding(.caching(store: store)),
            configuration: .init(fields: Self.rules)
        ) {
            $0.onAny { _ in .status(200, headers: [.cacheControl: "max-age=60", .vary: "X-Device"]) }
        }
        try await client.send(Request<HTTPResponse>(.get, "/bothunter2").header("X-Device", Self.canary))
        let seen = Locked<[String]>([])
        _ = await store.remove(
            .matching { entry in
                seen.withLock { $0.append(everyText(of: entry) + entry.variant) }
                return true
            })
        let text = seen.withLock { $0.joined() }
        #expect(text.contains("botREDACTED") && !text.contains(Self.canary), "\(text)")
    }

    /// Fails with what it was asked.
    private struct TalkativeStore: HTTPCache.Store {
        struct Failure: Error, CustomStringConvertible {
            let description: String
        }
        let isOurs: Bool
        var isLasting: Bool { false }
        var bodyLimit: Int64 { 1 << 20 }

        func failure(_ key: HTTPCache.Entry.Key) -> any Error {
            let text = "no entry for \(key.target), X-Device: hunter2"
            return isOurs ? NetworkError(.storage, detail: text, hint: text) : Failure(description: text)
        }

        func find(_ key: HTTPCache.Entry.Key) async throws -> HTTPCache.Entry.Lookup { throw failure(key) }
        func body(of response: HTTPCache.Entry) async throws -> (any HTTPCache.Entry.Body)? {
            throw failure(response.key)
        }
        func write(_ response: HTTPCache.Entry, since epoch: HTTPCache.Entry.Lookup.Epoch?) async throws
            -> any HTTPCache.Entry.Writer
        {
            throw failure(response.key)
        }
        func update(_ response: HTTPCache.Entry) async throws -> Bool { throw failure(response.key) }
        func remove(_ selection: HTTPCache.Removal) async throws -> Int { throw Failure(description: "\(selection)") }
        func statistics() async throws -> HTTPCache.Statistics { HTTPCache.Statistics() }
    }

    @Test("The error of a store is shown without the secret", arguments: [false, true])
    func storeErrors(isOurs: Bool) async throws {
        let page = EveryTextObserver()
        let client = APIClient.mock(
            pipeline: Pipeline.standard.adding(.caching(store: TalkativeStore(isOurs: isOurs))),
            configuration: .init(observers: [page], fields: Self.rules)
        ) {
            $0.onAny { _ in .status(200, headers: [.cacheControl: "max-age=60"]) }
        }
        try await client.send(Request<HTTPResponse>(.get, "/bothunter2/x").query(["appid": Self.canary]))
        #expect(page.text.contains("no entry for https://mock.test/botREDACTED/x?appid=REDACTED"))
        #expect(!page.text.contains(Self.canary))
    }
}
