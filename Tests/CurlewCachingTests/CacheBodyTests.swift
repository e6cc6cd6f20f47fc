// SPDX-License-Identifier: MIT

import CurlewCaching
import Testing

/// Bodies on their way through the cache.
@Suite(.timeLimit(.minutes(1)))
struct CacheBodyTests {
    private static let fresh: HTTPHeaders = [.cacheControl: "max-age=60"]

    private static func fixture(_ chunks: CountedChunks, rules: HTTPCache.Options = .standard) -> CacheFixture {
        CacheFixture(rules: rules) { _ in HTTPResponse(headers: fresh, body: ResponseBody(chunks)) }
    }

    @Test
    func aBodyIsStoredWhenItIsReadToItsEnd() async throws {
        let chunks = CountedChunks(10, of: 1000)
        let fixture = Self.fixture(chunks)
        let first = try await fixture.send { $0.streaming = true }
        #expect(first.cacheStatus.isKept)
        #expect(try await fixture.entries == 0)
        let bytes = try await first.data()
        #expect(bytes.count == 10_000)
        #expect(try await fixture.entries == 1)
        let second = try await fixture.send()
        #expect(try await second.data() == bytes)
        #expect(fixture.transport.requestCount == 1)
        #expect(second.served == .cache(age: .zero, freshFor: .seconds(60)))
    }

    @Test
    func theReaderSetsThePace() async throws {
        let chunks = CountedChunks(100, of: 10)
        let fixture = Self.fixture(chunks)
        var iterator = try await fixture.send().body.makeAsyncIterator()
        #expect(chunks.taken == 0)
        for number in 1...5 {
            _ = try await iterator.next()
            #expect(chunks.taken == number)
        }
    }

    @Test
    func aReaderThatStopsLeavesNothingBehind() async throws {
        let fixture = Self.fixture(CountedChunks(100, of: 10))
        do {
            let body = try await fixture.send().body
            var iterator = body.makeAsyncIterator()
            _ = try await iterator.next()
        }
        #expect(try await fixture.entries == 0)
        let body = try await fixture.send().body
        var iterator = body.makeAsyncIterator()
        _ = try await iterator.next()
        body.cancel()
        #expect(try await fixture.entries == 0)
        // What was written for them counts no more.
        let store = try #require(fixture.store as? HTTPCache.MemoryStore)
        #expect(await store.statistics().bytes == 0)
    }

    @Test
    func aReaderThatIsCancelledLeavesNothingBehind() async throws {
        let (started, go) = AsyncStream.makeStream(of: Void.self)
        let fixture = CacheFixture { _ in
            let body = AsyncThrowingStream<Data, any Error> { stream in
                stream.yield(Data("begin".utf8))
                go.yield()
            }
            return HTTPResponse(headers: Self.fresh, body: ResponseBody(body))
        }
        let reader = Task { try await fixture.send().data() }
        for await _ in started { break }
        reader.cancel()
        _ = await reader.result
        #expect(try await fixture.entries == 0)
    }

    @Test
    func aBodyOverTheLimitPassesAndIsNotStored() async throws {
        var rules = HTTPCache.Options()
        rules.bodyLimit = 999
        for count in [10, 9] {
            let fixture = Self.fixture(CountedChunks(count, of: 111), rules: rules)
            #expect(try await fixture.send().data().count == count * 111)
            #expect(try await fixture.entries == (count == 9 ? 1 : 0))
        }
        let declared = CacheFixture(rules: rules) { _ in
            HTTPResponse(headers: Self.fresh, body: ResponseBody(CountedChunks(10, of: 100), length: 1000))
        }
        let response = try await declared.send()
        #expect(!response.cacheStatus.isKept)
        #expect(response.cacheStatus.reason.contains("larger"))
    }

    @Test
    func theLimitOfTheCallHoldsForWhatIsStored() async throws {
        let fixture = Self.fixture(CountedChunks(10, of: 100))
        _ = try await fixture.send().data()
        let limited = try await fixture.send { $0.limits = Limits(responseBody: 999) }
        await #expect(throws: NetworkError.self) { try await limited.data() }
        #expect(fixture.transport.requestCount == 1)
    }

