// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewTesting
import Foundation
import TestServers
import Testing

@testable import CurlewCLI

@Suite(.timeLimit(.minutes(2)))
struct BenchCommandTests {
    @Test func longBodiesAreReadAndCounted() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.get, "/a") { _ in .generated(bytes: 3_000_000) }
        let run = await Run("bench", server.url + "/a", "-n", "4", "-c", "2")
        #expect(run.code == 0 && run.output.contains("12000000 bytes"), "\(run.output) \(run.error)")
    }

    @Test func theDurationEndsRequestsThatWait() async throws {
        let server = try MockServer()
        defer { server.stop() }
        let count = Counter()
        server.on(.get, "/a") { _ in
            count.next() == 0 ? .text("ok") : MockResponse.text("late").stalled(at: .beforeHead)
        }
        let run = await Run("bench", server.url + "/a", "--duration=0.3", "-c2")
        #expect(run.code == 0 && run.output.contains("0 in "), "\(run.output) \(run.error)")
    }

    @Test func anInterruptedBenchShowsWhatItMeasured() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.get, "/a") { _ in .text("ok") }
        let streams = Streams()
        let words = ["bench", server.url + "/a", "--duration=600", "-c1"]
        let task = Task { await CommandLineTool.run(words, io: streams.io()) }
        try await server.waitForRequests(count: 5, timeout: .seconds(60))
        task.cancel()
        #expect(await task.value == 130)
        #expect(streams.text(\.output).contains("p99"))
    }

    @Test func aBodyThatCanBeReadOnceIsRefused() async throws {
        let piece = String(repeating: "x", count: 600_000)
        let run = await Run("bench", "http://127.0.0.1:1", "@-", input: [piece, piece])
        #expect(run.code == 2, "\(run.error)")
    }

    @Test func percentilesAreExact() {
        for count in [1, 2, 3, 10, 99, 100, 101, 1000, 9999, 10_000, 123_457] {
            let times = (1...Int64(count)).map { $0 }
            for (part, permille) in [(0.5, 500), (0.9, 900), (0.95, 950), (0.99, 990), (0.999, 999)] {
                let rank = (count * permille + 999) / 1000
                #expect(BenchResult.percentile(part, of: times) == Int64(rank), "\(part) of \(count)")
            }
        }
    }
}

/// Counts from zero.
private final class Counter: Sendable {
    private let value = Locked(0)

    func next() -> Int {
        value.withLock { value in
            value += 1
            return value - 1
        }
    }
}
