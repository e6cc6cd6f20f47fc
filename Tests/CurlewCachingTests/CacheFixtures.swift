// SPDX-License-Identifier: MIT

import CurlewCaching

/// A cache over a server that is one closure, with time that stands still.
struct CacheFixture: Sendable {
    let clock = ManualClock(date: Date(timeIntervalSince1970: 1_700_000_000))
    let store: any CacheStore
    let cache: CacheInterceptor
    let observer = CacheObserver()
    let transport: MockTransport

    init(
        store: any CacheStore = MemoryCacheStore(), rules: CacheConfiguration = .standard,
        answer: @escaping @Sendable (RecordedCall) async throws -> HTTPResponse
    ) {
        self.store = store
        cache = CacheInterceptor(store: store, rules: rules)
        transport = .answering(answer)
    }

    func send(
        _ method: HTTPMethod = .get, _ path: String = "/", headers: HTTPHeaders = [:], inner: [any Interceptor] = [],
        timeouts: Timeouts = .standard, options change: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> HTTPResponse {
        var options = RequestOptions()
        change(&options)
        let exchanger = Pipeline.Runner(pipeline: Pipeline([cache] + inner), transport: transport)
        let context = ExchangeContext(options: options, timeouts: timeouts, observers: [observer], time: clock)
        return try await exchanger.exchange(
            HTTPRequest(method, url: "https://api.example" + path, headers: headers), in: context)
    }

    func text(_ path: String = "/", headers: HTTPHeaders = [:]) async throws -> String {
        try await send(.get, path, headers: headers).text()
    }

    var entries: Int {
        get async throws { try await store.statistics().entries }
    }
}

/// Records the verdicts of caches.
final class CacheObserver: RequestObserver {
    private let events = Locked<[String]>([])

    func record(_ event: ExchangeEvent, in context: ExchangeContext) {
        switch event {
        case .feature(CacheEvent.decided(let verdict)): events.withLock { $0.append("\(verdict)") }
        case .feature(CacheEvent.storeFailed(let error)): events.withLock { $0.append("store: \(error.reason)") }
        default: break
        }
    }

    var all: [String] { events.withLock { $0 } }
}

/// Chunks that are made one at a time, and who took how many.
final class CountedChunks: AsyncSequence, Sendable {
    let count: Int
    let size: Int
    private let made = Locked(0)

    init(_ count: Int, of size: Int) {
        self.count = count
        self.size = size
    }

    var taken: Int { made.withLock { $0 } }

    func makeAsyncIterator() -> Iterator { Iterator(chunks: self) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let chunks: CountedChunks

        func next() async throws -> Data? {
            let number = chunks.made.next()
            return number <= chunks.count ? Data(repeating: UInt8(number & 0xFF), count: chunks.size) : nil
        }
    }
}

/// A store that differs from a store in memory in what it implements itself.
protocol StoreOverMemory: CacheStore {
    var memory: MemoryCacheStore { get }
}

extension StoreOverMemory {
    var isLasting: Bool { false }
    var bodyLimit: Int64 { memory.bodyLimit }

    func find(_ key: StoredResponse.Key) async throws -> StoredResponse.Lookup { await memory.find(key) }
    func body(of response: StoredResponse) async throws -> (any StoredResponse.Body)? {
        await memory.body(of: response)
    }
    func write(_ response: StoredResponse, since epoch: StoredResponse.Lookup.Epoch?) async throws -> any StoredResponse
        .Writer
    {
        await memory.write(response, since: epoch)
    }
    func update(_ response: StoredResponse) async throws -> Bool { await memory.update(response) }
    func remove(_ selection: CacheRemoval) async throws -> Int { await memory.remove(selection) }
    func statistics() async throws -> CacheStatistics { await memory.statistics() }
}

/// A store that fails at one kind of call, and is in memory otherwise.
struct FailingStore: StoreOverMemory {
    enum Place: CaseIterable, Sendable { case variants, body, read, write, append, commit, update, remove }

    struct Broken: Error {}

    let place: Place
    let bodyLimit: Int64 = 1 << 20
    let memory = MemoryCacheStore()

    init(_ place: Place) { self.place = place }

    private func check(_ place: Place) throws {
        if place == self.place { throw Broken() }
    }

    func find(_ key: StoredResponse.Key) async throws -> StoredResponse.Lookup {
        try check(.variants)
        return await memory.find(key)
    }

    func body(of response: StoredResponse) async throws -> (any StoredResponse.Body)? {
        try check(.body)
        return await memory.body(of: response).map { Body(inner: $0, fails: place == .read) }
    }

    func write(_ response: StoredResponse, since epoch: StoredResponse.Lookup.Epoch?) async throws -> any StoredResponse
        .Writer
    {
        try check(.write)
        return Writer(inner: await memory.write(response, since: epoch), place: place)
    }

    func update(_ response: StoredResponse) async throws -> Bool {
        try check(.update)
        return await memory.update(response)
    }

    func remove(_ selection: CacheRemoval) async throws -> Int {
        try check(.remove)
        return await memory.remove(selection)
    }

    private struct Body: StoredResponse.Body {
        let inner: any StoredResponse.Body
        let fails: Bool

        var length: Int64 { inner.length }

        func read(from offset: Int64, upTo count: Int) async throws -> Data {
            if fails { throw Broken() }
            return try await inner.read(from: offset, upTo: count)
        }

        func close() { inner.close() }
    }

    private struct Writer: StoredResponse.Writer {
        let inner: any StoredResponse.Writer
        let place: Place

        func append(_ chunk: Data) async throws -> Bool {
            if place == .append { throw Broken() }
            return try await inner.append(chunk)
        }

        func commit(replacing others: [StoredResponse.ID]) async throws -> Bool {
            if place == .commit { throw Broken() }
            return try await inner.commit(replacing: others)
        }

        func abandon() { inner.abandon() }
    }
}