    @Test("A store that returns too few bytes of a range is reported with the place and the numbers")
    func shortRange() async throws {
        let body = Data(repeating: 1, count: 400_000)
        let fixture = CacheFixture(store: ShortStore()) { _ in
            .data(body, headers: [.cacheControl: "max-age=60", .contentLength: "\(body.count)"])
        }
        #expect(try await fixture.send().data() == body)
        let part = try await fixture.send(headers: [.range: "bytes=100000-299999"])
        let error = await #expect(throws: NetworkError.self) { try await part.data() }
        #expect(error?.reason == .storage)
        #expect(error?.detail.contains("0 bytes at offset 200000 ") == true, "\(error?.detail ?? "")")
        #expect(error?.detail.contains("100000 bytes are left") == true, "\(error?.detail ?? "")")
    }

    @Test
    func bytesAtHandAreStoredWithoutReading() async throws {
        let fixture = CacheFixture { _ in .text("hand").with(Self.fresh) }
        let response = try await fixture.send()
        #expect(try await fixture.entries == 1)
        #expect(try await response.text() == "hand")
    }

    /// A change that is done while an older response is on its way keeps that response out of the store.
    @Test
    func aResponseOvertakenByAChangeIsNotStored() async throws {
        let (asked, ask) = AsyncStream.makeStream(of: Void.self)
        let (answers, answer) = AsyncStream.makeStream(of: Void.self)
        let fixture = CacheFixture { call in
            guard call.request.method == .get else { return .status(204) }
            ask.yield()
            for await _ in answers { break }
            return .text("old").with(Self.fresh)
        }
        let get = Task { try await fixture.send() }
        for await _ in asked { break }
        _ = try await fixture.send(.put)
        answer.yield()
        let response = try await get.value
        #expect(try await response.text() == "old")
        #expect(response.cacheStatus.reason.contains("invalidated"))
        #expect(try await fixture.entries == 0)
    }

    @Test
    func aChangeWhileTheBodyIsReadKeepsItOutToo() async throws {
        let fixture = CacheFixture { call in
            guard call.request.method == .get else { return .status(204) }
            return HTTPResponse(headers: Self.fresh, body: ResponseBody(CountedChunks(3, of: 10)))
        }
        let response = try await fixture.send()
        _ = try await fixture.send(.delete)
        #expect(try await response.data().count == 30)
        #expect(try await fixture.entries == 0)
    }

    @Test
    func largeStoredBodiesAreReadInPieces() async throws {
        // A store that gives no bytes at once reads like one on a disk.
        let fixture = CacheFixture(store: FailingStore(.remove)) { _ in
            .data(Data(repeating: 7, count: 300_000)).with(Self.fresh)
        }
        _ = try await fixture.send()
        var sizes: [Int] = []
        for try await chunk in try await fixture.send().body { sizes.append(chunk.count) }
        #expect(sizes == [65_536, 65_536, 65_536, 65_536, 37_856])
        #expect(fixture.transport.requestCount == 1)
    }
}

extension HTTPResponse {
    fileprivate func with(_ headers: HTTPHeaders) -> HTTPResponse {
        var copy = self
        copy.headers = copy.headers.merging(headers, replacing: true)
        return copy
    }
}

/// A store whose bodies end after 200,000 bytes, although they are longer. It has no bytes at hand.
private struct ShortStore: StoreOverMemory {
    let memory = HTTPCache.MemoryStore()

    func body(of response: HTTPCache.Entry) async throws -> (any HTTPCache.Entry.Body)? {
        await memory.body(of: response).map(Body.init)
    }

    private struct Body: HTTPCache.Entry.Body {
        let inner: any HTTPCache.Entry.Body
        var length: Int64 { inner.length }

        func read(from offset: Int64, upTo count: Int) async throws -> Data {
            try await inner.read(from: offset, upTo: min(count, max(0, 200_000 - Int(offset))))
        }

        func close() { inner.close() }
    }
}
