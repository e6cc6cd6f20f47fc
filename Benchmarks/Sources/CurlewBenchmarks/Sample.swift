// SPDX-License-Identifier: MIT

import Foundation

/// What one client measured in one round. Every client's program prints one as JSON.
struct Sample: Codable {
    var requestsPerSecond: Double
    /// User and system time of the client's process for each request.
    var cpuMicroseconds: Double
    /// Microseconds from the call to its result; zero if the client does not report them.
    var median: Double
    var p99: Double
    /// The most resident memory.
    var peakMegabytes: Double
    /// The most resident memory beyond what there was after the warm-up.
    var growthMegabytes: Double?

    init(requests: Int, seconds: Double, cpuSeconds: Double, latencies: [UInt32] = [], memory: Memory) {
        let sorted = latencies.sorted()
        func quantile(_ part: Double) -> Double {
            sorted.isEmpty ? 0 : Double(sorted[min(sorted.count - 1, Int(part * Double(sorted.count)))])
        }
        requestsPerSecond = Double(requests) / seconds
        cpuMicroseconds = cpuSeconds * 1e6 / Double(max(1, requests))
        median = quantile(0.5)
        p99 = quantile(0.99)
        peakMegabytes = memory.peak
        growthMegabytes = memory.before.map { max(0, memory.peak - $0) }
    }

    /// Megabytes.
    struct Memory {
        var before: Double?
        var peak: Double
    }
}

/// What processes have used so far.
struct ProcessUsage {
    /// Seconds, user and system.
    var cpu: Double
    var residentMegabytes: Double
    var peakMegabytes: Double

    static var now: ProcessUsage {
        let used = usage(ofChildren: false)
        // The system's own peak counts what the process was before it became this program; its list of facts does not.
        let facts = memory(of: "self")
        return ProcessUsage(
            cpu: used.cpu, residentMegabytes: facts?.resident ?? used.peak, peakMegabytes: facts?.peak ?? used.peak)
    }

    /// CPU seconds of the programs that this one started and that have ended.
    static var children: Double { usage(ofChildren: true).cpu }

    /// Resident memory of a process in megabytes, if the system reports it.
    static func memory(of process: String) -> (resident: Double, peak: Double)? {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8) else { return nil }
        func value(_ name: String) -> Double? {
            let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
            return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Double($0) }
        }
        guard let resident = value("VmRSS:"), let peak = value("VmHWM:") else { return nil }
        return (resident / 1024, peak / 1024)
    }

    private static func usage(ofChildren: Bool) -> (cpu: Double, peak: Double) {
        var usage = rusage()
        #if os(Linux)
        let who: Int32 = ofChildren ? RUSAGE_CHILDREN.rawValue : RUSAGE_SELF.rawValue
        getrusage(__rusage_who_t(who), &usage)
        let unit = 1024.0
        #else
        getrusage(ofChildren ? RUSAGE_CHILDREN : RUSAGE_SELF, &usage)
        let unit = 1024.0 * 1024
        #endif
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return (seconds(usage.ru_utime) + seconds(usage.ru_stime), Double(usage.ru_maxrss) / unit)
    }
}
