// SPDX-License-Identifier: MIT

import Foundation

/// Rows as aligned columns or as Markdown. Which columns there are depends on the work.
struct Table {
    private let heads: [String]
    private let lines: [[String]]

    init(_ rows: [Row], contest: Contest) {
        let columns = Self.columns(of: contest)
        heads = columns.map(\.head)
        lines = rows.filter { $0.rounds > 0 }.map { row in columns.map { $0.text(row) } }
    }

    private struct Column {
        let head: String
        let text: (Row) -> String
    }

    private static func columns(of contest: Contest) -> [Column] {
        let client = Column(head: "client") { $0.client }
        let width = Column(head: "in flight") { "\($0.inFlight)" }
        let peak = Column(head: "peak MB") { $0.peakMegabytes.wholeOrNothing }
        if contest.work.isTransfer {
            let size = Double(contest.work.size)
            return [
                client,
                Column(head: "MB/s") { ($0.bytesPerSecond / 1e6).whole },
                Column(head: "(least–most)") { range($0.requestsPerSecond, times: size / 1e6) },
                Column(head: "CPU s") { String(format: "%.2f", $0.cpuMicrosecondsPerRequest.median / 1e6) },
                peak,
                Column(head: "grows MB") { $0.growthMegabytes.map(\.whole) ?? "" },
            ]
        }
        let rate = [
            client, width,
            Column(head: "requests/s") { $0.requestsPerSecond.median.whole },
            Column(head: "(least–most)") { range($0.requestsPerSecond, times: 1) },
        ]
        let rest = [
            Column(head: "CPU µs") { $0.cpuMicrosecondsPerRequest.median.tenths },
            Column(head: "p50 µs") { $0.latencyMedianMicroseconds.wholeOrNothing },
            Column(head: "p99 µs") { $0.latencyP99Microseconds.wholeOrNothing },
            peak,
        ]
        switch contest.suite {
        case .bodies: return rate + [Column(head: "MB/s") { ($0.bytesPerSecond / 1e6).whole }] + rest
        case .connections:
            return rate + [Column(head: "per CPU s") { (1e6 / $0.cpuMicrosecondsPerRequest.median).whole }] + rest
        default: return rate + rest
        }
    }

    private static func range(_ spread: Spread, times factor: Double) -> String {
        "\((spread.least * factor).whole)–\((spread.most * factor).whole)"
    }

    func print(markdown: Bool) {
        if markdown {
            Swift.print("| \(heads.joined(separator: " | ")) |\n|\(heads.map { _ in "---" }.joined(separator: "|"))|")
            for line in lines { Swift.print("| \(line.joined(separator: " | ")) |") }
            return
        }
        let widths = heads.indices.map { column in ([heads] + lines).map { $0[column].count }.max() ?? 0 }
        for line in [heads] + lines {
            let cells = zip(line, widths).enumerated().map { index, cell in
                let padding = String(repeating: " ", count: cell.1 - cell.0.count)
                return index == 0 ? cell.0 + padding : padding + cell.0
            }
            Swift.print(cells.joined(separator: "  "))
        }
    }
}

extension Double {
    var whole: String { isFinite ? "\(Int(rounded()))" : "" }
    var tenths: String { String(format: "%.1f", self) }
    /// Nil if the client does not report it.
    var wholeOrNothing: String { self == 0 ? "" : whole }
}
