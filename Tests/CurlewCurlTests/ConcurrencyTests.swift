// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewCurl
import CurlewHTTP
import CurlewTesting
import Foundation
import Testing

/// Many transfers at once, and many that are cancelled: each ends exactly once, and nothing stays behind.
@Suite(.timeLimit(.minutes(1)))
struct ConcurrencyTests {
    @Test("five hundred calls at a time get their own answers", arguments: [8, 64])
    func many(connections: Int) async throws {
        let transport = CurlTransport(configuration: TransportConfiguration(connectionsPerHost: connections))
        let server = try MockServer()
        server.on(.get, "/:id") { .text("answer \($0.parameters["id"] ?? "")") }
        let observer = CountingObserver()
        let wrong = try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<500 {
                group.addTask {
                    let response = try await transport.exchange(.get, server.url + "/\(index)", observers: [observer])
                    return try await response.text() != "answer \(index)"
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(wrong == 0)
        #expect(server.connectionCount <= connections)
        #expect(await eventually { observer.measured == 500 })
        #expect(observer.repeated == 0)
    }

    @Test("connections that are in use do not count as idle ones")
    func manyConnections() async throws {
        let pool = ConnectionPool(perHost: 48, idle: 4)
        let transport = CurlTransport(configuration: TransportConfiguration(pool: pool))
        let server = try MockServer()
        server.on(.get, "/", respond: .text("ok"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<48 {
                group.addTask {
                    for _ in 0..<20 { _ = try await transport.exchange(.get, server.url + "/").text() }
                }
            }
            try await group.waitForAll()
        }
        #expect(server.connectionCount <= 48)
    }

    @Test("engines side by side do not share anything that matters")
    func engines() async throws {
        let server = try MockServer()
        server.on(.get, "/", respond: .text("ok"))
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<50 {
                group.addTask { try await CurlTransport().exchange(.get, server.url + "/").text() }
            }
            for try await text in group { #expect(text == "ok") }
        }
    }

    @Test("a storm of cancelled transfers: each ends once, and the process is as before")
    func storm() async throws {
        let nginx = try await Nginx.shared()
        let (urls, roots) = ([nginx.plain, nginx.secure()], nginx.certificates.authority)
        // In a process of its own, because tests beside this one open and close descriptors.
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) { [urls = urls as [String], roots = roots as String] in
            let seed = UInt64.random(in: 0...(.max))
            FileHandle.standardError.write(Data("storm seed \(seed)\n".utf8))
            try await Storm(seed: seed, urls: urls, roots: roots).run()
        }
        print(String(decoding: result.standardErrorContent, as: UTF8.self))
    }
}

/// Transfers of several kinds, cancelled at random moments.
struct Storm {
    let seed: UInt64
    let urls: [String]
    let roots: String

    static let transfers = 3000
    static let atATime = 100

    func run() async throws {
        let tls = TLSConfiguration(trustedRoots: .file(roots))
        let transport = CurlTransport(configuration: TransportConfiguration(tls: tls, bodyBuffer: 16_384))
        let observer = CountingObserver()
        var generator = SeededGenerator(seed: seed)
        _ = await wave(Self.atATime, transport, CountingObserver(), &generator)
        let before = Engine.descriptors.count

        var ends: [String: Int] = [:]
        for _ in 0..<(Self.transfers / Self.atATime) {
            ends.merge(await wave(Self.atATime, transport, observer, &generator)) { $0 + $1 }
        }
        FileHandle.standardError.write(Data("\(ends)\n".utf8))
        // Every task has come back: none was forgotten. None ended twice: no transfer was measured again. (One that is
        // cancelled before it begins is not measured at all.)
        #expect(ends.values.reduce(0, +) == Self.transfers)
        #expect(Set(ends.keys).isSubset(of: ["complete", "cancelled"]))
        #expect(ends.values.allSatisfy { $0 > Self.transfers / 50 })
        #expect(observer.measured > Self.transfers / 4 && observer.repeated == 0)

        for url in urls { #expect(try await transport.exchange(.get, url + "/empty").status == .noContent) }
        // What is open are pooled connections; their number does not grow with the number of transfers.
        #expect(Engine.descriptors.count <= before + 2 * 64)
        await transport.shutdown()
        #expect(await eventually { Engine.threadCount == 0 && Engine.descriptors.count < before })
    }

    /// How often transfers ended in which way.
    private func wave(
        _ count: Int, _ transport: CurlTransport, _ observer: CountingObserver, _ generator: inout SeededGenerator
    ) async -> [String: Int] {
        var tasks: [(Task<Void, any Error>, yields: Int)] = []
        for _ in 0..<count {
            let url =
                (urls.randomElement(using: &generator) ?? "")
                + (Bool.random(using: &generator) ? "/body.bin" : "/empty")
            let pause = Int.random(in: 0..<4, using: &generator)
            let task = Task {
                let response = try await transport.exchange(.get, url, observers: [observer])
                for try await chunk in response.body {
                    for _ in 0..<(pause * chunk.count / 10_000) { await Task.yield() }
                }
            }
            tasks.append((task, Int.random(in: 0..<2000, using: &generator)))
        }
        for (task, yields) in tasks where yields < 1500 {
            for _ in 0..<(yields / 10) { await Task.yield() }
            task.cancel()
        }
        var ends: [String: Int] = [:]
        for (task, _) in tasks {
            let reason = await outcome(task).reason
            ends[reason.map { "\($0)" } ?? "complete", default: 0] += 1
        }
        return ends
    }
}
