// SPDX-License-Identifier: MIT

import Curlew
import Foundation

/// One client under load in a process of its own: `worker CLIENT WIDTH SECONDS URL`. Prints a `Sample` as JSON.
struct Worker {
    let client: String
    let width: Int
    let seconds: Double
    let url: String

    init(arguments: [String]) throws {
        guard arguments.count == 4, let width = Int(arguments[1]), let seconds = Double(arguments[2]) else {
            throw Failure("usage: worker CLIENT WIDTH SECONDS URL")
        }
        client = arguments[0]
        self.width = width
        self.seconds = seconds
        url = arguments[3]
    }

    func run() async throws {
        let call = try Clients.make(client, width: width, url: url)
        // A warm-up opens the connections and runs every lane a few times.
        _ = try await load(call, seconds: min(0.3, seconds / 4))
        let sample = try await load(call, seconds: seconds)
        print(String(decoding: try JSONEncoder().encode(sample), as: UTF8.self))
    }

    /// `width` lanes call one after the other until the time is over.
    private func load(_ call: @escaping @Sendable () async throws -> Void, seconds: Double) async throws -> Sample {
        let cpu = ProcessUsage.now
        let start = ContinuousClock.now
        let end = start + .seconds(seconds)
        let lanes = try await withThrowingTaskGroup(of: [UInt32].self) { group in
            for _ in 0..<width {
                group.addTask {
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
        let used = ProcessUsage.now
        return Sample(
            requests: lanes.count, seconds: elapsed, cpuSeconds: used.cpu - cpu.cpu, latencies: lanes,
            peakMegabytes: used.peakMegabytes)
    }
}

/// What one round measured.
struct Sample: Codable {
    var requestsPerSecond: Double
    /// User and system time of the client's process for each request.
    var cpuMicroseconds: Double
    var median: Double
    var p99: Double
    var peakMegabytes: Double

    init(requests: Int, seconds: Double, cpuSeconds: Double, latencies: [UInt32], peakMegabytes: Double) {
        let sorted = latencies.sorted()
        func quantile(_ part: Double) -> Double {
            sorted.isEmpty ? 0 : Double(sorted[min(sorted.count - 1, Int(part * Double(sorted.count)))])
        }
        requestsPerSecond = Double(requests) / seconds
        cpuMicroseconds = cpuSeconds * 1e6 / Double(max(1, requests))
        median = quantile(0.5)
        p99 = quantile(0.99)
        self.peakMegabytes = peakMegabytes
    }
}

/// What the process has used so far.
struct ProcessUsage {
    var cpu: Double
    var peakMegabytes: Double

    static var now: ProcessUsage {
        var usage = rusage()
        #if os(Linux)
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        let unit = 1024.0
        #else
        getrusage(RUSAGE_SELF, &usage)
        let unit = 1024.0 * 1024
        #endif
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return ProcessUsage(
            cpu: seconds(usage.ru_utime) + seconds(usage.ru_stime), peakMegabytes: Double(usage.ru_maxrss) / unit)
    }
}
