// SPDX-License-Identifier: MIT

/// What happened, counted in tenths of a second.
struct Traffic {
    /// Calls that were made.
    private(set) var calls: [Int] = []
    /// Requests that the server got.
    private(set) var requests: [Int] = []
    /// Calls that ended well, and those that did not.
    private(set) var successes: [Int] = []
    private(set) var failures: [Int] = []

    static let bin: Int64 = 100_000_000

    mutating func called(at time: Int64) { Self.count(&calls, time) }
    mutating func sent(at time: Int64) { Self.count(&requests, time) }
    mutating func good(at time: Int64) { Self.count(&successes, time) }
    mutating func failed(at time: Int64) { Self.count(&failures, time) }

    private static func count(_ bins: inout [Int], _ time: Int64) {
        let index = Int(time / bin)
        while bins.count <= index { bins.append(0) }
        bins[index] += 1
    }

    /// How many in these seconds.
    static func sum(_ bins: [Int], _ seconds: Range<Int>) -> Int {
        guard seconds.lowerBound * 10 < bins.count else { return 0 }
        return bins[(seconds.lowerBound * 10)..<min(seconds.upperBound * 10, bins.count)].reduce(0, +)
    }

    /// Requests for each call in these seconds.
    func amplification(_ seconds: Range<Int>) -> Double {
        Double(Self.sum(requests, seconds)) / Double(max(1, Self.sum(calls, seconds)))
    }

    /// The most requests in any one second of these, as a multiple of the mean of `usual`.
    func peak(_ seconds: Range<Int>, over usual: Range<Int>) -> Double {
        let mean = Double(Self.sum(requests, usual)) / Double(usual.count)
        let bins = requests[min(seconds.lowerBound * 10, requests.count)..<min(seconds.upperBound * 10, requests.count)]
        var (window, most) = (0, 0)
        for index in bins.indices {
            window += bins[index]
            if index - 10 >= bins.startIndex { window -= bins[index - 10] }
            most = max(most, window)
        }
        return Double(most) / mean
    }

    /// The share of calls that ended well, of those that ended in these seconds.
    func success(_ seconds: Range<Int>) -> Double {
        let good = Self.sum(successes, seconds)
        return Double(good) / Double(max(1, good + Self.sum(failures, seconds)))
    }

    /// The seconds from `start` until calls succeed again as a rule (95 of 100 for ten seconds on end); nil if never.
    func recovery(from start: Int, until end: Int) -> Int? {
        (start..<max(start, end - 10)).first { success($0..<$0 + 10) >= 0.95 }.map { $0 - start }
    }
}
