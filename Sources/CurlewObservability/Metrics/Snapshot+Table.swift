// SPDX-License-Identifier: MIT

import CurlewCore

extension MetricsRegistry.Snapshot {
    /// Returns a summary for a terminal: one line for each route and method, those with the most calls first, and a line
    /// with the totals. Plain text, which ends with a line feed.
    ///
    ///     route     method  calls  errors    p50    p95    p99  received  reused
    ///     user(id:) GET      1200      3  12 ms  48 ms  90 ms    1.2 MB     98 %
    ///
    /// Percentiles are estimates (`MetricsRegistry.Histogram.quantile(_:)`). Control characters are escaped.
    ///
    /// - `width`: the maximum number of columns, at least 20. Default 100. A route that does not fit is cut; if that is
    ///   not enough, the lines are.
    public func table(width: Int = 100) -> String {
        let width = max(20, width)
        let head = ["route", "method", "calls", "errors", "p50", "p95", "p99", "received", "reused"]
        var lines = rows.map(\.cells)
        if lines.isEmpty { return "no calls yet\n" }
        if lines.count > 1 { lines.append(total.cells) }
        lines.insert(head, at: 0)
        var widths = head.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        let others = widths.dropFirst().reduce(0) { $0 + $1 + 2 }
        widths[0] = max(8, min(widths[0], width - others))
        return lines.map { cells in
            let first = Self.cut(cells[0], to: widths[0])
            var line = first + String(repeating: " ", count: widths[0] - first.count)
            for (cell, width) in zip(cells, widths).dropFirst() {
                let space = String(repeating: " ", count: max(0, width - cell.count))
                // Words are aligned to the left, numbers to the right.
                line += "  " + (cell == cells[1] ? cell + space : space + cell)
            }
            return Self.cut(line, to: width)
        }
        .joined(separator: "\n") + "\n"
    }

    private static func cut(_ text: String, to width: Int) -> String {
        text.count <= width ? text : text.prefix(max(0, width - 1)) + "…"
    }

    private struct Key: Hashable {
        let route: String
        let method: String
    }

    private struct Row {
        var key: Key
        var durations: MetricsRegistry.Histogram?
        var errors: UInt64 = 0
        var received: Int64 = 0
        var opened: Int64 = 0
        var reused: Int64 = 0

        mutating func add(_ histogram: MetricsRegistry.Histogram) {
            if durations == nil { durations = histogram } else { durations?.add(histogram) }
        }

        var count: UInt64 { durations?.count ?? 0 }

        var cells: [String] {
            let times = [0.5, 0.95, 0.99].map { share in
                durations?.quantile(share).map { Duration.seconds($0).brief } ?? "-"
            }
            let all = opened + reused
            return [key.route.isEmpty ? "-" : key.route.printable, key.method, "\(count)", "\(errors)"] + times
                + [Self.size(received), all == 0 ? "-" : "\(reused * 100 / all) %"]
        }

        private static func size(_ bytes: Int64) -> String {
            var (value, unit) = (Double(bytes), 0)
            while value >= 1000, unit < 4 { (value, unit) = (value / 1000, unit + 1) }
            let text = unit == 0 || value >= 100 ? "\(Int(value.rounded()))" : "\((value * 10).rounded() / 10)"
            return "\(text) \(["B", "kB", "MB", "GB", "TB"][unit])"
        }
    }

    private var total: Row {
        rows.reduce(into: Row(key: Key(route: "total", method: ""))) { total, row in
            if let durations = row.durations { total.add(durations) }
            total.errors += row.errors
            total.received += row.received
            total.opened += row.opened
            total.reused += row.reused
        }
    }

    private var rows: [Row] {
        var rows: [Key: Row] = [:]
        func change(_ point: MetricsRegistry.Point, _ change: (inout Row) -> Void) {
            let key = Key(
                route: point.text(of: "curlew.route") ?? "", method: point.text(of: "http.request.method") ?? "-")
            change(&rows[key, default: Row(key: key)])
        }
        for point in metric("curlew.client.call.duration")?.points ?? [] {
            guard let histogram = point.histogram else { continue }
            change(point) { row in
                row.add(histogram)
                if point.text(of: "error.type") != nil { row.errors += histogram.count }
            }
        }
        func sum(_ name: String, _ column: WritableKeyPath<Row, Int64>) {
            for point in metric(name)?.points ?? [] { change(point) { $0[keyPath: column] += point.number ?? 0 } }
        }
        sum("curlew.client.request.received", \.received)
        sum("curlew.client.connections.opened", \.opened)
        sum("curlew.client.connections.reused", \.reused)
        return rows.values.sorted { one, other in
            if one.count != other.count { return one.count > other.count }
            let (left, right) = (one.key, other.key)
            if left.route != right.route { return left.route.utf8.lexicographicallyPrecedes(right.route.utf8) }
            return left.method < right.method
        }
    }
}
