// SPDX-License-Identifier: MIT

import Testing

/// Many calls at a time to a server that writes at random what `HostileResponse` lists, cancelled at random moments, on
/// transports that are shut down at random moments, while other code of the process opens and closes descriptors.
@Suite(.timeLimit(.minutes(30)))
struct HostileCrowdTests {
    @Test("In a crowd of hostile responses each call ends once, and none gets that of another")
    func crowd() async throws {
        let (calls, seed) = Abuse.desync
        // In a process of its own, because tests beside this one open and close descriptors.
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) { [calls = calls as Int, seed = seed as UInt64] in
            Abuse.begin()
            Abuse.say("crowd seed \(seed)")
            try await HostileCrowd(seed: seed).run(calls: calls)
        }
        print(String(decoding: result.standardErrorContent, as: UTF8.self))
    }
}

struct HostileCrowd {
    let seed: UInt64
    private let observer = CountingObserver()
    private let counts = Locked<[String: Int]>([:])

    private static let workers = 32

    init(seed: UInt64) {
        self.seed = seed
    }

    func run(calls: Int) async throws {
        var generator = SeededGenerator(seed: seed)
        try await round(calls: 200, endsAfter: nil, &generator)
        #expect(await eventually { Engine.threadCount == 0 })
        let before = Engine.descriptors.count
        counts.withLock { $0 = [:] }
        var memory = MemoryCourse()
        let reuse = Task.detached { try await reuseDescriptors() }
        while total < calls, isRight {
            let count = min(1000, max(100, calls / 16))
            let end = Bool.random(using: &generator) ? Int.random(in: 0..<count, using: &generator) : nil
            try await round(calls: count, endsAfter: end, &generator)
            memory.sample()
        }
        reuse.cancel()
        try await reuse.value
        Abuse.say("\(counts.withLock { $0.sorted { $0.key < $1.key } }); \(memory.text)")
        #expect(isRight && observer.repeated == 0, "seed \(seed)")
        // Of a GET that was repeated and met another connection that the server had ended.
        #expect(counts.withLock { $0["lost", default: 0] } <= total / 100)
        if !Abuse.isSanitized, calls > 50_000 { #expect(try #require(memory.growth) <= 8 << 20) }
        #expect(await eventually { Engine.threadCount == 0 && Engine.descriptors.count <= before })
    }

    private var total: Int { counts.withLock { $0.values.reduce(0, +) } }
    private var isRight: Bool { counts.withLock { !$0.keys.contains { $0.hasPrefix("wrong") } } }

    /// Calls over one transport, which is shut down when so many have ended, or when all have.
    private func round(calls: Int, endsAfter end: Int?, _ generator: inout SeededGenerator) async throws {
        let server = try HostileServer()
        let transport = CurlTransport(
            configuration: TransportConfiguration(
                connectionsPerHost: Int.random(in: 1...Self.workers, using: &generator)),
            options: CurlTransport.Options(eventLoops: Int.random(in: 1...2, using: &generator)))
        let ended = Locked(0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<Self.workers {
                group.addTask { [seed = generator.next()] in
                    var generator = SeededGenerator(seed: seed)
                    while true {
                        let count = ended.next()
                        if count == end { await transport.shutdown() }
                        guard count <= calls else { return }
                        let isOver = await call(server, transport, mayEnd: end != nil, &generator)
                        if isOver { return }
                    }
                }
            }
        }
        await transport.shutdown()
    }

    /// Makes one call and counts how it ended. Returns whether the transport is shut down.
    private func call(
        _ server: HostileServer, _ transport: CurlTransport, mayEnd: Bool, _ generator: inout SeededGenerator
    ) async -> Bool {
        var index = Int.random(in: HostileResponse.all.indices, using: &generator)
        while HostileResponse.all[index].isHeavy, Int.random(in: 0..<50, using: &generator) > 0 {
            index = Int.random(in: HostileResponse.all.indices, using: &generator)
        }
        let response = HostileResponse.all[index]
        let seed = response.isWhole ? 0 : UInt64.random(in: 0..<8, using: &generator)
        let streams = Bool.random(using: &generator)
        let start = ContinuousClock.now
        let task = Task {
            await HostileResponse.outcome(
                index, of: server, over: transport, seed: seed, streams: streams, observers: [observer])
        }
        let isCancelled = Int.random(in: 0..<6, using: &generator) == 0
        if isCancelled {
            for _ in 0..<Int.random(in: 0..<100, using: &generator) { await Task.yield() }
            task.cancel()
        }
        let outcome = await task.value
        let time = ContinuousClock.now - start
        let word =
            switch outcome {
            case .failed(.cancelled) where isCancelled: "cancelled"
            case .failed(.refused(by: .shutdown)) where mayEnd: "shut down"
            case _ where time > .seconds(32): "wrong: \(response) after \(time)"
            case _ where response.allows(outcome): "expected"
            case .lost: "lost"
            default: "wrong: \(response), \(outcome)"
            }
        counts.withLock { $0[word, default: 0] += 1 }
        return word == "shut down"
    }

    /// Opens and closes pipes, so that numbers of descriptors which the transports close come again at once. A
    /// transport that closed one twice, or read from one after its end, would close or read these.
    private func reuseDescriptors() async throws {
        while !Task.isCancelled {
            let pipes = (0..<8).map { _ in Pipe() }
            for pipe in pipes { try pipe.fileHandleForWriting.write(contentsOf: Data("mine".utf8)) }
            for pipe in pipes {
                #expect(try pipe.fileHandleForReading.read(upToCount: 4) == Data("mine".utf8))
                try pipe.fileHandleForReading.close()
                try pipe.fileHandleForWriting.close()
            }
            await Task.yield()
        }
    }
}
