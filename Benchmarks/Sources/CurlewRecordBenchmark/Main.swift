// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import Foundation

/// `CurlewRecordBenchmark` prints what streams of records cost, beside decoding the same records alone.
///
/// A mock delivers the body in chunks of 64 KiB. An argument selects rows by a part of their names. Rounds take turns; figures are medians over the rounds.
@main
enum Main {
    static func main() async throws {
        let isQuick = CommandLine.arguments.contains("--quick")
        let body = Body(records: isQuick ? 50_000 : 300_000)
        let part = CommandLine.arguments.dropFirst().first { !$0.hasPrefix("--") }
        let subjects = try Subject.all(body).enumerated()
            .filter { $0.offset == 0 || part.map($0.element.name.contains) ?? true }.map(\.element)
        var times = [[Double]](repeating: [], count: subjects.count)
        for round in 0...(isQuick ? 3 : 9) {
            for (index, subject) in subjects.enumerated() {
                let start = cpuSeconds()
                let count = try await subject.run()
                let time = cpuSeconds() - start
                guard count == subject.count else {
                    throw NetworkError(.badResponse, detail: "\(subject.name): \(count)")
                }
                if round > 0 { times[index].append(time) }
            }
        }
        print("CPU time, of \(body.records) records of \(body.lines.count / body.records) bytes.\n")
        print("| what | ns per element | (least–most) | MB/s | bar | |\n|---|--:|---|--:|---|---|")
        let alone = times[0].median
        var missed = 0
        for (subject, times) in zip(subjects, times) {
            let each = times.map { $0 * 1e9 / Double(subject.count) }
            let speed = Double(subject.bytes) / times.median / 1e6
            let isMet: Bool? =
                switch subject.bar {
                case .none: nil
                case .speed(let least): speed >= least
                case .ratio(let most): times.median <= alone * most
                }
            if isMet == false { missed += 1 }
            let (least, most) = (each.min() ?? 0, each.max() ?? 0)
            print(
                "| \(subject.name) | \(text(each.median)) | \(text(least))–\(text(most)) | \(text(speed)) |",
                "\(subject.bar.text) | \(isMet.map { $0 ? "met" : "missed" } ?? "") |")
        }
        print("\n\(missed == 0 ? "all bars met" : "\(missed) bars missed")")
    }

    private static func text(_ number: Double) -> String {
        String(format: number < 10 ? "%.2f" : "%.0f", number)
    }

    private static func cpuSeconds() -> Double {
        var now = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now)
        return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
    }
}

extension [Double] {
    fileprivate var median: Double {
        let sorted = sorted()
        return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
    }
}
