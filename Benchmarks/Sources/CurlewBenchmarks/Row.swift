// SPDX-License-Identifier: MIT

/// The least, the most, and the middle of some values.
struct Spread: Codable {
    let median: Double
    let least: Double
    let most: Double

    init(_ values: [Double]) {
        let sorted = values.sorted()
        least = sorted.first ?? 0
        most = sorted.last ?? 0
        median = sorted.isEmpty ? 0 : (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }
}

/// One client at one width: what all its rounds gave.
struct Row: Codable {
    let suite: SuiteName
    let title: String
    let door: Door
    let work: String
    let client: String
    let inFlight: Int
    let rounds: Int
    let requestsPerSecond: Spread
    let bytesPerSecond: Double
    let cpuMicrosecondsPerRequest: Spread
    let latencyMedianMicroseconds: Double
    let latencyP99Microseconds: Double
    let peakMegabytes: Double
    let growthMegabytes: Double?
    let failures: [String]

    init(_ contest: Contest, client: String, width: Int, samples: [Sample], failures: [String]) {
        suite = contest.suite
        title = contest.title
        door = contest.door
        // The names of files are those of one run.
        work = "\(contest.work)".split(separator: ":").prefix(2).joined(separator: ":")
        self.client = client
        inFlight = width
        rounds = samples.count
        requestsPerSecond = Spread(samples.map(\.requestsPerSecond))
        bytesPerSecond = requestsPerSecond.median * Double(contest.work.size)
        cpuMicrosecondsPerRequest = Spread(samples.map(\.cpuMicroseconds))
        latencyMedianMicroseconds = Spread(samples.map(\.median)).median
        latencyP99Microseconds = Spread(samples.map(\.p99)).median
        peakMegabytes = Spread(samples.map(\.peakMegabytes)).median
        let growths = samples.compactMap(\.growthMegabytes)
        growthMegabytes = growths.isEmpty ? nil : Spread(growths).median
        self.failures = failures
    }

    var isTransfer: Bool { work.hasPrefix("download") || work.hasPrefix("upload") }
}
