// SPDX-License-Identifier: MIT

import CurlewCaching
import CurlewSQLite
import TestServers
import Testing

/// Whether a cache ever gives out what is older than a change that the server had acknowledged: clients that share a
/// store, and stores that share a file, as those of several processes do. `CURLEW_TRUTH_ROUNDS` makes more than a usual
/// run.
@Suite(.timeLimit(.minutes(5)))
struct CacheTruthTests {
    static let seeds: Range<UInt64> = {
        0..<(ProcessInfo.processInfo.environment["CURLEW_TRUTH_ROUNDS"].flatMap { UInt64($0) } ?? 6)
    }()

    enum Kind: CaseIterable { case memory, failing, file, twoOnOneFile }

    /// A server of numbered versions. What it answers is read before or after a pause, so that answers arrive late.
    private final class Server: Transport {
        let state: Locked<(versions: [Int], random: SeededGenerator)>

        init(_ seed: UInt64) { state = Locked(([1, 1, 1], SeededGenerator(seed: seed))) }

        func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

        private func pause() async {
            let count = state.withLock { Int.random(in: 0..<40, using: &$0.random) }
            for _ in 0..<count { await Task.yield() }
        }

        func send(_ request: HTTPRequest, in context: ExchangeContext) async throws -> HTTPResponse {
            let page = Int(request.target.dropFirst()) ?? 0
            await pause()
            if request.method == .put {
                state.withLock { $0.versions[page] += 1 }
                await pause()
                return HTTPResponse(status: 204)
            }
            let (version, dice) = state.withLock { ($0.versions[page], Int.random(in: 0..<20, using: &$0.random)) }
            await pause()
            let tag = "\"\(version)\""
            if dice == 0 { return HTTPResponse(status: 500) }
            if request.headers[.ifNoneMatch] == tag { return HTTPResponse(status: 304, headers: [.eTag: tag]) }
            let control = dice < 4 ? "max-age=0, stale-while-revalidate=0" : "max-age=600"
            return HTTPResponse(
                headers: [.cacheControl: control, .eTag: tag], body: ResponseBody(Data("\(version)".utf8)))
        }
    }

    @Test(
        "No call gets a response older than a change acknowledged before it began", arguments: Kind.allCases,
        seeds)
    func never(kind: Kind, seed: UInt64) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/cache.sqlite"
        let stores: [any HTTPCache.Store] =
            switch kind {
            case .memory: [HTTPCache.MemoryStore()]
            case .failing: [FlakyStore(seed: seed)]
            case .file: [HTTPCache.SQLiteStore(path: path)]
            case .twoOnOneFile: [HTTPCache.SQLiteStore(path: path), HTTPCache.SQLiteStore(path: path)]
            }
        // What is measured is the order of things, on machines of any speed.
        var rules = HTTPCache.Options()
        (rules.lookupTimeout, rules.commitTimeout) = (.seconds(60), .seconds(60))
        let server = Server(seed)
        let clients = (stores + stores).map { store in
            APIClient(
                baseURL: "https://a.test", pipeline: [.caching(store: store, options: rules)], transport: server)
        }
        let acknowledged = Locked([1, 1, 1])
        let (hits, stale) = (Locked(0), Locked<[String]>([]))
        await withTaskGroup(of: Void.self) { group in
            for (number, client) in clients.enumerated() {
                for lane in 0..<2 {
                    group.addTask {
                        var random = SeededGenerator(seed: seed &* 1000 &+ UInt64(number * 2 + lane))
                        for _ in 0..<120 {
                            let page = Int.random(in: 0..<3, using: &random)
                            let url = "https://a.test/\(page)"
                            switch Int.random(in: 0..<24, using: &random) {
                            case 0..<3:
                                let before = server.state.withLock { $0.versions[page] }
                                let change = Request<HTTPResponse>(.put, "/\(page)")
                                guard (try? await client.send(change)) != nil else { continue }
                                acknowledged.withLock { $0[page] = max($0[page], before + 1) }
                            case 3:
                                try? await stores[number % stores.count].clear()
                            default:
                                let least = acknowledged.withLock { $0[page] }
                                let reloads = Int.random(in: 0..<8, using: &random) == 0
                                let request = Request<HTTPResponse>(.get, url: url).options {
                                    if reloads { $0.cachePolicy = .reload }
                                }
                                guard let response = try? await client.send(request),
                                    let text = try? await response.text(), let version = Int(text)
                                else { continue }
                                if response.served != .network { hits.withLock { $0 += 1 } }
                                if version < least {
                                    stale.withLock {
                                        $0.append("\(url): \(version) < \(least), \(response.cacheStatus)")
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
        #expect(stale.withLock { $0 }.isEmpty, "seed \(seed)")
        // Otherwise nothing was tested.
        #expect(hits.withLock { $0 } > 20, "seed \(seed)")
    }
}

/// A store in memory that fails now and then, also to remove.
private final class FlakyStore: HTTPCache.Store {
    struct Broken: Error {}

    let isLasting = false
    let bodyLimit: Int64 = 1 << 20
    private let memory = HTTPCache.MemoryStore()
    private let random: Locked<SeededGenerator>

    init(seed: UInt64) { random = Locked(SeededGenerator(seed: seed)) }

    private func mayFail(_ bound: Int = 6) throws {
        if random.withLock({ Int.random(in: 0..<bound, using: &$0) }) == 0 { throw Broken() }
    }

    func find(_ key: HTTPCache.Entry.Key) async throws -> HTTPCache.Entry.Lookup {
        try mayFail()
        return await memory.find(key)
    }

    func body(of response: HTTPCache.Entry) async throws -> (any HTTPCache.Entry.Body)? {
        try mayFail()
        return await memory.body(of: response)
    }

    func write(_ response: HTTPCache.Entry, since epoch: HTTPCache.Entry.Lookup.Epoch?) async throws -> any HTTPCache
        .Entry
        .Writer
    {
        try mayFail()
        return await memory.write(response, since: epoch)
    }

    func update(_ response: HTTPCache.Entry) async throws -> Bool {
        try mayFail()
        return await memory.update(response)
    }

    func remove(_ selection: HTTPCache.Removal) async throws -> Int {
        try mayFail(2)
        return await memory.remove(selection)
    }

    func statistics() async throws -> HTTPCache.Statistics { await memory.statistics() }
}
