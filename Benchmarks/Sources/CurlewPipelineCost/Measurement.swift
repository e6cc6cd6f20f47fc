// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import Foundation

/// The same call through several pipelines, in rounds that take turns; medians, less those of the bare transport.
struct Measurement {
    private let rounds = 9
    private let calls = 20_000

    private struct Subject {
        let name: String
        let call: @Sendable () async throws -> Void
    }

    private struct Figures {
        var nanoseconds: [Double] = []
        var allocations: [Double] = []
    }

    func run() async throws {
        let subjects = try Self.subjects()
        for task in ["warm", "fresh"] {
            var figures = [Figures](repeating: Figures(), count: subjects.count)
            for round in 0...rounds {
                for (index, subject) in subjects.enumerated() {
                    let before = AllocationCount.now
                    let start = ContinuousClock.now
                    if task == "warm" {
                        for _ in 0..<calls { try await subject.call() }
                    } else {
                        for _ in 0..<calls { try await Task { try await subject.call() }.value }
                    }
                    let time = ContinuousClock.now - start
                    guard round > 0 else { continue }
                    figures[index].nanoseconds.append(time / .nanoseconds(1) / Double(calls))
                    if let before, let after = AllocationCount.now {
                        figures[index].allocations.append(Double(after - before) / Double(calls))
                    }
                }
            }
            try report(task, subjects, figures)
        }
    }

    private func report(_ task: String, _ subjects: [Subject], _ figures: [Figures]) throws {
        for (subject, figure) in zip(subjects, figures).dropFirst() {
            let line = Line(
                name: subject.name, task: task,
                microseconds: (figure.nanoseconds.median - figures[0].nanoseconds.median) / 1000,
                allocations: figure.allocations.isEmpty
                    ? nil : figure.allocations.median - figures[0].allocations.median)
            print(String(decoding: try JSONEncoder().encode(line), as: UTF8.self))
        }
    }

    private static func subjects() throws -> [Subject] {
        let answer = HTTPResponse(headers: ["Content-Type": "application/json"], body: ResponseBody(Data("{}".utf8)))
        let transport = MockTransport { $0.onAny { _ in answer } }
        let request = try HTTPRequest(url: "https://mock.test/users/1", headers: ["Accept": "*/*"])
        func through(_ name: String, _ pipeline: Pipeline) throws -> Subject {
            let exchanger = Pipeline.Runner(pipeline: pipeline, transport: transport)
            guard exchanger.problems.isEmpty else { throw NetworkError(.configuration) }
            return Subject(name: name) { _ = try await exchanger.exchange(request, in: ExchangeContext()) }
        }
        return [
            Subject(name: "bare") { _ = try await transport.send(request, in: ExchangeContext()) },
            try through("none", .empty),
            try through("redirects", [.redirects()]),
            try through("retry", [.retry()]),
            try through("standard: redirects, retry", .standard),
            try through("circuit breaker", [.circuitBreaker()]),
            try through("concurrency limit", [.concurrencyLimit(1000)]),
            try through("attempt timeout", [.attemptTimeout(.seconds(10))]),
            try through("resilient: all of them", .resilient()),
            try through(
                "resilient, with a rate limit", .resilient(rateLimit: RateLimit(1_000_000_000, every: .seconds(1)))),
        ]
    }
}

/// The counter in LD_PRELOAD, if it is there.
enum AllocationCount {
    private static let read: (@convention(c) () -> UInt)? = {
        // "Anywhere in the process", a macro that Swift does not see.
        #if canImport(Darwin)
        let anywhere = UnsafeMutableRawPointer(bitPattern: -2)
        #else
        let anywhere: UnsafeMutableRawPointer? = nil
        #endif
        guard let symbol = dlsym(anywhere, "curlew_allocation_count") else { return nil }
        return unsafeBitCast(symbol, to: (@convention(c) () -> UInt).self)
    }()

    static var now: UInt? { read?() }
}

extension [Double] {
    fileprivate var median: Double {
        let sorted = sorted()
        return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
    }
}
