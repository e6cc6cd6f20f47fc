// SPDX-License-Identifier: MIT

import Curlew

/// The table of `--timing`: the phases of each request, with bars on one time line.
struct TimingText {
    let style: Style
    let columns: Int
    let isUnicode: Bool

    func text(_ entries: [ExchangeLog.Entry]) -> String { entries.map(table).joined() }

    private func table(_ entry: ExchangeLog.Entry) -> String {
        let outcome = entry.status.map { style(Style.role(ofStatus: $0), "\($0)") } ?? entry.failure ?? "no response"
        var text = "\(entry.request) \(outcome)\n"
        guard let metrics = entry.metrics else { return text }
        let phases = Self.phases(metrics)
        let sum = phases.reduce(.nanoseconds(1)) { $0 + $1.duration }
        var start = Duration.zero
        for phase in phases {
            let end = start + phase.duration
            text += row(phase.name, phase.duration, bar(from: start / sum, to: end / sum))
            start = end
        }
        if let total = metrics.total { text += row("total", total, "") }
        return text
    }

    /// The phases that a transport measured, in order.
    static func phases(_ metrics: ExchangeMetrics) -> [(name: String, duration: Duration)] {
        let all: [(String, Duration?)] = [
            ("queue", metrics.queue), ("name lookup", metrics.nameLookup), ("connect", metrics.connect),
            ("TLS", metrics.secureConnect), ("send and wait", metrics.firstByte), ("receive", metrics.transfer),
        ]
        return all.compactMap { name, duration in duration.map { (name, $0) } }
    }

    private func row(_ name: String, _ duration: Duration, _ bar: String) -> String {
        let time = duration.brief
        let padding = String(repeating: " ", count: max(1, 14 - name.count) + max(0, 9 - time.count))
        return "  " + style(.name, name) + padding + time + (bar.isEmpty ? "" : "  " + bar) + "\n"
    }

    private func bar(from start: Double, to end: Double) -> String {
        let room = Double(min(60, max(10, columns - 30)))
        let first = Int((start * room).rounded(.down))
        let length = end > start ? max(1, Int((end * room).rounded(.up)) - first) : 0
        let block = isUnicode ? "█" : "#"
        return String(repeating: " ", count: first) + style(.string, String(repeating: block, count: length))
    }
}
