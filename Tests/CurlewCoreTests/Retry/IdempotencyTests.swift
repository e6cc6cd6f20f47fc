// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCore

/// What may be repeated, and the key that makes it so.
@Suite(.timeLimit(.minutes(1)))
struct IdempotencyTests {
    let bench = RetryBench()

    static func keys(of client: APIClient) -> [String?] {
        client.recordedCalls.map { $0.request.headers[.idempotencyKey] }
    }

    @Test("A key is made once for the call, and kept over attempts and redirects")
    func kept() async throws {
        let client = bench.client(around: [.redirects()]) {
            $0.on(
                .post, "/a",
                RetryBench.answers([.failure(RetryBench.lost), .success(.status(307, headers: [.location: "/b"]))]))
            $0.on(.post, "/b", RetryBench.answers([.success(.status(503)), .success(.status(201))]))
        }
        let request = Request<HTTPResponse>(.post, "/a").options { $0.sendsIdempotencyKey = true }
        for _ in 0..<2 {
            let (result, _) = try await bench.waits(of: client, request)
            #expect(try result.get().status == 201 || Self.keys(of: client).count > 4)
        }
        let keys = Self.keys(of: client)
        let first = try #require(keys[0])
        #expect(first.count == 36)
        #expect(keys.prefix(4).allSatisfy { $0 == first })
        #expect(keys.count > 4 && keys[4] != first, "another call has another key")
    }

    @Test("Only methods that need a key get one, or all on request; the caller's own wins")
    func scope() async throws {
        var options = RequestOptions()
        options.sendsIdempotencyKey = true
        let client = bench.client { $0.onAny { _ in .status(204) } }.with(options: options)
        try await client.send(Request<Void>.get("/"))
        try await client.send(Request<Void>.put("/"))
        try await client.send(Request<Void>.post("/").header(.idempotencyKey, "mine"))
        try await client.send(Request<Void>.post("/").options { $0.sendsIdempotencyKey = false })
        try await client.send(Request<Void>.patch("/"))
        let keys = Self.keys(of: client)
        #expect(keys.prefix(4) == [nil, nil, "mine", nil])
        #expect(keys[4]?.count == 36)
    }

    @Test(
        "A POST without a key reaches the transport once, unless it cannot have arrived",
        arguments: RetryPolicyTests.reasons.map(\.0) + RetryPolicyTests.statuses.map { .status(HTTPStatus($0)) })
    func once(reason: NetworkError.Reason) async throws {
        let client = bench.client(.attempts(5).with { $0.backoff = .constant(.zero) }) { mock in
            mock.onAny { _ in
                if case .status(let status) = reason { return .status(status, headers: ["X-Should-Retry": "true"]) }
                throw NetworkError(reason)
            }
        }
        _ = await client.failure(Request<Void>.post("/"))
        let isHarmless = reason.mayPass && reason.notReceived
        #expect(client.recordedCalls.count == (isHarmless ? 5 : 1))
        let keyed = Request<Void>.post("/").header(.idempotencyKey, "k").options { $0.isIdempotent = false }
        let before = client.recordedCalls.count
        _ = await client.failure(keyed)
        #expect(client.recordedCalls.count - before == (isHarmless ? 5 : 1), "the route's word counts more than a key")
    }
}
