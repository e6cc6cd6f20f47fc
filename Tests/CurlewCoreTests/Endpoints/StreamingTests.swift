// SPDX-License-Identifier: MIT

import Testing

@Suite(.timeLimit(.minutes(1)))
struct StreamingTests {
    struct Mine: Error {}

    func client(_ source: ChunkSource, _ status: HTTPStatus = .ok) -> APIClient {
        .testing(
            ClosureTransport { _, context in
                #expect(context.options.streaming == true)
                return HTTPResponse(status: status, body: ResponseBody(source, limit: 1_000_000, length: nil))
            })
    }

    @Test func chunksArriveOneByOne() async throws {
        let source = ChunkSource([Data("a".utf8), Data("b".utf8)])
        let chunks = try await client(source).withResponse(to: Request<Data>.get("/export")) { response in
            var chunks: [String] = []
            for try await chunk in response.body { chunks.append(String(decoding: chunk, as: UTF8.self)) }
            return chunks
        }
        #expect(chunks == ["a", "b"])
    }

    @Test func unreadBytesAreCancelledOnReturn() async throws {
        let source = ChunkSource([Data("a".utf8)], waitsAtEnd: true)
        let kept = try await client(source).withResponse(to: PeopleAPI.list) { response in
            var iterator = response.body.makeAsyncIterator()
            _ = try await iterator.next()
            return response.body
        }
        #expect(source.wasCancelled)
        #expect(kept.declaredLength == nil)
    }

    @Test func theCallersOwnErrorsPassThroughAndEndTheTransfer() async throws {
        let source = ChunkSource([Data("a".utf8)], waitsAtEnd: true)
        await #expect(throws: Mine.self) {
            try await client(source).withResponse(to: PeopleAPI.list) { _ in throw Mine() }
        }
        #expect(source.wasCancelled)
    }

    @Test func theStatusIsCheckedUnlessTheCallTakesEveryStatus() async throws {
        let source = ChunkSource([Data("gone".utf8)])
        let error = await #expect(throws: NetworkError.self) {
            try await client(source, .notFound).withResponse(to: Request<Data>.get("/x", name: "export")) { _ in }
        }
        #expect(error?.isNotFound == true)
        #expect(error?.response?.body == Data("gone".utf8))
        #expect(error?.routeName == "export")
        let status = try await client(ChunkSource([Data]()), .notFound)
            .withResponse(to: Request<HTTPResponse>(.get, "/x")) { $0.status }
        #expect(status == .notFound)
    }

    @Test func errorsOfTheBodyAreToldTheirRequest() async throws {
        let client = APIClient.testing(
            ClosureTransport { _, _ in
                HTTPResponse(body: ResponseBody(ChunkSource([Data(count: 10)]), limit: 5, length: nil))
            })
        let error = await #expect(throws: NetworkError.self) {
            try await client.withResponse(to: PeopleAPI.list) { try await $0.data() }
        }
        #expect(error?.reason == .limitExceeded(.responseBody))
        #expect(error?.request?.url == "https://api.example/v1/people")
        #expect(error?.routeName == "PeopleAPI")
    }

    @MainActor @Test func theBodyRunsOnTheCallersActor() async throws {
        var count = 0
        try await client(ChunkSource([Data(count: 3)])).withResponse(to: PeopleAPI.list) { response in
            MainActor.assertIsolated()
            for try await chunk in response.body { count += chunk.count }
        }
        #expect(count == 3)
    }
}
