// SPDX-License-Identifier: MIT

import Testing

/// Two thirds of many transfers are cancelled at random moments: each ends exactly once, and nothing stays behind.
@Suite(.timeLimit(.minutes(10)))
struct StormTests {
    @Test("A storm of cancelled transfers: each ends once, and the process is as before")
    func storm() async throws {
        let nginx = try await Nginx.shared()
        let (urls, roots) = ([nginx.plain, nginx.secure()], nginx.certificates.authority)
        let (transfers, rounds) = Abuse.storm
        for _ in 0..<rounds {
            // In a process of its own, because tests beside this one open and close descriptors.
            let result = try await #require(
                processExitsWith: .success, observing: [\.standardErrorContent]
            ) { [urls = urls as [String], roots = roots as String, transfers = transfers as Int] in
                Abuse.begin()
                let seed = UInt64.random(in: 0...(.max))
                Abuse.say("storm seed \(seed)")
                try await Storm(seed: seed, urls: urls, roots: roots, transfers: transfers).run()
            }
            print(String(decoding: result.standardErrorContent, as: UTF8.self))
        }
    }
}

/// Transfers of several kinds, cancelled at random moments.
struct Storm {
    let seed: UInt64
    let urls: [String]
    let roots: String
    let transfers: Int

    private static let atATime = 100

    /// What one transfer does, apart from being cancelled.
    private enum Kind: CaseIterable {
        case empty, small, quick, slow, stopped, upload, stuckUpload

        var path: String {
            switch self {
            case .empty: "/empty"
            case .small: "/text.txt"
            case .quick, .slow, .stopped: "/body.bin"
            case .upload, .stuckUpload: "/upload/storm"
            }
        }
    }

    func run() async throws {
        let tls = TransportConfiguration.TLS(trustedRoots: .file(roots))
        let transport = CurlTransport(configuration: TransportConfiguration(tls: tls, bodyBuffer: 16_384))
        let observer = CountingObserver()
        var generator = SeededGenerator(seed: seed)
        _ = await wave(transport, CountingObserver(), &generator)
        let before = Engine.descriptors.count

        var memory = MemoryCourse()
        var ends: [String: Int] = [:]
        let start = ContinuousClock.now
        for _ in 0..<(transfers / Self.atATime) {
            ends.merge(await wave(transport, observer, &generator)) { $0 + $1 }
            memory.sample()
        }
        Abuse.say("\(ends) in \(ContinuousClock.now - start); \(memory.text); \(transport.snapshot)")
        // Every task has come back: none was forgotten. None ended twice: no transfer was measured again. (One that is
        // cancelled before it begins is not measured at all.)
        #expect(ends.values.reduce(0, +) == transfers)
        try await LibraryDeviation.cancelledStreams.mayDiffer {
            #expect(Set(ends.keys).isSubset(of: ["complete", "cancelled"]))
        }
        #expect(ends["complete", default: 0] > transfers / 5 && ends["cancelled", default: 0] > transfers / 2)
        #expect(observer.measured > transfers / 4 && observer.repeated == 0)
        if !Abuse.isSanitized { #expect(try #require(memory.growth) <= 4 << 20) }

        for url in urls { #expect(try await transport.exchange(.get, url + "/empty").status == .noContent) }
        #expect(await eventually { transport.snapshot.isIdle })
        // What is open are pooled connections; their number does not grow with the number of transfers.
        #expect(Engine.descriptors.count <= before + 2 * 64)
        await transport.shutdown()
        #expect(await eventually { Engine.threadCount == 0 && Engine.descriptors.count < before })
    }

    /// How often transfers ended in which way.
    private func wave(
        _ transport: CurlTransport, _ observer: CountingObserver, _ generator: inout SeededGenerator
    ) async -> [String: Int] {
        var tasks: [(Task<Void, any Error>, yields: Int?)] = []
        for _ in 0..<Self.atATime {
            let url = urls.randomElement(using: &generator) ?? ""
            let isCancelled = Int.random(in: 0..<3, using: &generator) < 2
            var kind = Kind.allCases.randomElement(using: &generator) ?? .empty
            if !isCancelled, kind == .stopped || kind == .stuckUpload { kind = .slow }
            let task = Task { [kind] in try await perform(kind, url, transport, observer) }
            tasks.append((task, isCancelled ? Int.random(in: 0..<150, using: &generator) : nil))
        }
        for case (let task, let yields?) in tasks {
            for _ in 0..<yields { await Task.yield() }
            task.cancel()
        }
        var ends: [String: Int] = [:]
        for (task, _) in tasks {
            let out = await outcome(task)
            if case .failure(let e) = out, e.reason != .cancelled { Abuse.say("\(e)") }
            let reason = out.reason
            ends[reason.map { "\($0)" } ?? "complete", default: 0] += 1
        }
        return ends
    }

    private func perform(
        _ kind: Kind, _ url: String, _ transport: CurlTransport, _ observer: CountingObserver
    ) async throws {
        var method = HTTPMethod.get
        var body = RequestBody.empty
        if kind == .upload {
            (method, body) = (.put, .stream { .init(Produced([pattern(100_000), pattern(50_000)])) })
        } else if kind == .stuckUpload {
            (method, body) = (.put, .stream { .init(Stuck(ended: Signal())) })
        }
        let response = try await transport.exchange(
            method, url + kind.path, body: body, timeouts: Abuse.timeouts, observers: [observer])
        var count = 0
        for try await chunk in response.body {
            count += chunk.count
            switch kind {
            case .slow: for _ in 0..<(chunk.count / 5000) { await Task.yield() }
            // Until it is cancelled, which the next read reports.
            case .stopped: await Signal().wait()
            default: break
            }
        }
        if kind.path == "/body.bin", count != 3_000_000 { throw NetworkError(.decoding, detail: "\(count) bytes") }
    }
}
