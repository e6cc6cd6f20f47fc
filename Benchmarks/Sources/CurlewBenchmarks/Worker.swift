// SPDX-License-Identifier: MIT

import CTrust
import Foundation

/// One client under load in a process of its own: `worker CLIENT WIDTH SECONDS URL [WORK]`. Prints a `Sample` as JSON.
struct Worker {
    let client: String
    let width: Int
    let seconds: Double
    let url: String
    let work: Work

    init(arguments: [String]) throws {
        guard [4, 5].contains(arguments.count), let width = Int(arguments[1]), let seconds = Double(arguments[2]) else {
            throw Failure("usage: worker CLIENT WIDTH SECONDS URL [WORK]")
        }
        client = arguments[0]
        self.width = width
        self.seconds = seconds
        url = arguments[3]
        work = arguments.count > 4 ? try Work(arguments[4]) : .typed
    }

    func run() async throws {
        ctrust_begin()
        let sample =
            if let command = Command(rawValue: client) {
                try command.run(width: width, seconds: seconds, url: url, work: work)
            } else if work.isTransfer {
                try await transfer()
            } else {
                try await requests()
            }
        print(String(decoding: try JSONEncoder().encode(sample), as: UTF8.self))
    }

    private func requests() async throws -> Sample {
        let call: Clients.Call
        var executor: (any TaskExecutor)?
        if client == "curlew-executor" {
            (call, executor) = try Clients.onExecutor(url: url, work: work)
        } else {
            call = try await Clients.make(client, width: width, url: url, work: work)
        }
        defer { CacheClients.removeFiles() }
        // A warm-up opens the connections and runs every lane a few times.
        _ = try await load(call, on: executor, seconds: min(0.3, seconds / 4))
        return try await load(call, on: executor, seconds: seconds)
    }

    /// One large transfer, after small ones that load and start everything.
    private func transfer() async throws -> Sample {
        let call = try await Clients.make(client, width: 1, url: url, work: work)
        for _ in 0..<3 { try await Clients.make(client, width: 1, url: url, work: work.warmUp)() }
        let before = ProcessUsage.now
        let start = ContinuousClock.now
        try await call()
        let elapsed = (ContinuousClock.now - start) / .seconds(1)
        let after = ProcessUsage.now
        return Sample(
            requests: 1, seconds: elapsed, cpuSeconds: after.cpu - before.cpu,
            memory: .init(before: before.residentMegabytes, peak: after.peakMegabytes))
    }

    /// `width` lanes call one after the other until the time is over.
    private func load(_ call: @escaping Clients.Call, on executor: (any TaskExecutor)?, seconds: Double) async throws
        -> Sample
    {
        let before = ProcessUsage.now
        let start = ContinuousClock.now
        let end = start + .seconds(seconds)
        let lanes = try await withThrowingTaskGroup(of: [UInt32].self) { group in
            for _ in 0..<width {
                group.addTask(executorPreference: executor) {
                    var latencies: [UInt32] = []
                    while true {
                        let before = ContinuousClock.now
                        guard before < end else { return latencies }
                        try await call()
                        latencies.append(UInt32(clamping: Int((ContinuousClock.now - before) / .microseconds(1))))
                    }
                }
            }
            var all: [UInt32] = []
            for try await lane in group { all += lane }
            return all
        }
        let elapsed = (ContinuousClock.now - start) / .seconds(1)
        let after = ProcessUsage.now
        return Sample(
            requests: lanes.count, seconds: elapsed, cpuSeconds: after.cpu - before.cpu, latencies: lanes,
            memory: .init(before: before.residentMegabytes, peak: after.peakMegabytes))
    }
}
