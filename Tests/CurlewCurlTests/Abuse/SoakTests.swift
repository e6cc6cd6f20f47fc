// SPDX-License-Identifier: MIT

import Testing

/// Two hundred exchanges at a time over a stretch of time, with servers that misbehave and callers that change their
/// mind: every exchange ends, in one of the ways that its server allows, and memory stays flat.
@Suite(.timeLimit(.minutes(60)))
struct SoakTests {
    @Test("A long time under load and faults: nothing is lost, memory is flat")
    func soak() async throws {
        let nginx = try await Nginx.shared()
        let h2 = try await onThread { try H2Server(nginx.certificates) }
        let server = try MockServer()
        for fault in Soak.Fault.allCases { server.on(.get, fault.path, respond: fault.response) }
        let servers = Soak.Servers(
            mock: server.url, plain: nginx.plain, secure: nginx.secure(), faulty: h2.url,
            roots: nginx.certificates.authority)
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) { [servers = servers as Soak.Servers] in
            Abuse.begin()
            let seed = UInt64.random(in: 0...(.max))
            Abuse.say("soak seed \(seed)")
            try await Soak(seed: seed, servers: servers).run()
        }
        print(String(decoding: result.standardErrorContent, as: UTF8.self))
        withExtendedLifetime(h2) {}
    }
}

/// Workers that make one exchange after the other until the time is over.
struct Soak: Sendable {
    struct Servers: Codable, Sendable {
        let mock, plain, secure, faulty, roots: String
    }

    /// What the scripted server does to a request.
    enum Fault: String, CaseIterable {
        case none, large, chunked, late, cut, resetHead, resetBody, stall, silentEnd, noHTTP

        var path: String { "/" + rawValue }

        var response: MockResponse {
            switch self {
            case .none: .data(pattern(2000))
            case .large: .generated(bytes: 300_000)
            case .chunked: .generated(bytes: 100_000, chunked: true).with(trailers: ["X-Trailer": "a"])
            case .late: .generated(bytes: 2000).delayed(by: .milliseconds(20))
            case .cut: .generated(bytes: 300_000).truncated(after: 100_000)
            case .resetHead: .text("").reset(at: .beforeHead)
            case .resetBody: .generated(bytes: 300_000).reset(at: .afterBytes(100_000))
            case .stall: .generated(bytes: 300_000).stalled(at: .afterBytes(1000))
            case .silentEnd: .generated(bytes: 2000).closingSilently()
            case .noHTTP: .raw(Data("HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n".utf8))
            }
        }

        /// The words of the ends that are right.
        var ends: Set<String> {
            switch self {
            case .none, .large, .chunked, .late, .silentEnd: ["complete"]
            case .cut, .resetHead, .resetBody: ["connectionLost"]
            case .stall: ["timedOut"]
            // It closes right after: a reset may overtake what it wrote.
            case .noHTTP: ["badResponse", "connectionLost"]
            }
        }
    }

    let seed: UInt64
    let servers: Servers
    static let atATime = 200

