// SPDX-License-Identifier: MIT

import CurlewCaching

/// A cache over a server that is one closure, with time that stands still.
struct CacheFixture: Sendable {
    let clock = ManualClock(date: Date(timeIntervalSince1970: 1_700_000_000))
    let store: any HTTPCache.Store
    let cache: CacheInterceptor
    let observer = CacheObserver()
    let transport: MockTransport

    init(
        store: any HTTPCache.Store = HTTPCache.MemoryStore(), rules: HTTPCache.Options = .standard,
        answer: @escaping @Sendable (RecordedRequest) async throws -> HTTPResponse
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
        case .feature(HTTPCache.Event.decided(let verdict)): events.withLock { $0.append("\(verdict)") }
        case .feature(HTTPCache.Event.storeFailed(let error)): events.withLock { $0.append("store: \(error.reason)") }
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
protocol StoreOverMemory: HTTPCache.Store {
    var memory: HTTPCache.MemoryStore { get }
}

extension StoreOverMemory {
    var isLasting: Bool { false }
    var bodyLimit: Int64 { memory.bodyLimit }

    func find(_ key: HTTPCache.Entry.Key) async throws -> HTTPCache.Entry.Lookup { await memory.find(key) }
    func body(of response: HTTPCache.Entry) async throws -> (any HTTPCache.Entry.Body)? {
        await memory.body(of: response)
    }
    func write(_ response: HTTPCache.Entry, since epoch: HTTPCache.Entry.Lookup.Epoch?) async throws -> any HTTPCache
        .Entry
        .Writer
    {
        await memory.write(response, since: epoch)
    }
    func update(_ response: HTTPCache.Entry) async throws -> Bool { await memory.update(response) }
    func remove(_ selection: HTTPCache.Removal) async throws -> Int { await memory.remove(selection) }
    func statistics() async throws -> HTTPCache.Statistics { await memory.statistics() }
}

/// A store that fails at one kind of call, and is in memory otherwise.
struct FailingStore: StoreOverMemory {
    enum Place: CaseIterable, Sendable { case variants, body, read, write, append, commit, update, remove }

    struct Broken: Error {}

    let place: Place
    let bodyLimit: Int64 = 1 << 20
    let memory = HTTPCache.MemoryStore()

    init(_ place: Place) { self.place = place }

    private func check(_ place: Place) throws {
        if place == self.place { throw Broken() }
    }

    func find(_ key: HTTPCache.Entry.Key) async throws -> HTTPCache.Entry.Lookup {
        try check(.variants)
        return await memory.find(key)
    }

    func body(of response: HTTPCache.Entry) async throws -> (any HTTPCache.Entry.Body)? {
        try check(.body)
        return await memory.body(of: response).map { Body(inner: $0, fails: place == .read) }
    }

    func write(_ response: HTTPCache.Entry, since epoch: HTTPCache.Entry.Lookup.Epoch?) async throws -> any HTTPCache
        .Entry
        .Writer
    {
        try check(.write)
        return Writer(inner: await memory.write(response, since: epoch), place: place)
    }

    func update(_ response: HTTPCache.Entry) async throws -> Bool {
        try check(.update)
        return await memory.update(response)
    }

    func remove(_ selection: HTTPCache.Removal) async throws -> Int {
        try check(.remove)
        return await memory.remove(selection)
    }

    private struct Body: HTTPCache.Entry.Body {
        let inner: any HTTPCache.Entry.Body
        let fails: Bool

        var length: Int64 { inner.length }

        func read(from offset: Int64, upTo count: Int) async throws -> Data {
            if fails { throw Broken() }
            return try await inner.read(from: offset, upTo: count)
        }

        func close() { inner.close() }
    }

    private struct Writer: HTTPCache.Entry.Writer {
        let inner: any HTTPCache.Entry.Writer
        let place: Place

        func append(_ chunk: Data) async throws -> Bool {
            if place == .append { throw Broken() }
            return try await inner.append(chunk)
        }

        func commit(replacing others: [HTTPCache.Entry.ID]) async throws -> Bool {
            if place == .commit { throw Broken() }
            return try await inner.commit(replacing: others)
        }

        func abandon() { inner.abandon() }
    }
}
