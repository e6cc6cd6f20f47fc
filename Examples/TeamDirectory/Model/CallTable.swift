// SPDX-License-Identifier: MIT

import Curlew

/// The cost of each call, as lines of a table: one for each attempt, if there were several. An observer receives every
/// call of its client, and other clients do not pay for it.
struct CallTable: RequestObserver {
    private let lines: AsyncStream<Line>
    private let writer: AsyncStream<Line>.Continuation

    /// A table that keeps the last thousand lines.
    init() {
        (lines, writer) = AsyncStream.makeStream(of: Line.self, bufferingPolicy: .bufferingNewest(1000))
    }

    /// Called on whatever thread the call has come to; handing a value over is all that happens here.
    func record(_ event: ExchangeEvent, in context: ExchangeContext) {
        switch event {
        case .answered(let response):
            writer.yield(Line(context.routeName, "\(response.status.code)", response.metrics))
        case .attemptFailed(let error):
            writer.yield(Line(context.routeName, error.label, ExchangeMetrics()))
        default: break
        }
    }

    /// Ends the table and gives it as text, a line for each try in the order in which they ended.
    func finish() async -> [String] {
        writer.finish()
        let heading = ["call", "status", "queue", "connect", "wait", "body", "rest", "total", "line"]
        var rows = [heading]
        for await line in lines { rows.append(line.cells) }
        let widths = heading.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { cells in
            zip(cells, widths).enumerated().map { column, cell in
                let space = String(repeating: " ", count: cell.1 - cell.0.count)
                // Words are left-aligned, numbers right.
                return column == 0 || column == heading.count - 1 ? cell.0 + space : space + cell.0
            }.joined(separator: "  ").trimmedEnd
        }
    }

    /// What the columns are.
    static let about =
        "Milliseconds: in a queue, until the connection was open, until the first byte of the response, until its last, "
        + "and other work of the client. They add up to the total; a failed attempt was not measured."

    struct Line: Sendable {
        let cells: [String]

        init(_ name: String, _ status: String, _ metrics: ExchangeMetrics) {
            let connect = [metrics.nameLookup, metrics.connect, metrics.secureConnect].compactMap(\.self)
            let phases = [
                metrics.queue, connect.isEmpty ? nil : connect.reduce(.zero, +), metrics.firstByte, metrics.transfer,
            ].map { $0.map(\.tenths) }
            let known = phases.compactMap(\.self).reduce(0, +)
            // Each phase is rounded, and so their sum may be a little more than the whole.
            let total = metrics.total.map { max($0.tenths, known) }
            let times = phases + [total.map { $0 - known }, total]
            // A table has its widths, and a line 80 columns.
            let short = name.count > 20 ? name.prefix(19) + "…" : name[...]
            cells =
                [String(short), status] + times.map { $0.map(Duration.text) ?? "-" }
                + [metrics.reusedConnection.map { $0 ? "used" : "new" } ?? "-"]
        }
    }
}

extension Duration {
    /// Tenths of a millisecond.
    fileprivate var tenths: Int { Int((self / .microseconds(100)).rounded()) }

    fileprivate static func text(tenths: Int) -> String { "\(tenths / 10).\(tenths % 10)" }
}

extension String {
    fileprivate var trimmedEnd: String {
        String(reversed().drop { $0 == " " }.reversed())
    }
}