    func run() async throws {
        let tls = TransportConfiguration.TLS(trustedRoots: .file(servers.roots))
        let transport = CurlTransport(configuration: TransportConfiguration(tls: tls, bodyBuffer: 16_384))
        let end = ContinuousClock.now + Abuse.soakTime
        let observer = CountingObserver()
        let counts = Locked<[String: Int]>([:])
        var memory = MemoryCourse()
        let started = await withTaskGroup(of: Int.self) { group in
            for worker in 0..<Self.atATime {
                group.addTask { await work(worker, until: end, transport, observer, counts) }
            }
            let beat = Abuse.soakTime / 40
            while ContinuousClock.now < end {
                try? await SystemTime().sleep(for: beat)
                memory.sample()
            }
            return await group.reduce(0, +)
        }
        let found = counts.withLock { $0 }
        Abuse.say("\(started) exchanges: \(found.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })")
        Abuse.say("\(memory.text); \(transport.snapshot); \(Engine.descriptors.count) descriptors")
        #expect(found.values.reduce(0, +) == started)
        #expect(started > Self.atATime)
        #expect(found.keys.filter { $0.contains("wrong") } == [])
        #expect(observer.repeated == 0)
        // Of a few seconds the second quarter is the beginning.
        if !Abuse.isSanitized, Abuse.soakTime >= .seconds(30) { #expect(try #require(memory.growth) <= 8 << 20) }
        #expect(await eventually { transport.snapshot.isIdle })
        #expect(await eventually { (0...Engine.descriptors.count).contains(transport.snapshot.connections) })
        await transport.shutdown()
        #expect(await eventually { Engine.threadCount == 0 })
    }

    /// The number of exchanges that one worker has made.
    private func work(
        _ worker: Int, until end: ContinuousClock.Instant, _ transport: CurlTransport, _ observer: CountingObserver,
        _ counts: Locked<[String: Int]>
    ) async -> Int {
        var generator = SeededGenerator(seed: seed &+ UInt64(worker))
        var number = 0
        while ContinuousClock.now < end {
            number += 1
            let (url, allowed) = target("\(worker)-\(number)", &generator)
            let task = Task { try await perform(url, transport, observer) }
            let isCancelled = Int.random(in: 0..<3, using: &generator) == 0
            if isCancelled {
                for _ in 0..<Int.random(in: 0..<300, using: &generator) { await Task.yield() }
                task.cancel()
            }
            let ending = await outcome(task)
            let word = Self.word(ending)
            let isRight = allowed.contains(word) || (isCancelled && word == "cancelled")
            if !isRight, case .failure(let error) = ending { Abuse.say("\(error)") }
            counts.withLock { $0[isRight ? word : "wrong: \(word) from \(url.prefix(40))", default: 0] += 1 }
        }
        return number
    }

    /// Where the next exchange goes, and how it may end.
    private func target(_ name: String, _ generator: inout SeededGenerator) -> (url: String, ends: Set<String>) {
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: return (servers.plain + "/text.txt", ["complete"])
        case 1: return (servers.secure + "/text.txt", ["complete"])
        case 2: return (servers.secure + "/empty", ["complete"])
        case 3:
            let kind = ["refuse", "goaway", "break", "silent", "ok"].randomElement(using: &generator) ?? "ok"
            // A connection that goes away takes others along, and one kind ends as another then.
            return ("\(servers.faulty)/\(kind)/\(name)", ["complete", "connectionLost", "timedOut"])
        default:
            let fault = Fault.allCases.randomElement(using: &generator) ?? .none
            return (servers.mock + fault.path, fault.ends)
        }
    }

    private func perform(_ url: String, _ transport: CurlTransport, _ observer: CountingObserver) async throws {
        let isFaulty = url.hasPrefix(servers.faulty) || url.hasSuffix("/stall")
        let timeouts = isFaulty ? Timeouts(firstByte: .seconds(1), idle: .milliseconds(500)) : Abuse.timeouts
        let response = try await transport.exchange(.get, url, timeouts: timeouts, observers: [observer])
        // Read as it comes: two hundred bodies at a time would be most of the memory that is to be flat.
        var count = 0
        for try await chunk in response.body {
            let expected = MockResponse.pattern(count..<(count + chunk.count))
            // What the scripted server sends is known byte for byte.
            if url.hasPrefix(servers.mock), chunk != expected {
                let again = chunk == expected ? "equal when compared again, " : ""
                throw NetworkError(
                    .decoding, detail: "other bytes: \(again)\(Self.difference(chunk, expected)), chunk at \(count)")
            }
            count += chunk.count
        }
        guard count >= 2000 || !url.hasPrefix(servers.mock) else {
            throw NetworkError(.decoding, detail: "\(count) bytes")
        }
    }

    /// Where two chunks begin to differ, and with what.
    private static func difference(_ chunk: Data, _ expected: Data) -> String {
        let (found, expected) = (Array(chunk), Array(expected))
        let different = found.indices.filter { found[$0] != expected[$0] }
        guard let first = different.first, let last = different.last else { return "no difference" }
        let words = found[first..<min(first + 16, found.count)].map { "\($0)" }.joined(separator: " ")
        return "\(different.count) of \(found.count) bytes from \(first) to \(last) differ: \(words), "
            + "expected \(expected[first])"
    }

    private static func word(_ outcome: Result<Void, NetworkError>) -> String {
        switch outcome.reason {
        case nil: "complete"
        case .connectionLost: "connectionLost"
        case .timedOut(.idle), .timedOut(.firstByte): "timedOut"
        case let reason?: "\(reason)"
        }
    }
}
