// SPDX-License-Identifier: MIT

import CurlewJSON
import Foundation

/// `CurlewJSONBenchmark` prints how much faster than Foundation's `JSONDecoder` the fast decoder is, with the bars.
///
/// Rounds take turns, so that both sides meet the same disturbances; a ratio is the median over the rounds.
@main
enum Main {
    static func main() throws {
        let isQuick = CommandLine.arguments.contains("--quick")
        let filter = CommandLine.arguments.dropFirst().first { !$0.hasPrefix("--") }
        let rows = Row.all.filter { row in filter.map { row.name.contains($0) } ?? true }
        print("CPU time of one decode, in microseconds; medians of interleaved rounds.\n")
        print("| document | bytes | Foundation | Curlew | ratio | spread | bar | |\n|---|--:|--:|--:|--:|---|--:|---|")
        var missed = 0
        for row in rows {
            let result = try row.measure(rounds: isQuick ? 3 : 11, seconds: isQuick ? 0.01 : 0.06)
            if result.ratio < row.bar { missed += 1 }
            print(
                "| \(row.name) | \(row.data.count) | \(text(result.foundation)) | \(text(result.curlew)) |",
                "**\(text(result.ratio))** | \(text(result.least))–\(text(result.most)) | \(text(row.bar)) |",
                result.ratio < row.bar ? "missed |" : "met |")
        }
        print("\n\(rows.count - missed) of \(rows.count) bars met")
    }

    private static func text(_ number: Double) -> String {
        String(format: number < 100 ? "%.2f" : "%.0f", number)
    }
}

/// One document read as one type by both decoders.
struct Row {
    let name: String
    let data: Data
    let bar: Double
    private let foundation: () throws -> Void
    private let curlew: () throws -> Void

    init<Value: Decodable>(_ name: String, _ type: Value.Type, _ text: String, bar: Double) {
        let data = Data(text.utf8)
        let slow = JSONDecoder()
        let fast = FastJSONDecoder()
        self.init(name, data, bar, { _ = try slow.decode(type, from: data) }, { _ = try fast.decode(type, from: data) })
    }

    init(
        _ name: String, _ data: Data, _ bar: Double, _ foundation: @escaping () throws -> Void,
        _ curlew: @escaping () throws -> Void
    ) {
        self.name = name
        self.data = data
        self.bar = bar
        self.foundation = foundation
        self.curlew = curlew
    }

    struct Result {
        let foundation: Double
        let curlew: Double
        let ratio: Double
        let least: Double
        let most: Double
    }

    func measure(rounds: Int, seconds: Double) throws -> Result {
        let times = (try repetitions(foundation, seconds), try repetitions(curlew, seconds))
        var slow: [Double] = []
        var fast: [Double] = []
        for _ in 0..<rounds {
            slow.append(try time(foundation, times.0))
            fast.append(try time(curlew, times.1))
        }
        let ratios = zip(slow, fast).map { $0 / $1 }.sorted()
        return Result(
            foundation: median(slow), curlew: median(fast), ratio: median(ratios), least: ratios[0],
            most: ratios[ratios.count - 1])
    }

    /// How often one has to run to fill the time; also warms it up.
    private func repetitions(_ work: () throws -> Void, _ seconds: Double) throws -> Int {
        try work()
        var count = 1
        while true {
            let taken = try time(work, count) * Double(count) / 1e6
            if taken > seconds / 4 { return max(1, Int(Double(count) * seconds / taken)) }
            count *= 2
        }
    }

    /// Microseconds of CPU for one.
    private func time(_ work: () throws -> Void, _ count: Int) throws -> Double {
        let start = cpuSeconds()
        for _ in 0..<count { try work() }
        return (cpuSeconds() - start) * 1e6 / Double(count)
    }

    private func cpuSeconds() -> Double {
        var now = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now)
        return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
    }

    private func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}
